"""The daemon at rest: it looks at nothing, and what is due or begins is seen in time all the same."""

import json
import os
import tempfile
import time

from caller import ask
from durable import DurableTest, kept
from relay import eventually
from upstream import answer

# A status and what files say act within a second, kept jobs within another one; a busy machine takes its time.
SOON = 4


class Rest(DurableTest):
    def start(self, **members):
        self.upstream.on("/x", answer(200, "x"))
        relay = self.new_relay({"up": kept(self.upstream.url)}, **members).start()
        self.rest(relay)
        return relay

    def wakes(self, relay):
        """How often its threads have slept."""
        tasks = f"/proc/{relay.process.pid}/task"
        total = 0
        for thread in os.listdir(tasks):
            with open(f"{tasks}/{thread}/status") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))
        return total

    def rest(self, relay):
        """Waits until it rests: until in two seconds hardly a thread has woken."""
        def is_resting():
            before = self.wakes(relay)
            time.sleep(2)
            return self.wakes(relay) - before <= 4
        eventually(is_resting, "the daemon rests", 60)

    def within_seconds(self, seconds, condition, what):
        eventually(condition, f"{what} within {seconds} s", self.within(seconds))

    def told(self, relay, words):
        """Whether that is in the last status line; polls nothing of the daemon."""
        lines = [line for notice in relay.notices.having("STATUS=") for line in notice.split("\n") if "STATUS=" in line]
        return words in lines[-1]

    def test_it_writes_nothing(self):
        relay = self.start()

        def written():
            state = relay.directory / "state"
            return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in state.rglob("*")}
        before, records = written(), len(relay.errors.items)
        self.rest(relay)
        self.assertEqual(written(), before)
        self.assertEqual(relay.errors.items[records:], [])

    def test_a_request_ends_it_and_the_status_tells_of_that(self):
        relay = self.start()
        self.assertTrue(self.told(relay, "ok 0,"), relay.notices.items)
        self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)
        self.within_seconds(SOON, lambda: self.told(relay, "ok 1,"), "the status tells of a request")
        self.rest(relay)
        self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)
        self.within_seconds(SOON, lambda: self.told(relay, "ok 2,"), "the status tells of another one")

    def test_a_kept_job_ends_it_when_it_comes_and_when_it_is_due(self):
        relay = self.start()
        id = self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "15s"))
        self.within_seconds(SOON, lambda: self.told(relay, "jobs queued 1,"), "the status tells of a job")
        self.rest(relay)
        self.within_seconds(15 + SOON, lambda: self.told(relay, "jobs queued 0,"), "the status tells of its end")
        self.assertEqual(self.look(relay, id)["state"], "succeeded")

    def test_a_job_that_waits_too_long_ends_at_rest(self):
        relay = self.start()
        self.assertEqual(ask(relay.control, "POST", "/v1/routes/up/pause").status, 200)
        id = self.hand_over(relay, "/r/up/x", ("Waystation-Expires-After", "15s"))
        self.rest(relay)
        self.within_seconds(15 + SOON, lambda: self.look(relay, id)["state"] == "expired", "it expires")

    def test_a_pause_ends_at_rest(self):
        relay = self.start()
        body = json.dumps({"reason": "upgrade", "for": "12s"}).encode()
        got = ask(relay.control, "POST", "/v1/routes/up/pause", [("Content-Type", "application/json")], body)
        self.assertEqual(got.status // 100, 2, got)
        self.within_seconds(SOON, lambda: self.told(relay, "paused: up"), "the status tells of a pause")
        self.within_seconds(12 + SOON, lambda: not self.told(relay, "paused"), "the status tells of its end")

    def test_a_file_is_seen_within_a_second(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "constrained")
        relay = self.start(constrained={"when": [{"file_exists": path}]})
        for _ in range(2):
            open(path, "w").close()
            self.within_seconds(SOON, lambda: self.told(relay, "network constrained"), "the file counts")
            os.unlink(path)
            self.within_seconds(SOON, lambda: not self.told(relay, "network constrained"), "it counts no more")

    def test_a_stop_at_rest_is_not_late(self):
        relay = self.start()
        began = time.monotonic()
        self.assertEqual(relay.stop(), 0)
        self.assertLess(time.monotonic() - began, self.within(3))
