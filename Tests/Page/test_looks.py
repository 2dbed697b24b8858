"""The page can be read: in light and dark, on a phone, at 400 %, without motion, by who does not see it."""

import unittest

from page import PageTest

# Every text that is seen, with its contrast to what is behind it (WCAG 2.2, 1.4.3).
CONTRAST = """
function parts(text) {
  const numbers = text.match(/[\\d.]+(?:e-?\\d+)?/g).map(Number);
  return text.startsWith('color(') ? [numbers[0] * 255, numbers[1] * 255, numbers[2] * 255, numbers[3] ?? 1]
    : [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1];
}
function over(top, below) { return [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1); }
function behind(node) {
  if (!node) return [255, 255, 255, 1];
  const own = parts(getComputedStyle(node).backgroundColor);
  return own[3] === 1 ? own : over(own, behind(node.parentElement));
}
function light([r, g, b]) {
  const linear = [r, g, b].map((value) => { const part = value / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}
const low = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let seen = 0;
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !node.getClientRects().length || node.closest('.unseen, .skip, script, noscript, option')) continue;
  if (node.disabled) continue;
  seen += 1;
  const ground = behind(node), ink = over(parts(getComputedStyle(node).color), ground);
  const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${node.tagName}.${node.className}: ${walker.currentNode.data.trim().slice(0, 40)}`);
}
return [seen, low];
"""

# Elements that stand out of the window, but for those with a way of their own to be moved.
# With all that can be unfolded: what is folded up has the layout of an earlier size.
OVERFLOW = """
const folded = [...document.querySelectorAll('details:not([open])')];
for (const one of folded) one.open = true;
const width = document.documentElement.clientWidth;
const out = [...document.querySelectorAll('body *')].filter((node) => {
  const box = node.getBoundingClientRect();
  return box.width && box.right > width + 1 && !node.closest('.scroll, .unseen, .skip, svg');
}).map((node) => node.tagName + '.' + node.className + ' ' + node.textContent.slice(0, 40));
const inside = document.documentElement.scrollWidth;
for (const one of folded) one.open = false;
return [inside, width, out.slice(0, 5)];
"""

NAMES = """
const nameless = [...document.querySelectorAll('button, a[href], input, select')].filter((node) =>
  !(node.textContent.trim() || node.getAttribute('aria-label') || (node.labels && node.labels.length)));
const heads = [...document.querySelectorAll('th')].filter((node) => !['col', 'row'].includes(node.scope));
const drawn = [...document.querySelectorAll('svg')].filter((node) => !node.getAttribute('aria-label') && node.getAttribute('aria-hidden') !== 'true');
const tables = [...document.querySelectorAll('table')].filter((node) => !node.caption);
return [nameless, heads, drawn, tables].map((list) => list.map((node) => node.outerHTML.slice(0, 120)));
"""


class Looks(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scene.trouble()
        jobs = cls.scene.api("GET", "/v1/jobs?state=retrying")["jobs"]
        dead = cls.scene.api("GET", "/v1/jobs?state=dead")["jobs"]
        cls.views = {
            "overview": ("#/", "Dead letters by cause"), "jobs": ("#/jobs", "Failed by"),
            "job-waiting": (f"#/job/{jobs[0]['id']}", "Why it waits"), "job-dead": (f"#/job/{dead[0]['id']}", "What to do"),
            "route": ("#/route/billing", "What holds it back"), "route-kept": ("#/route/stock", "What its waiting jobs failed of last")}

    def each(self, check):
        for name, (path, word) in self.views.items():
            with self.subTest(view=name):
                self.view(path, word)
                check(name)

    def test_every_text_stands_out_in_light_and_in_dark(self):
        self.browser.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")

        def check(name):
            for scheme in "light", "dark":
                self.browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                self.picture(name if scheme == "light" else name + "-dark")
                seen, low = self.browser.script(CONTRAST)
                self.assertGreater(seen, 30)
                self.assertEqual(low, [], scheme)

        self.addCleanup(lambda: self.browser.media(prefers_color_scheme="light"))
        self.each(check)

    def test_bars_stand_out_and_a_stand_in_is_more_than_a_colour(self):
        self.addCleanup(lambda: self.browser.media(prefers_color_scheme="light"))
        self.view("#/route/billing", "What holds it back")
        for scheme in "light", "dark":
            self.browser.media(prefers_color_scheme=scheme)
            ratio, marks, stripes = self.browser.script(
                CONTRAST.split("const low")[0] +
                "const bar = document.querySelector('.bars .all'), figure = bar.closest('figure');"
                "const [a, b] = [light(parts(getComputedStyle(bar).fill)), light(behind(figure))].sort((x, y) => y - x);"
                "const helped = document.querySelector('.bars .stripe');"
                "return [(a + 0.05) / (b + 0.05), document.querySelectorAll('.bars .helped').length, getComputedStyle(helped).strokeDasharray]")
            self.assertGreaterEqual(ratio, 3, scheme)
            self.assertGreater(marks, 0)
            self.assertNotEqual(stripes, "none")

    def test_the_dialogs_texts_stand_out_too(self):
        self.addCleanup(lambda: self.browser.media(prefers_color_scheme="light"))
        # A colour that is on its way to another is none.
        self.browser.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")
        self.view("#/jobs?state=dead", "Failed by")
        self.press("Retry…")
        self.browser.wait_text("jobs match", within="dialog")
        for scheme in "light", "dark":
            self.browser.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            self.picture("dialog" if scheme == "light" else "dialog-dark", whole=False)
            self.assertEqual(self.browser.script(CONTRAST)[1], [], scheme)
        self.press("Cancel", "dialog form .buttons")

    def test_nothing_stands_out_of_a_phone_or_of_400_percent(self):
        self.addCleanup(lambda: self.browser.size(1280, 900))
        # 320 is what 400 % leaves of 1280.
        for width in 360, 320:
            self.browser.size(width, 780, 2, True)

            def check(name):
                self.picture(f"{name}-{width}")
                inside, whole, out = self.browser.script(OVERFLOW)
                self.assertLessEqual(inside, whole, out)
                self.assertEqual(out, [])

            self.each(check)

    def test_nothing_moves_where_nobody_wants_it(self):
        self.browser.media(prefers_reduced_motion="reduce")
        self.addCleanup(lambda: self.browser.media(prefers_reduced_motion="no-preference"))
        self.view("#/", "Routes")
        moving = self.browser.script(
            "return [...document.querySelectorAll('*')].filter((node) => { const look = getComputedStyle(node);"
            "return look.animationName !== 'none' || look.transitionDuration !== '0s'; }).map((node) => node.tagName)")
        self.assertEqual(moving, [])

    def test_who_does_not_see_it_has_a_name_for_everything(self):
        self.each(lambda name: self.assertEqual(self.browser.script(NAMES), [[], [], [], []]))
        self.assertEqual(self.browser.script(
            "return [document.documentElement.lang, document.querySelectorAll('h1').length, document.querySelectorAll('main, header, nav, footer').length >= 4]"),
            ["en", 1, True])


if __name__ == "__main__":
    unittest.main()
