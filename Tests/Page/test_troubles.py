"""The page says that nothing is wrong only when that is so, and no success hides what fails."""

import re
import unittest

from page import PageTest
from scene import as_json, eventually


class Troubles(PageTest):
    def fine(self):
        return self.browser.text("#glance.ok")

    def test_all_that_waits_or_is_kept_from_going_is_told_of(self):
        scene = self.scene
        self.view("#/", "Routes")
        self.browser.wait(self.fine, "nothing is wrong")
        self.assertIn("8 routes", self.fine())
        jobs = scene.keep("quiet", "good", 20, ("Waystation-Delay", "2h"))
        for job in jobs:
            scene.api("POST", f"/v1/jobs/{job}/hold")
        self.browser.wait_text("20 jobs are on hold.", "waystation jobs release --where route=quiet,state=held")
        self.assertNotIn("wait", self.browser.text("#glance"), "what is on hold is not about to be delivered")
        self.assertEqual(self.fine(), "")
        for job in jobs:
            scene.api("DELETE", f"/v1/jobs/{job}")
        self.browser.wait(self.fine, "nothing is wrong again")
        for state in "open", "closed":
            scene.api("PUT", "/v1/routes/ok/breaker", {"state": state, "for": "1d", "upstream": "u1"})
            self.browser.wait_text(f"An operator keeps the breaker {state}.", "waystation breaker ok/u1 auto")
        scene.api("PUT", "/v1/routes/ok/breaker", {"state": "auto", "upstream": "u1"})
        self.browser.wait(self.fine, "nothing is wrong once more")

    def test_a_breaker_is_told_of_in_the_words_of_limits(self):
        counts = {"attempts": 0, "failed": 0, "failed_in_a_row": 10, "span_ms": 30000}
        self.assertEqual(
            self.browser.script("return breakerText(arguments[0])", {"breaker": "open", "counts": counts}),
            "open; the last 10 failed, none in the last 30s")

    def test_one_success_does_not_hide_deliveries_that_fail(self):
        scene = self.scene
        scene.upstream.on("/stock/fine", as_json(200, "{}"))
        scene.relay.ask("GET", "/r/stock/fine")
        scene.keep("stock", "items", 8)
        eventually(lambda: scene.api("GET", "/v1/routes/stock")["jobs"]["retrying"] == 8, "each was tried")
        scene.relay.ask("GET", "/r/stock/fine")
        self.view("#/", "stock", "the upstream answered 500")

        def told():
            row = next((row for row in self.rows("Routes") if row["Route"] == "stock"), {})
            return re.fullmatch(r"0%; 80% of attempts", row.get("Failed, last hour", ""))

        self.browser.wait(told, "the deliveries that failed are told of")
        label = "return [...document.querySelectorAll('.routes tr')].find((row) => row.cells[0].textContent === 'stock').querySelector('svg')"
        self.assertEqual(
            self.browser.script(label + ".getAttribute('aria-label')"), "Last hour: 2 requests, 0 failed; 10 attempts, 8 failed")
        self.assertGreater(self.browser.script(label + ".querySelectorAll('.failed').length"), 0)

    def test_something_is_never_told_as_nothing_nor_as_all(self):
        told = self.browser.script("return [[0, 9], [1, 9000], [1, 100], [8999, 9000], [9, 9], [0, 0]].map((pair) => percent(...pair))")
        self.assertEqual(told, ["0%", "<0.1%", "1.0%", ">99%", "100%", "–"])


if __name__ == "__main__":
    unittest.main()
