"""Dead letters: the upstream's words, what has changed since, and one that is tried before the rest."""

import os
import pwd
import time
import unittest

from page import PageTest
from scene import as_json, eventually, route

TABLE = "Dead letters by cause"


class Dead(PageTest):
    def tearDown(self):
        self.scene.api("POST", "/v1/jobs/actions", {"action": "drop", "filter": {}, "dry_run": False})
        super().tearDown()

    def row(self, **cells):
        """The row whose cells have these texts, once there is one."""
        def found():
            return next((row for row in self.rows(TABLE) if all(text in row.get(title, "") for title, text in cells.items())), None)
        return self.browser.wait(found, f"there is a row with {cells}")

    def dead(self, path, count):
        jobs = self.scene.keep("hooks", path, count)
        eventually(lambda: all(self.scene.job(job)["state"] == "dead" for job in jobs), "the jobs are dead")
        return jobs

    def attempts(self, jobs):
        return [self.scene.job(job)["attempt_count"] for job in jobs]

    def confirm(self, name, button):
        """Presses a button of the hooks' row, and what confirms it."""
        self.browser.click(self.browser.script(
            "const row = [...document.querySelectorAll('.deads tbody tr')].find((one) => one.innerText.includes('hooks'));"
            "return [...row.querySelectorAll('button')].find((one) => one.textContent === arguments[0])", name))
        self.browser.wait(lambda: self.browser.script("return document.querySelector('dialog').open"), "the dialog is open")
        self.browser.wait(lambda: button in self.browser.text("dialog form .buttons"), "it can be confirmed")
        said = self.browser.text("dialog")
        self.press(button, "dialog form .buttons")
        return said

    def test_one_is_tried_and_then_the_rest_at_a_rate(self):
        upstream = self.scene.upstream
        upstream.on("/hooks/sku", as_json(410, '{"title": "sku missing"}'))
        jobs = self.dead("sku", 4)
        self.view("#/", TABLE)
        row = self.row(Said="sku missing", Route="hooks (u1)")
        self.assertEqual((row["Kind"], row["Count"], row["Ended as"]), ("http_status 410", "4", "rejected"))
        self.assertIn(row["Sample"], jobs)
        self.confirm("Try one…", "Retry")
        row = self.row(Act=f"Tried {row['Sample']}: dead", Count="4")
        self.assertEqual(sorted(self.attempts(jobs)), [1, 1, 1, 2])
        upstream.on("/hooks/sku", as_json(200, "{}"))
        self.confirm("Try one…", "Retry")
        self.row(Act=f"Tried {row['Sample']}: succeeded", Count="3")
        said = self.confirm("Retry the rest…", "Retry 3 jobs")
        self.assertIn("--rate 10/s", said)
        self.assertIn("route=hooks", said)
        eventually(lambda: all(self.scene.job(job)["state"] == "succeeded" for job in jobs), "the rest is delivered")
        self.browser.wait_text("3 jobs match, 3 retried", within="dialog")
        self.press("Close", "dialog form .buttons")
        self.browser.wait(lambda: not self.rows(TABLE), "nothing is left of them")

    def test_what_has_changed_since_the_first_died_is_told_with_its_time(self):
        api, name = self.scene.api, pwd.getpwuid(os.getuid()).pw_name
        self.scene.upstream.on("/hooks/since", as_json(410, '"gone for good"'))
        for word in "pause", "resume":
            api("POST", f"/v1/routes/hooks/{word}")
        # Marks have whole seconds.
        time.sleep(2.1)
        self.dead("since", 2)
        self.view("#/", TABLE)
        row = self.row(Said="gone for good")
        self.assertIn(" on: nothing that is on record; the route is", row["Since the first died"])
        api("POST", "/v1/routes/hooks/pause", {"reason": "maintenance"})
        self.scene.routes["hooks"] = {**self.scene.routes["hooks"], "timeouts": {"total": "77s"}}
        self.scene.relay.write(self.scene.routes)
        api("POST", "/v1/reload")
        self.row(**{"Said": "gone for good", "Since the first died": "Reloaded: /routes/hooks/timeouts/total"})
        changed = self.row(**{"Said": "gone for good", "Since the first died": f"by {name}"})["Since the first died"]
        self.assertRegex(changed, rf"^from \d\d:\d\d:\d\d on: \d\d:\d\d:\d\d Paused by {name} · \d\d:\d\d:\d\d Reloaded: [^·]*; the route is ‖? ?paused")
        self.assertNotIn("Resumed", changed)
        self.assertNotIn("77s", self.browser.text("main"))
        self.picture("dead")
        api("POST", "/v1/routes/hooks/resume")

    def test_the_same_cause_on_two_routes_is_two_rows_and_a_cause_without_an_answer_has_its_detail(self):
        self.scene.routes["gone"] = route(self.scene.routes["down"]["upstreams"][0]["url"], recovery=[
            {"name": "give-up", "on": ["connection"], "dead_letter": {}}])
        self.scene.routes["gone2"] = self.scene.routes["gone"]
        self.scene.relay.write(self.scene.routes)
        self.scene.api("POST", "/v1/reload")
        jobs = [job for name in ("gone", "gone2") for job in self.scene.keep(name, "x", 2)]
        eventually(lambda: all(self.scene.job(job)["state"] == "dead" for job in jobs), "they are dead")
        self.view("#/", TABLE)
        for name in "gone (", "gone2 (":
            # The table may have been drawn before the second of them was over.
            row = self.row(Route=name, Kind="connection_refused", Count="2")
            self.assertIn("127.0.0.1", row["Said"])


if __name__ == "__main__":
    unittest.main()
