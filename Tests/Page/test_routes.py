"""Three thousand routes: those that are seen are drawn, and each can be found, sorted and reached by the keyboard."""

import statistics
import unittest

from browser import END, HOME, PAGE_DOWN, TAB
from page import PageTest
from scene import route
from tasks import Trace

ROUTES = 3_000
DRAWN = "return [...document.querySelectorAll('.routes tbody tr:not(.gap)')].map((row) => [row.cells[0].textContent, Number(row.getAttribute('aria-rowindex'))])"
# The rows that can be seen, and whether anything else is where rows belong.
SEEN = """
const body = document.querySelector('.routes tbody').getBoundingClientRect();
const rows = [...document.querySelectorAll('.routes tbody tr')].filter((row) => {
  const box = row.getBoundingClientRect(); return box.bottom > Math.max(0, body.top) + 2 && box.top < Math.min(innerHeight, body.bottom) - 2; });
return [rows.filter((row) => row.matches('.gap')).length, rows.map((row) => row.cells[0].textContent)];
"""
# From end to end, or as many steps of a part of a window; gives the most rows that were in the document, and the names of all.
SCROLL = """
const [part, steps, done] = arguments; let most = 0, step = 0;
const names = new Set();
scrollTo(0, 0);
function go() {
  const rows = [...document.querySelectorAll('.routes tbody tr:not(.gap)')];
  most = Math.max(most, rows.length);
  for (const row of rows) {
    const {top, bottom} = row.getBoundingClientRect();
    if (bottom > 0 && top < innerHeight) names.add(row.cells[0].textContent);
  }
  const before = scrollY;
  scrollBy({top: innerHeight * part, behavior: 'instant'});
  if (scrollY === before || ++step === steps) done([most, [...names]]); else requestAnimationFrame(() => requestAnimationFrame(go));
}
requestAnimationFrame(() => requestAnimationFrame(go));
"""


