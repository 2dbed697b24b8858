"""The page says that nothing is wrong only when that is so, and no success hides what fails."""

import re
import unittest

from page import PageTest
from scene import as_json, eventually


class Troubles(PageTest):
    def fine(self):
        return self.browser.text(".fine")

    def test_all_that_waits_or_is_kept_from_going_is_told_of(self):
        scene = self.scene
        self.view("#/", "Nothing is wrong")
        self.assertIn("8 of 8 routes had no request", self.fine())
        jobs = scene.keep("quiet", "good", 20, ("Waystation-Delay", "2h"))
        for job in jobs:
            scene.api("POST", f"/v1/jobs/{job}/hold")
        self.browser.wait_text("20 jobs are on hold until somebody releases them.", "waystation jobs release --where route=quiet,state=held")
        self.assertNotIn("Keeps", self.browser.text(".trouble"), "what is on hold is not about to be delivered")
        self.assertEqual(self.fine(), "")
        for job in jobs:
            scene.api("DELETE", f"/v1/jobs/{job}")
        self.browser.wait(self.fine, "nothing is wrong again")
        for state, words in ("open", "kept open: nothing is sent to it"), ("closed", "kept closed: it is sent to whatever comes of it"):
            scene.api("PUT", "/v1/routes/ok/breaker", {"state": state, "for": "1d", "upstream": "u1"})
            self.browser.wait_text(words, "waystation breaker ok/u1 auto")
        scene.api("PUT", "/v1/routes/ok/breaker", {"state": "auto", "upstream": "u1"})
        self.browser.wait(self.fine, "nothing is wrong once more")

    def test_a_store_that_fills_and_a_backlog_are_troubles(self):
        status = self.scene.api("GET", "/v1/status")
        troubles = "return daemonTroubles(arguments[0]).map(({text}) => text)"
        self.assertEqual(self.browser.script(troubles, status), [])
        full = {**status, "storage": {**status["storage"], "used_bytes": 99, "max_bytes": 100}}
        self.assertIn("The job store is nearly full, at 99 B of 100 B", self.browser.script(troubles, full)[0])
        for free, told in ((100, []), (99, ["The disk of the job store is nearly full, with 99 B left: without room no job is accepted."])):
            disk = {"used_bytes": 0, "max_bytes": 2000, "disk_bytes": 1000, "disk_available_bytes": free}
            self.assertEqual(self.browser.script(troubles, {**status, "storage": {**status["storage"], **disk}}), told)
        large = {**disk, "max_bytes": 50}
        self.assertEqual(self.browser.script(troubles, {**status, "storage": {**status["storage"], **large}}), [])
        route = self.scene.api("GET", "/v1/routes/quiet")
        wrong = "return wrongWith(arguments[0])"
        self.assertEqual(self.browser.script(wrong, route), [])
        jobs = {state: 0 for state in route["jobs"]}
        self.assertEqual(
            self.browser.script(wrong, {**route, "jobs": {**jobs, "queued": 100}}), ["100 jobs could be sent and wait for a turn"])
        old = {**route, "jobs": {**jobs, "queued": 2}, "oldest_job_at": "2020-01-01T00:00:00Z"}
        self.assertRegex(self.browser.script(wrong, old)[0], r"2 jobs could be sent and wait for a turn, the oldest for \d+d")

    def test_what_is_told_of_a_route_is_of_what_is_wrong_with_it(self):
        route = self.scene.api("GET", "/v1/routes/quiet")
        failure = {"kind": "breaker_open", "detail": "u1 is left alone", "at": "2020-01-01T00:00:00Z"}
        failing = {**route, "state": "failing", "last_failure": failure, "rules": []}
        rule = {"name": "other", "on": ["breaker_open"], "action": "failover", "acted": 1}
        jobs = route["jobs"]
        retrying = {**route, "jobs": {**jobs, "retrying": 1, "held": 2}, "next_attempt_at": "2020-01-01T00:00:00Z"}
        text = "(told) => [told].flat(9).map((part) => part.textContent ?? part).join('')"
        for function, given, told in (
                ("adviceFor", failing, ["Mend the upstream; give the route a rule on breaker_open that fails over or responds."]),
                ("adviceFor", {**failing, "rules": [rule]}, ['mend the upstream; until then rule "other" helps \\(failover\\)']),
                ("adviceFor", {**route, "jobs": {**jobs, "dead": 1, "held": 1}}, [
                    r"When what is on hold may go on: waystation jobs release --where route=quiet,state=held.*",
                    r"When the cause of the dead jobs is mended: waystation jobs retry --where route=quiet,state=dead.*"]),
                ("adviceFor", {**failing, "pause": {"reason": "", "began_at": failure["at"]}}, ["When the cause is gone: waystation resume quiet"]),
                ("doneAbout", retrying, ["keeps 1 job until it can be delivered, the next attempt now"]),
                ("wrongWith", {**failing, "lately": {"requests": 1, "failed": 1, "stand_ins": 0}, "upstreams": [{"name": "eu", "breaker": "open", "last_failure": failure}]}, [
                    "upstream eu has failed so often that its breaker is open", "the latest request failed; the latest failure, .*"]),
                ("wrongWith", {**failing, "lately": {"requests": 9, "failed": 3, "stand_ins": 1}}, [
                    r"of the latest 9 requests 3 failed and 1 was answered by a stand-in; the latest failure, \d+d ago: u1 is left alone \(breaker_open\)"])):
            with self.subTest(function=function, told=told):
                shown = self.browser.script(f"return {function}(arguments[0]).map({text})", given)
                self.assertEqual(len(shown), len(told), shown)
                for one, pattern in zip(shown, told):
                    self.assertRegex(one, f"^{pattern}$")
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
        self.view("#/", "Of the latest 10 requests 8 failed")

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
