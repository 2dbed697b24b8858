"""A chart has its unit, its times and a scale, and tells the values of the minute that is looked at."""

import re
import unittest

from page import PageTest

LEFT, RIGHT, END, ESCAPE = "\ue012", "\ue014", "\ue010", "\ue00c"


class Charts(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scene.trouble()

    def setUp(self):
        super().setUp()
        self.view("#/route/billing", "What holds it back")
        self.browser.wait(lambda: self.texts(".ticks span"), "there is a chart")

    def texts(self, selector, chart=0):
        return self.browser.script(
            "const figure = document.querySelectorAll('.charts figure')[arguments[1]];"
            "return figure ? [...figure.querySelectorAll(arguments[0])].map((node) => node.textContent) : []", selector, chart)

    def caption(self, chart=0):
        return self.texts("figcaption", chart)[0]

    def hour(self):
        return self.scene.api("GET", "/v1/history?route=billing")

    def test_its_axes_have_a_unit_and_times(self):
        self.assertRegex(self.texts(".ticks span")[0], r"^\d+/min$")
        self.assertEqual(self.texts(".ticks span")[2], "0")
        self.assertTrue(all(re.fullmatch(r"[\d.]+ (ms|s)", text) for text in self.texts(".ticks span", 1)), self.texts(".ticks span", 1))
        for chart in 0, 1:
            clock = self.texts(".clock span", chart)
            self.assertEqual(len(clock), 4)
            minutes = [int(text[:2]) * 60 + int(text[3:]) for text in clock]
            self.assertEqual([(later - before) % 1440 for before, later in zip(minutes, minutes[1:])], [20, 20, 19])
        self.assertEqual(
            self.browser.script("return [1, 2, 3, 5, 6, 11, 44, 99, 1001].map(roundUp)"), [1, 2, 4, 5, 10, 20, 50, 100, 2000])

    def test_the_arrow_keys_tell_of_each_minute(self):
        rest = self.caption()
        self.browser.script("document.querySelector('.charts figure').focus()")
        self.browser.keys(LEFT)
        hour = self.hour()
        route = hour["routes"][0]
        at = max(index for index, count in enumerate(route["requests"]) if count)
        self.browser.keys(*[LEFT] * (hour["columns"] - 1 - at))
        requests, failed, helped = (route[name][at] for name in ("requests", "failures", "fallbacks"))
        begin = self.browser.script("return minuteText({began: Date.parse(arguments[0]), interval: 60000}, arguments[1])", hour["began_at"], at)
        causes = [(cause["counts"][at], " ".join(filter(None, [cause["kind"], str(cause.get("status", ""))]))) for cause in route["causes"]]
        self.assertGreater(len(causes), 1)
        told = "".join(f", {count} × {word}" for count, word in causes if count)
        self.assertEqual(self.caption(), f"{begin}: {requests} requests, {failed} failed, {helped} by a stand-in{told}")
        self.assertEqual(self.browser.script("return document.querySelectorAll('.charts .pointed').length"), 1)
        self.browser.wait(lambda: self.browser.script("return refresh.drawnAt") and self.caption().startswith(begin), "it stays")
        self.browser.keys(END, RIGHT)
        self.assertNotEqual(self.caption(), rest)
        self.browser.keys(ESCAPE)
        self.assertEqual(self.caption(), rest)

    def test_the_moments_at_which_something_turned_are_marked(self):
        self.scene.api("POST", "/v1/reload")
        marks = "return [...document.querySelectorAll('.charts figure')].map((node) => node.querySelectorAll('.mark').length)"

        def wanted():
            hour = self.hour()
            return len(hour["routes"][0]["marks"]) + len(hour["reloads"]) + 1

        self.assertGreater(wanted(), 3, "the breakers have opened")
        self.browser.wait(lambda: self.browser.script(marks) == [wanted()] * 2, "each chart has them")
        for words in "The daemon began", "Circuit breaker of eu opened":
            self.assertIn(words, self.shown("Marked"))
        self.assertIn("× http_status 503", self.shown("Failed"))

    def test_a_minute_nobody_looked_at_is_a_gap_and_no_zero(self):
        told = self.browser.script(
            "const counts = {requests: [null, 3], failures: [null, 1], fallbacks: [null, 0], attempts: [null, 3], failed_attempts: [null, 1],"
            " p50_ms: [null, 1], p99_ms: [null, 1], attempt_p50_ms: [null, 1], attempt_p99_ms: [null, 1], queued: [null, 2], in_flight: [null, 4],"
            " causes: [], marks: [], name: 'a'};"
            "const hour = hourOf({interval_ms: 60000, began_at: '2026-01-01T00:00:00Z', started_at: '2025-01-01T00:00:00Z', reloads: [],"
            " routes: [counts]}, {name: 'a', jobs: {}});"
            "return [0, 1].flatMap((at) => { Object.assign(pointed, {key: 'rate', at}); const rate = rateChart(hour).querySelector('figcaption').textContent;"
            " Object.assign(pointed, {key: 'queue', at}); const queue = queueChart(hour).querySelector('figcaption').textContent;"
            " pointed.key = null; return [rate, queue, hour.rate]; })")
        self.assertEqual(told, [
            "00:00: not known", "00:00: not known", None, "00:01: 3 requests, 1 failed", "00:01: at most 4 under way, 2 waited for a permit", None])

    def test_the_pointer_tells_of_the_minute_below_it(self):
        rest = self.caption(1)
        move = (
            "const figure = document.querySelectorAll('.charts figure')[1], box = figure.querySelector('svg').getBoundingClientRect();"
            "figure.querySelector('svg').dispatchEvent(new PointerEvent(arguments[0], {bubbles: true, clientX: box.right - 1, clientY: box.top + 5}))")
        self.browser.script(move, "pointermove")
        self.assertRegex(self.caption(1), r"^\d\d:\d\d: (half within [\d.]+ m?s, 99 of 100 within [\d.]+ m?s|no answer)$")
        self.assertEqual(self.texts(".pointed", 0), [], "one chart at a time")
        self.browser.script(move, "pointerout")
        self.assertEqual(self.caption(1), rest)

    def test_the_bars_of_all_routes_have_one_scale(self):
        self.view("#/", "All bars have one scale")
        tall = self.browser.script(
            "return Object.fromEntries([...document.querySelectorAll('.routes tbody tr')].map((row) => [row.cells[0].textContent,"
            " Math.max(0, ...[...row.querySelectorAll('.all')].map((bar) => bar.getBBox().height))]))")
        self.assertEqual(max(tall.values()), 20)
        self.assertEqual(tall["billing"], 20)
        self.assertLess(tall["ok"], 10, "five requests are not as high as thirty")


if __name__ == "__main__":
    unittest.main()
