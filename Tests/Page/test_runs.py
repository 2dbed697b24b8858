"""A bulk action shows its progress, its author and a stop to every viewer, also after a restart."""

import signal
import unittest

from browser import ESCAPE
from page import PageTest


class Runs(PageTest):
    STRIP = "return document.getElementById('runs').innerText"

    def begin(self, count):
        """A retry of so many jobs of their own, one a minute, that the page has begun."""
        label = f"of={self.id().rsplit('.', 1)[1]}"
        jobs = self.scene.keep("quiet", "good", count, ("Waystation-Delay", "2h"), ("Waystation-Label", label))
        self.view("#/jobs?label=" + label.replace("=", "%3D"), *jobs)
        self.press("Retry…")
        self.browser.wait_text(f"{count} jobs match", within="dialog")
        self.browser.type(self.browser.find("dialog input[name=rate]"), "1/m")
        self.browser.type(self.browser.find("dialog input[name=reason]"), "büro is back")
        # The command of the dialog does the same.
        self.assertIn(f"--where label={label} --rate 1/m --reason 'büro is back'", self.command())
        # Leaving the field counts anew.
        self.browser.script("document.activeElement.blur()")
        self.browser.wait_text(f"{count} jobs match", within="dialog")
        self.press(f"Retry {count} jobs", "dialog form .buttons")
        self.browser.wait_text("1 job matches, 1 retried. It goes on when this is closed.", within="dialog")
        return jobs, label, self.scene.api("GET", "/v1/runs")["runs"][0]["number"]

    def retried(self, jobs):
        return sum("actions" in self.scene.job(job) for job in jobs)

    def closed(self):
        self.browser.wait(lambda: not self.browser.script("return document.querySelector('dialog').open"), "the dialog is closed")

    def strip(self, *words):
        self.browser.wait(lambda: all(word in self.browser.script(self.STRIP) for word in words), f"the strip has {words}")

    def test_one_that_is_stopped_says_what_was_done(self):
        jobs, _, number = self.begin(4)
        self.press("Stop", "dialog form .buttons")
        self.browser.wait_text("Stopped. 1 job matches, 1 retried.", within="dialog")
        self.press("Close", "dialog form .buttons")
        self.closed()
        self.assertEqual(self.retried(jobs), 1)
        self.assertEqual(self.scene.api("GET", f"/v1/runs/{number}")["state"], "stopped")
        self.strip(f"Run {number}: ", "Stopped by root")

    def test_another_viewer_sees_and_stops_it_after_a_restart_too(self):
        jobs, label, number = self.begin(3)
        self.browser.keys(ESCAPE)
        self.closed()
        told = f"Run {number}: retry jobs with label={label}"
        self.strip(told)
        first = self.browser.call("GET", "/window")
        self.browser.call("POST", "/window", {"handle": self.browser.call("POST", "/window/new", {"type": "tab"})["handle"]})
        self.browser.open(self.port.origin + "/ui/")
        self.strip(told, "1 of 3", "1/m", "by root", "büro is back")
        self.scene.relay.stop(signal.SIGKILL)
        self.scene.relay.notices.wait("(gone)")
        self.scene.relay.notices.items.clear()
        (self.scene.relay.directory / "notify").unlink(missing_ok=True)
        self.scene.relay.start()
        self.browser.open(self.port.origin + "/ui/")
        self.view("#/jobs", jobs[0])
        self.strip(told, "1 of 3", "by root")
        self.assertEqual(self.browser.script("return document.querySelector('#runs progress').value"), 1)
        self.press("Stop…", "#runs")
        self.assertEqual(self.command(), f"waystation runs stop {number} --socket {self.scene.relay.control}")
        self.press("Stop", "dialog form .buttons")
        self.closed()
        self.strip(told, "Stopped by root")
        self.assertFalse(self.browser.script(
            "return [...document.querySelectorAll('#runs p')].some((one) => one.innerText.includes(arguments[0])"
            " && one.querySelector('progress, button'))", told))
        self.browser.call("DELETE", "/window")
        self.browser.call("POST", "/window", {"handle": first})
        self.strip(told, "Stopped by root")
        self.assertEqual(self.scene.api("GET", f"/v1/runs/{number}")["state"], "stopped")
        self.assertEqual(self.retried(jobs), 1)

    def test_a_hostile_reason_is_only_text(self):
        reason = "<img src=x onerror=window.hacked=1>"
        run = self.scene.api("POST", "/v1/runs", {"action": "hold", "filter": {"label": reason}, "reason": reason})
        self.view("#/", "Routes")
        self.strip(f"Run {run['number']}: hold jobs with label={reason}", reason, "0 jobs match", "Done")
        self.assertFalse(self.browser.script("return window.hacked || document.querySelectorAll('#runs img').length > 0"))


if __name__ == "__main__":
    unittest.main()
