"""An open page follows what happens, does not grow by it, and says when it cannot."""

import json
import os
import signal
import statistics
import threading
import time
import unittest

from page import HOURS, PageTest
from scene import Caller

# Events that the page is to live through; in the night it goes on for an hour besides.
EVENTS, WARM = 100_000, 40_000
# The most that the page may weigh afterwards, of what it weighs before, with everything collected that can be.
GROWTH = 1.1


class Live(PageTest):
    def flood(self, jobs):
        """So many requests that each fail ten times."""
        line = json.dumps({"route": "flood", "request": {"method": "GET", "path": "x"}}).encode() + b"\n"
        with Caller(self.scene.relay.jobs, patience=120) as caller:
            caller.send(
                b"POST /v1/stream?max_in_flight=64 HTTP/1.1\r\nHost: relay\r\nContent-Type: application/x-ndjson\r\n"
                b"Connection: close\r\nContent-Length: %d\r\n\r\n" % (len(line) * jobs))
            sender = threading.Thread(target=caller.send, args=[line * jobs])
            sender.start()
            answered = caller.answer()
            sender.join()
        self.assertEqual(answered.body.count(b"\n"), jobs, answered.body[-300:])

    def heard(self):
        return self.browser.script("return live.count + live.lost")

    def settle(self):
        """The weight of the page when everything that has come was shown."""
        self.browser.wait(lambda: self.browser.script("return !refresh.isReading && !refresh.timer"), "the page is at rest")
        return self.browser.weight()

    def test_an_open_page_does_not_grow_by_a_hundred_thousand_events(self):
        self.view("#/", "Latest events")
        # As by the tenth minute of an hour, the browser has compiled by then what the page does again and again.
        while self.heard() < WARM:
            self.flood(1000)
        time.sleep(1.5)
        # A browser counts no more than 250 unless it is told to.
        self.browser.script("performance.setResourceTimingBufferSize(1000000)")
        heap, nodes, listeners = self.settle()
        began, start = self.heard(), time.monotonic()
        answers = self.browser.script("return performance.getEntriesByType('resource').length")
        while self.heard() - began < EVENTS:
            self.flood(1000)
        took = time.monotonic() - start
        time.sleep(1.5)
        after, nodes_after, listeners_after = self.settle()
        lost = self.browser.script("return live.lost")
        print(f"{self.heard() - began} events in {took:.0f} s, {lost} of them missed: heap {heap} to {after}, nodes {nodes} to {nodes_after}")
        self.assertLessEqual(after, GROWTH * heap)
        self.assertLessEqual(nodes_after, GROWTH * nodes)
        self.assertLessEqual(listeners_after, listeners + 20)
        self.assertLessEqual(len(self.rows("Latest events")), 24)
        # It asks at most once a second, four to six things each.
        asked = self.browser.script("return performance.getEntriesByType('resource').length") - answers
        self.assertLess(asked, 7 * (took + 5) + 10)

    @unittest.skipUnless(HOURS, "an hour is for the night")
    def test_an_open_page_does_not_grow_in_an_hour(self):
        self.view("#/", "Latest events")
        weights = []
        began = time.monotonic()
        while time.monotonic() < began + 3600 * HOURS:
            self.flood(500)
            time.sleep(20)
            weights.append((time.monotonic() - began, *self.settle()[:2]))
        print(weights)
        # Those about the tenth minute of the hour, and those of its last four.
        first = [weight for at, *weight in weights if 480 * HOURS <= at < 720 * HOURS]
        last = [weight for at, *weight in weights if at >= 3360 * HOURS]
        for before, after in zip(zip(*first), zip(*last)):
            self.assertLessEqual(statistics.median(after), GROWTH * statistics.median(before))

    def test_what_happens_is_shown_within_seconds(self):
        self.view("#/route/down", "What holds it back")
        self.scene.keep("down", "x", 1)
        self.browser.wait_text("connection_refused", "1 retrying", seconds=15)
        job = self.scene.api("GET", "/v1/jobs?route=down")["jobs"][0]["id"]
        self.view(f"#/job/{job}", "Why it waits: backoff")
        self.scene.api("POST", f"/v1/jobs/{job}/cancel")
        self.browser.wait_text("cancelled by ", "(uid ", seconds=15)

    def test_events_that_tell_the_same_are_one_line(self):
        self.view("#/", "Latest events")
        self.browser.wait(lambda: self.browser.text("#live") == "Live", "the page is live")
        self.browser.script("live.recent = []")
        self.scene.keep("stock", "items", 5)

        def told():
            return [row for row in self.rows("Latest events") if "job.attempt.failed" in row["What"] and row["Route"] == "stock"]

        self.browser.wait(lambda: [row["What"] for row in told()] == ["5 × job.attempt.failed"], "five are one line")
        self.assertRegex(told()[0]["Last"], r"^\d+ s ago$")

    def test_a_daemon_that_is_away_is_told_of_and_its_return_too(self):
        self.scene.keep("down", "x", 1)
        self.view("#/", "Routes", " ago: cannot connect")
        self.browser.wait(lambda: self.browser.text("#live") == "Live", "the page is live")
        self.scene.relay.stop()
        self.browser.wait_text("The daemon is away since", "there is no such socket", within="#away")
        told = self.browser.text(".trouble")
        self.browser.wait(lambda: self.browser.text(".trouble") != told, "what was read grows older")
        self.assertRegex(self.browser.text("#live"), r"Read \d+ s ago; (next try in \d+ s|asking)")
        self.assertIn("Routes", self.browser.text("main"), "what was read before stays")
        self.assertEqual(self.browser.script("return document.getElementById('glance').className"), "old")
        self.picture("away")
        (self.scene.relay.directory / "notify").unlink()
        self.scene.relay.notices.items.clear()
        self.scene.relay.start()
        self.browser.wait(lambda: not self.browser.text("#away"), "the page sees the daemon again")
        self.browser.wait(lambda: self.browser.text("#live") == "Live", "the page is live again")
        self.assertEqual(self.browser.script("return document.getElementById('news').textContent"), "The daemon is back")

    def test_a_daemon_that_answers_no_longer_is_not_live(self):
        self.view("#/", "Routes")
        self.browser.wait(lambda: self.browser.text("#live") == "Live", "the page is live")
        process = self.scene.relay.process.pid
        os.kill(process, signal.SIGSTOP)
        try:
            self.browser.wait(lambda: self.browser.text("#live").startswith("Waiting for an answer"), "it is late", seconds=12)
            self.browser.wait_text(
                "The daemon does not answer since", "not answered within 10", "What is below was read at", within="#away", seconds=20)
            self.assertTrue(self.browser.text("#live").startswith("Read "))
            self.assertTrue(self.browser.script("return document.body.classList.contains('stale')"))
            self.assertIn("Routes", self.browser.text("main"), "what was read before stays")
        finally:
            os.kill(process, signal.SIGCONT)
        self.browser.wait(lambda: not self.browser.text("#away"), "the page sees the daemon again")
        self.browser.wait(lambda: self.browser.text("#live") == "Live", "the page is live again")

    def test_a_part_that_cannot_be_read_leaves_the_others(self):
        self.view("#/", "Routes")
        self.browser.script(
            "window.plain = fetch; window.fetch = async (path, given) => path.startsWith('/v1/shape')"
            " ? new Response('{\"detail\": \"the store is closed\"}', {status: 503, headers: {'Content-Type': 'application/json'}}) : plain(path, given)")
        self.addCleanup(lambda: self.browser.script("window.fetch = plain"))
        self.browser.wait_text("Not read anew: the ages of jobs. The store is closed.")
        self.scene.api("POST", "/v1/routes/quiet/pause", {})
        self.addCleanup(lambda: self.scene.api("POST", "/v1/routes/quiet/resume"))
        self.browser.wait(lambda: {row["Route"]: row["State"] for row in self.rows("Routes")}.get("quiet") == "! paused"
                          or "paused" in {row["Route"]: row["State"] for row in self.rows("Routes")}.get("quiet", ""), "the routes are read on")
        self.assertEqual(self.browser.text("#away"), "", "a daemon that refuses is not away")

    def test_the_page_of_another_version_takes_the_place_of_this_one(self):
        self.view("#/jobs", "Failed by")
        self.browser.script("window.old = true; daemon.version = '0.0.0'; live.connect()")
        self.browser.wait(lambda: not self.browser.script("return window.old"), "the page is loaded anew")
        self.browser.wait_text("Failed by")

    def test_a_page_that_nobody_sees_keeps_no_connection(self):
        self.view("#/", "Routes")
        self.browser.wait(lambda: self.browser.text("#live") == "Live", "the page is live")
        self.browser.script(
            "Object.defineProperty(document, 'hidden', {value: true, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))")
        self.assertEqual(self.browser.script("return live.source"), None)
        self.browser.script("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        self.browser.wait(lambda: self.browser.text("#live") == "Live", "the page is live again")


if __name__ == "__main__":
    unittest.main()
