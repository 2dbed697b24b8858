"""Every view in every size, theme and state: nothing hangs out, is cut off or overlaps, all can be read, and trouble is seen first."""

import unittest

from browser import Browser
from page import PageTest
from scene import Port
from test_looks import CONTRAST, OVERFLOW

from caller import ask
from relay import Relay, eventually, route
from upstream import Upstream, answer, refused_port

# 320 is what 400 % leaves of 1280.
SIZES = {"desk": (1280, 900), "small": (800, 600), "phone": (360, 780), "400 %": (320, 640)}

# Pairs of texts of which one lies over the other, and texts of which a part is not shown and nowhere else to be read.
CLASHES = """
const boxes = [];
const isClipped = (node) => node && (getComputedStyle(node).clip !== 'auto' || getComputedStyle(node).clipPath !== 'none' || isClipped(node.parentElement));
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode.data.trim(), node = walker.currentNode.parentElement;
  if (!text || !node.checkVisibility({ visibilityProperty: true }) || node.closest('noscript, svg, option') || isClipped(node)) continue;
  const range = document.createRange();
  range.selectNodeContents(walker.currentNode);
  // A part that does not fit is not seen: it lies over nothing, and is looked for below.
  const edge = node.closest('td, th')?.getBoundingClientRect().right ?? Infinity;
  for (const { left, right, top, bottom, width } of range.getClientRects()) {
    if (width > 1 && left < edge && top < innerHeight * 3) boxes.push([{ left, right: Math.min(right, edge), top, bottom }, text, node]);
  }
}
const over = [];
for (let one = 0; one < boxes.length; one += 1) {
  for (let other = one + 1; other < boxes.length; other += 1) {
    const [a, b] = [boxes[one][0], boxes[other][0]];
    const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    // Lines of one text may touch; what scrolls in a box of its own is not on top of what stands beside it.
    if (width > 2 && height > 4 && boxes[one][2] !== boxes[other][2] && boxes[one][2].closest('.scroll') === boxes[other][2].closest('.scroll')) {
      over.push(boxes[one][1].slice(0, 40) + ' | ' + boxes[other][1].slice(0, 40));
    }
  }
}
const cut = [...document.querySelectorAll('body *')].filter((node) => {
  const look = getComputedStyle(node);
  return look.overflowX !== 'visible' && look.overflowX !== 'auto' && look.overflowX !== 'scroll' && !node.closest('svg') && !isClipped(node)
    && node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0 && !node.title;
}).map((node) => node.tagName + '.' + node.className + ' ' + node.textContent.slice(0, 40));
return [boxes.length, over.slice(0, 5), cut.slice(0, 5)];
"""

# How far down the first trouble's sentence ends, and the height of the screen.
FIRST = """
const first = document.querySelector('.cards article h3');
return first && [first.getBoundingClientRect().bottom, innerHeight];
"""


class State:
    """A daemon with that many routes; where it is in trouble a fifth of them have a host that refuses, and one gets 503."""

    def __init__(self, routes, is_troubled, jobs=0):
        self.upstream = Upstream()
        self.upstream.on("/x", answer(200))
        self.upstream.on("/bad/x", answer(503))
        gone = f"http://127.0.0.1:{refused_port()}/"
        names = [f"partner-{number:04}" for number in range(routes)]
        wrong = set(names[::5]) if is_troubled else set()
        chosen = {name: route(gone if name in wrong else self.upstream.url) for name in names}
        if is_troubled:
            chosen[names[-1]] = route(self.upstream.url + "bad/")
        self.relay = Relay(chosen).start()
        self.names = names
        self.job = None
        for name in [*sorted(wrong)[:60], names[-1], names[1]]:
            self.relay.ask("GET", f"/r/{name}/x")
        for _ in range(jobs):
            self.job = self.relay.ask("POST", f"/r/{names[1]}/x", [("Prefer", "respond-async")], b"b")["Waystation-Job"]
        if jobs:
            eventually(lambda: "finished_at" in ask(self.relay.control, "GET", f"/v1/jobs/{self.job}").json(), "the jobs are done")
        self.port = Port(self.relay.control)

    def close(self):
        self.port.close()
        self.relay.clean()
        self.upstream.close()


class Matrix(unittest.TestCase):
    longMessage = True

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    view = PageTest.view

    def look(self, name, is_troubled, views):
        for view, (path, word) in views.items():
            for size, (width, height) in SIZES.items():
                self.browser.size(width, height, 2 if width < 400 else 1, width < 400)
                self.view(path, word)
                for scheme in "light", "dark":
                    self.browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                    with self.subTest(state=name, view=view, size=size, scheme=scheme):
                        inside, whole, out = self.browser.script(OVERFLOW)
                        self.assertLessEqual(inside, whole, out)
                        self.assertEqual(out, [])
                        seen, over, cut = self.browser.script(CLASHES)
                        self.assertGreater(seen, 10)
                        self.assertEqual(over, [], "one text lies over another")
                        self.assertEqual(cut, [], "a text is cut off")
                        self.assertEqual(self.browser.script(CONTRAST)[1], [])
                        if view == "overview":
                            first = self.browser.script(FIRST)
                            self.assertEqual(first is not None, is_troubled)
                            if first:
                                self.assertLessEqual(first[0], first[1], "the first trouble is on the first screen")

    def state(self, name, routes, is_troubled, jobs=0):
        state = State(routes, is_troubled, jobs)
        self.addCleanup(state.close)
        self.browser.open(state.port.link)
        views = {"overview": ("#/", "Routes"), "route": (f"#/route/{state.names[-1]}", "Upstreams"),
                 "jobs": ("#/jobs", "Failed by" if state.job else "no such jobs")}
        if state.job:
            views["job"] = (f"#/job/{state.job}", "What happened")
        self.look(name, is_troubled, views)

    def test_three_routes_that_are_well(self):
        self.state("3 routes", 3, False, 3)

    def test_three_routes_and_no_job(self):
        self.state("3 routes, empty", 3, False)

    def test_thirty_routes_of_which_a_fifth_fails(self):
        self.state("30 routes in trouble", 30, True, 3)

    def test_three_hundred_routes_of_which_a_fifth_fails(self):
        self.state("300 routes in trouble", 300, True)

    def test_three_thousand_routes_that_are_well(self):
        self.state("3000 routes", 3000, False)

    def test_faults_that_are_planted_are_found(self):
        state = State(3, False)
        self.addCleanup(state.close)
        self.browser.open(state.port.link)
        self.browser.size(1280, 900)
        self.view("#/", "Routes")
        self.assertEqual(self.browser.script(CLASHES)[1:], [[], []])
        for planted, at in (("tbody tr { transform: translateY(-24px) }", 1),
                            ("tbody th { overflow: hidden; max-width: 20px; display: block; white-space: nowrap }", 2)):
            # A style of an element would go when the page is drawn anew.
            self.browser.script(
                "const sheet = new CSSStyleSheet(); sheet.replaceSync(arguments[0]); document.adoptedStyleSheets = [sheet]", planted)
            self.assertTrue(self.browser.script(CLASHES)[at], planted)
        self.browser.script("document.adoptedStyleSheets[0].replaceSync('main { width: 2000px }')")
        inside, whole, out = self.browser.script(OVERFLOW)
        self.assertGreater(inside, whole)
        self.assertTrue(out)


if __name__ == "__main__":
    unittest.main()