class ManyRoutes(PageTest):
    @classmethod
    def prepare(cls):
        scene = cls.scene
        cls.names = [f"svc-{number:04}" for number in range(ROUTES)]
        scene.routes = {name: route(scene.upstream.url) for name in cls.names} | {"down": scene.routes["down"]}
        scene.relay.write(scene.routes)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.scene.relay.caller() as caller:
            for name in cls.names:
                assert caller.ask("GET", f"/r/{name}/good").status == 200
        cls.scene.keep("down", "x", 3)
        cls.browser.wait(lambda: cls.browser.script(DRAWN)[0][0] == "down", "what is in trouble stands first")
        cls.scene.keep("svc-2000", "good", 2, ("Waystation-Delay", "2h"))

    def setUp(self):
        super().setUp()
        self.browser.size(1280, 900)
        self.view("#/", "Routes", "3 001 routes")
        self.browser.wait(lambda: 0 < len(self.drawn()) <= 200, "rows are drawn")
        self.browser.script("scrollTo(0, 0)")

    def drawn(self):
        return self.browser.script(DRAWN)

    def settled(self):
        self.browser.script_later("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def seen(self):
        self.settled()
        gaps, names = self.browser.script(SEEN)
        self.assertEqual(gaps, 0, "nothing that is seen is left out")
        return names

    def processor(self):
        """Seconds that the renderer's main thread has worked."""
        return {one["name"]: one["value"] for one in self.browser.cdp("Performance.getMetrics")["metrics"]}["TaskDuration"]

    def cost(self):
        """Milliseconds of the renderer's processor for a document of all routes, from its arrival to the next frame."""
        self.browser.cdp("Performance.enable", timeDomain="threadTicks")
        self.browser.wait(lambda: self.browser.script("return !refresh.isReading && !refresh.timer"), "the page is at rest", 120)
        before = self.processor()
        self.browser.script_later(
            "const done = arguments[0], draw = refresh.draw; roster.next = null;"
            "refresh.draw = function (...given) { draw.apply(this, given); refresh.draw = draw;"
            " requestAnimationFrame(() => setTimeout(done)); }; refresh.soon(true)")
        return 1000 * (self.processor() - before)

    def longest_task(self, part, steps=None):
        """Milliseconds of the longest task while it is scrolled from end to end, or by as many steps, by the thread's own clock.

        By that on the wall a machine that does other things makes all tasks long.
        """
        self.browser.script("scrollTo(0, 0)")
        with Trace(self.browser) as trace:
            self.browser.script_later(SCROLL, part, steps)
        tasks = trace.tasks()
        self.assertGreater(len(tasks), 50, "the page's tasks are seen")
        return max(tasks)

    def test_few_rows_are_drawn_quickly_and_every_route_is_seen_by_scrolling(self):
        costs = [self.cost() for _ in range(5)]
        tasks = [self.longest_task(4) for _ in range(5)]
        print(f"a document of {ROUTES} routes: {costs} ms; longest tasks while scrolling {tasks} ms")
        self.assertLessEqual(statistics.median(costs), 200)
        self.assertLessEqual(statistics.median(tasks), 50)
        self.assertEqual(self.browser.script("return document.querySelector('.routes').getAttribute('aria-rowcount')"), str(ROUTES + 2))
        most, names = self.browser.script_later(SCROLL, 0.9, None)
        self.assertLessEqual(most, 200)
        self.assertEqual({*names}, {*self.names, "down"})
        # The same table with every row in the document is what this is not.
        self.browser.script("window.few = tall.range; tall.range = (count) => [0, count]; scrollTo(0, 0)")
        self.addCleanup(lambda: self.browser.script("tall.range = few; refresh.soon(true)"))
        every, task = self.cost(), self.longest_task(4, 5)
        print(f"with all rows: {every} ms, longest task {task} ms")
        self.assertGreater(len(self.drawn()), 200)
        self.assertGreater(every, 200)
        self.assertGreater(task, 50)

    def test_every_row_tells_its_place_and_the_keys_of_the_browser_move_the_window(self):
        browser = self.browser
        for keys, place in ((END,), 1.0), ((HOME,), 0.0), ((PAGE_DOWN, PAGE_DOWN, PAGE_DOWN), None):
            browser.script("document.activeElement.blur()")
            browser.keys(*keys)
            end = "scrollY / (document.documentElement.scrollHeight - innerHeight)"
            browser.wait(lambda: place is None and browser.script("return scrollY > 1500") or
                         place is not None and abs(browser.script(f"return {end}") - place) < 0.01, f"{place} is reached")
            self.seen()
            rows = self.drawn()
            self.assertLessEqual(len(rows), 200)
            indices = [index for _, index in rows]
            self.assertEqual(indices, list(range(indices[0], indices[0] + len(rows))))

    def test_a_route_with_trouble_stands_first_and_any_column_sorts_and_is_in_the_url(self):
        browser = self.browser
        browser.wait(lambda: self.drawn()[0][0] == "down", "trouble stands first")
        browser.wait(lambda: browser.script("return document.querySelectorAll('.routes tbody svg').length > 10"), "the hours are read")
        self.picture("routes", whole=False)

        def sort(title):
            browser.click(browser.button(title, ".routes thead"))
            return browser.script("return [location.hash, document.querySelector('[aria-sort]:not([aria-sort=none])')?.getAttribute('aria-sort') ?? null, document.activeElement.textContent]")

        self.assertEqual(sort("Route"), ["#/?sort=route", "ascending", "Route"])
        self.assertEqual([name for name, _ in self.drawn()][:3], ["down", "svc-0000", "svc-0001"])
        self.assertEqual(sort("Route"), ["#/?sort=-route", "descending", "Route"])
        self.assertEqual([name for name, _ in self.drawn()][:2], ["svc-2999", "svc-2998"])
        self.assertEqual(sort("Route"), ["#/", None, "Route"])
        self.assertEqual(sort("Queued"), ["#/?sort=-queued", "descending", "Queued"])
        self.assertEqual([name for name, _ in self.drawn()][:2], ["down", "svc-2000"])
        for title in browser.script("return [...document.querySelectorAll('.routes thead button')].map((one) => one.textContent)"):
            self.assertIn("sort=", sort(title)[0], title)
        # Another browser with the link sees the same.
        browser.script("location.hash = '#/?sort=-queued&name=svc-2'")
        browser.wait(lambda: [name for name, _ in self.drawn()][:2] == ["svc-2000", "svc-2001"], "the link says how it is sorted")
        browser.wait_text("1 000 of 3 001 routes")
        self.assertEqual(browser.script("return document.querySelector('input[name=name]').value"), "svc-2")

    def test_a_name_is_filtered_as_it_is_typed(self):
        field = self.browser.find("input[name=name]")
        self.browser.type(field, "svc-299")
        self.browser.wait(lambda: [name for name, _ in self.drawn()] == self.names[2990:], "ten have that name")
        self.assertIn("name=svc-299", self.browser.url)
        self.assertEqual(self.browser.script("return document.activeElement.name"), "name")

    def test_a_refresh_leaves_the_window_and_the_keyboard_where_they_are_and_reads_what_has_changed(self):
        browser = self.browser
        browser.script("scrollTo(0, 30000)")
        names = self.seen()
        browser.script("[...document.querySelectorAll('.routes tbody th a')].find((one) => one.textContent === arguments[0]).focus({preventScroll: true})", names[5])
        browser.script(
            "window.plain = fetch; window.answers = []; window.fetch = async (path, given) => { const answer = await plain(path, given);"
            " if (path.startsWith('/v1/table')) answer.clone().json().then((one) => answers.push([one.whole, one.routes.map(({name}) => name)])); return answer; }")
        self.addCleanup(lambda: browser.script("window.fetch = plain"))
        self.scene.relay.ask("GET", "/r/svc-0007/good")
        browser.script("refresh.soon(true)")
        browser.wait(lambda: browser.script("return answers.some(([, names]) => names.includes('svc-0007'))"), "the change is told")
        for whole, changed in browser.script("return answers"):
            self.assertFalse(whole)
            self.assertLess(len(changed), 5)
        place = browser.script("return scrollY")
        self.settled()
        self.assertEqual(self.seen(), names)
        self.assertEqual(browser.script("return scrollY"), place)
        self.assertEqual(browser.script("return document.activeElement.textContent"), names[5])
        # One trouble more makes what stands above the table higher.
        browser.script(
            "window.show = showTroubles; window.showTroubles = (found) => [show(found), [1, 2, 3, 4, 5].map((line) => h('p#more' + line, 'More is wrong.'))];"
            "refresh.draw(refresh.view, refresh.kept)")
        self.addCleanup(lambda: browser.script("window.showTroubles = show"))
        self.assertGreater(browser.script("return scrollY"), place + 50)
        self.assertEqual(self.seen(), names)
        self.assertEqual(browser.script("return document.activeElement.textContent"), names[5])

    def test_the_keyboard_goes_on_from_a_row_that_was_scrolled_out_of_sight(self):
        browser = self.browser
        # The test before has left the window somewhere.
        browser.script("scrollTo(0, 0)")
        self.settled()
        first = self.drawn()[3][0]
        browser.script("document.querySelectorAll('.routes tbody tr:not(.gap) th a')[3].focus()")
        browser.script("scrollTo(0, 40000)")
        self.assertNotIn(first, self.seen())
        self.assertEqual(browser.script("return document.activeElement.textContent"), first, "the focus is not lost")
        self.assertLessEqual(len(self.drawn()), 200)
        rows = self.drawn()
        place = next(index for name, index in rows if name == first)
        browser.keys(TAB)
        browser.wait(lambda: browser.script("return scrollY") < 10000, "the window follows the keyboard")
        index = browser.script("return Number(document.activeElement.closest('tr').getAttribute('aria-rowindex'))")
        self.assertIn(index, (place, place + 1))
        browser.keys(*[TAB] * 60)
        self.settled()
        now = browser.script("return Number(document.activeElement.closest('tr').getAttribute('aria-rowindex'))")
        self.assertGreater(now, 60, "the keyboard reaches rows that were not drawn")

    def test_cards_of_a_phone_are_few_too(self):
        self.browser.size(360, 780, 2, True)
        self.browser.script("dispatchEvent(new Event('resize'))")
        self.settled()
        self.settled()
        self.browser.script("scrollTo(0, 50000)")
        names = self.seen()
        self.assertGreater(len(names), 4)
        self.assertLessEqual(len(self.drawn()), 200)
        self.assertEqual(names, sorted(names))
        self.picture("routes-360", whole=False)
        self.assertLessEqual(self.browser.script("return document.documentElement.scrollWidth"), 360)


if __name__ == "__main__":
    unittest.main()
