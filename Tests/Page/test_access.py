"""The page for who reads it with a keyboard, a screen reader or large letters: axe-core's rules, and every view by TAB."""

import pathlib
import unittest

from browser import TAB
from page import PageTest

SCRIPT = pathlib.Path(__file__).parents[2] / ".build/page"
SIZES = {"desk": (1280, 900, 1, False), "phone": (360, 780, 2, True)}

# Everything that axe finds wrong, a line each: the rule and the element.
FINDINGS = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ['violations'] }).then((found) => done(
  found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${rule.help}: ${node.html.slice(0, 160)}`))),
  (error) => done(['axe failed: ' + error]));
"""

# The elements that TAB reaches.
NOW = """
const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, iframe, [tabindex]')]
  .filter((node) => node.tabIndex >= 0 && !node.disabled && node.checkVisibility({ visibilityProperty: true }));
const inside = (node) => node.type === 'radio' && !node.checked;
const now = all.filter((node) => !inside(node));
"""
REACHABLE = NOW + "window.walked = now; return now.map((node) => node.outerHTML.slice(0, 100));"
# A live page gets and loses rows; the order of a walk tells something only while the elements stay.
STAYED = NOW + "return now.length === walked.length && now.every((node, at) => node === walked[at]);"

# The focus: its number, whether it can be seen, and whether it is in the window and nothing lies over it.
FOCUS = """
const node = document.activeElement, look = getComputedStyle(node), box = node.getClientRects()[0];
if (!window.walked.includes(node)) return null;
const x = Math.min(innerWidth - 1, Math.max(0, box.left + Math.min(box.width / 2, 8)));
const y = Math.min(innerHeight - 1, Math.max(0, box.top + box.height / 2));
const top = document.elementFromPoint(x, y);
return [window.walked.indexOf(node), look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) >= 2,
  box.bottom > 0 && box.top < innerHeight, !!top && (node.contains(top) || top.contains(node))];
"""


class Access(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scene.trouble()
        waiting = cls.scene.api("GET", "/v1/jobs?state=retrying")["jobs"][0]["id"]
        dead = cls.scene.api("GET", "/v1/jobs?state=dead")["jobs"][0]["id"]
        cls.views = {
            "overview": ("#/", "Routes"), "jobs": ("#/jobs", "Failed by"), "none": ("#/jobs?label=no=such", "no such jobs"),
            "job-waiting": (f"#/job/{waiting}", "What happened"), "job-dead": (f"#/job/{dead}", "What happened"),
            "route": ("#/route/billing", "Upstreams"), "route-kept": ("#/route/stock", "Upstreams")}
        [cls.axe] = SCRIPT.glob("lib/python*/site-packages/axe_playwright_python/axe.min.js")

    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: self.browser.size(1280, 900))
        self.addCleanup(lambda: self.browser.media(prefers_color_scheme="light"))
        self.browser.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")

    def findings(self):
        if not self.browser.script("return typeof axe === 'object'"):
            # A script of the page itself would be refused by its policy.
            self.browser.cdp("Runtime.evaluate", expression=self.axe.read_text())
        return self.browser.script_later(FINDINGS)

    def each(self):
        for name, (path, word) in self.views.items():
            self.view(path, word)
            yield name

    def test_axe_finds_nothing_in_any_view_theme_and_size(self):
        looks = 0
        for size, metrics in SIZES.items():
            self.browser.size(*metrics)
            for name in self.each():
                for scheme in "light", "dark":
                    self.browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                    with self.subTest(view=name, size=size, scheme=scheme):
                        self.assertEqual(self.findings(), [])
                    looks += 1
        self.assertEqual(looks, 28)

    def test_axe_finds_nothing_in_a_dialog(self):
        self.view("#/jobs?state=dead", "Failed by")
        self.press("Retry…")
        self.browser.wait_text("jobs match", within="dialog")
        for scheme in "light", "dark":
            self.browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            self.assertEqual(self.findings(), [], scheme)
        self.press("Cancel", "dialog form .buttons")

    def test_axe_finds_nothing_in_the_strip_of_runs_which_fits_a_phone(self):
        order = {"action": "retry", "filter": {"route": "stock"}, "rate": "1/h", "reason": "a" * 100}
        run = self.scene.api("POST", "/v1/runs", order)["number"]
        self.addCleanup(lambda: self.scene.api("POST", f"/v1/runs/{run}/stop"))
        for metrics in SIZES.values():
            self.browser.size(*metrics)
            self.view("#/", "Routes")
            self.browser.wait_text(f"Run {run}: ", within="#runs")
            for scheme in "light", "dark":
                self.browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                self.assertEqual(self.findings(), [], (metrics, scheme))
            self.assertEqual(self.browser.script("return document.documentElement.scrollWidth - innerWidth"), 0)

    def test_axe_finds_a_label_that_was_taken_away(self):
        self.view("#/jobs", "Failed by")
        self.assertEqual(self.findings(), [])
        self.browser.script("document.querySelector('form.filters label span').remove()")
        self.assertTrue([line for line in self.findings() if line.startswith(("select-name", "label"))], "the control is found")
        self.browser.open(self.browser.url)
        self.browser.script("location.reload()")
        self.browser.wait_text("Failed by")

    def test_every_view_is_walked_by_the_keyboard_in_its_order(self):
        for size, metrics in SIZES.items():
            self.browser.size(*metrics)
            for name in self.each():
                with self.subTest(view=name, size=size):
                    self.walk()

    def walk(self):
        for _ in range(5):
            elements, order = self.walk_once()
            if self.browser.script(STAYED):
                break
        else:
            self.fail("the elements changed during each of five walks")
        self.assertEqual(order, list(range(len(elements))), [elements[at] for at in range(len(elements)) if at not in order][:5])

    def walk_once(self):
        # The focus begins before the first element, as in a page that was just opened.
        self.browser.script(
            "document.querySelectorAll('details').forEach((one) => { one.open = true; });"
            "scrollTo(0, 0); document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
        elements = self.browser.script(REACHABLE)
        self.assertGreater(len(elements), 5)
        self.browser.keys(TAB)
        order, found = [], self.browser.script(FOCUS)
        while found and len(order) <= len(elements):
            at, is_outlined, is_inside, is_on_top = found
            # A link that leads over all others is seen once it has the focus.
            self.assertTrue(is_outlined, f"the focus cannot be seen at {elements[at]}")
            self.assertTrue(is_inside, f"the focus is out of the window at {elements[at]}")
            self.assertTrue(is_on_top, f"something lies over the focus at {elements[at]}")
            order.append(at)
            self.browser.keys(TAB)
            found = self.browser.script(FOCUS)
            if found and found[0] == order[0]:
                break
        return elements, order

    def test_a_walk_is_begun_anew_when_a_row_came_meanwhile(self):
        self.view("#/jobs", "Failed by")
        # Beside what the page itself makes anew.
        self.browser.script(
            "const link = document.createElement('a'); link.href = '#/'; link.id = link.textContent = 'came';"
            "addEventListener('keyup', () => document.querySelector('main').before(link), { once: true })")
        self.walk()
        self.assertTrue(self.browser.script(
            "const link = document.querySelector('#came'); link?.remove(); return !!link"), "the row came")

    def test_who_walks_meets_an_element_without_a_mark_of_the_focus(self):
        self.view("#/jobs", "Failed by")
        self.browser.script("document.querySelector('form.filters select').style.outline = 'none'")
        with self.assertRaisesRegex(AssertionError, "cannot be seen"):
            self.walk()


if __name__ == "__main__":
    unittest.main()
