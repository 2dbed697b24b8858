"""Which durable job goes when: keys, urgency, dates, and newer jobs in the place of older ones."""

import json
import datetime
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

from caller import ask
from durable import DurableTest, again, kept
from relay import eventually
from upstream import answer

# Shifts the wall clock by what stands in the file $CLOCK_SHIFT, in seconds; other clocks stay.
SHIFT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME && getenv("CLOCK_SHIFT")) {
        FILE *file = fopen(getenv("CLOCK_SHIFT"), "re");
        long seconds = 0;
        if (file) {
            if (fscanf(file, "%ld", &seconds) == 1) time->tv_sec += seconds;
            fclose(file);
        }
    }
    return result;
}
"""


def rfc3339(seconds_from_now):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds_from_now)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class Order(DurableTest):
    def bodies(self, path="/x"):
        return [seen.body.decode() for seen in self.upstream.seen(path)]

    def test_jobs_of_a_key_go_one_at_a_time_and_in_their_order_also_over_a_crash(self):
        turns = {}

        def step(got):
            turn = turns[got.body] = turns.get(got.body, 0) + 1
            time.sleep(0.01)
            return answer(500 if turn == 1 and got.body in (b"1", b"4") else 200)
        self.upstream.on("/x", step)
        self.upstream.on("/first", self.new_door())
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        key = ("Waystation-Ordering-Key", "customer-42")
        door = self.new_door()
        self.upstream.on("/first", door)
        ids = [self.hand_over(relay, "/r/up/first", key, method="PUT", body=b"0")]
        ids += [self.hand_over(relay, "/r/up/x", key, method="PUT", body=b"%d" % n) for n in range(1, 8)]
        other = self.hand_over(relay, "/r/up/x", ("Waystation-Ordering-Key", "customer-43"), method="PUT", body=b"other")
        self.wait_for_end(relay, other)
        self.assertEqual(self.bodies(), ["other"], "another key does not wait")
        waiting = self.look(relay, ids[1])
        self.assertEqual((waiting["state"], waiting["reason"]), ("queued", "ordering"), waiting)
        self.restart(relay)
        door.open()
        for id in ids:
            self.wait_for_end(relay, id)
        self.assertEqual(self.bodies(), ["other", "1", "1", "2", "3", "4", "4", "5", "6", "7"])

    def test_a_dead_job_lets_the_next_of_its_key_go(self):
        self.upstream.on("/bad", answer(422))
        self.upstream.on("/x", answer(200))
        rules = [{"name": "rejected", "on": ["422"], "dead_letter": {}}]
        relay = self.new_relay({"up": kept(self.upstream.url, recovery=rules)}).start()
        key = ("Waystation-Ordering-Key", "k")
        self.hand_over(relay, "/r/up/bad", key)
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", key))

    def test_a_whole_route_can_be_in_order(self):
        turns = {}

        def step(got):
            turns[got.body] = turns.get(got.body, 0) + 1
            return answer(500 if turns[got.body] == 1 else 200)
        self.upstream.on("/x", step)
        routes = {"up": kept(self.upstream.url, delivery={"ordering": "route"})}
        relay = self.new_relay(routes).start()
        ids = [self.hand_over(relay, "/r/up/x", method="PUT", body=b"%d" % n) for n in range(4)]
        for id in ids:
            self.wait_for_end(relay, id)
        self.assertEqual(self.bodies(), [str(n) for n in range(4) for _ in range(2)])

    def test_the_most_urgent_goes_first(self):
        door = self.new_door()
        self.upstream.on("/first", door)
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url, concurrency={"max_requests": 1})}).start()
        self.hand_over(relay, "/r/up/first")
        self.upstream.wait_for("/first")
        ids = [self.hand_over(relay, "/r/up/x", ("Priority", f"u={u}"), body=b"%d" % u) for u in (7, 4, 0, 5)]
        door.open()
        for id in ids:
            self.wait_for_end(relay, id)
        self.assertEqual(self.bodies(), ["0", "4", "5", "7"])

    def test_a_delay_and_a_date_are_kept_over_a_restart(self):
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        began = time.monotonic()
        ids = [self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1500ms"), body=b"delay"),
               self.hand_over(relay, "/r/up/x", ("Waystation-Not-Before", rfc3339(1.5)), body=b"date")]
        for id in ids:
            job = self.look(relay, id)
            self.assertEqual((job["state"], job["reason"]), ("scheduled", "not_before"), job)
        self.restart(relay)
        for id in ids:
            self.wait_for_end(relay, id)
        for seen in self.upstream.seen("/x"):
            self.assertGreater(seen.at - began, 1.4, seen.body)
            self.assertLess(seen.at - began, self.within(5), seen.body)

    def test_a_job_whose_time_runs_out_expires(self):
        """While it waits, and while it is with the upstream; where the next wait does not fit any more, it is dead."""
        relay = self.new_relay({
            "up": kept(self.upstream.url), "paused": kept(self.upstream.url),
            "patient": kept(self.upstream.url, recovery=[again(wait="5s")]),
        }).start()
        self.upstream.on("/x", answer(500))
        self.upstream.on("/slow", self.new_door())
        soon = ("Waystation-Expires-After", "1s")
        ask(relay.control, "POST", "/v1/routes/paused/pause")
        waiting = self.hand_over(relay, "/r/paused/x", soon)
        hanging = self.hand_over(relay, "/r/up/slow", soon, method="PUT")
        failing = self.hand_over(relay, "/r/patient/x", soon, method="PUT")
        for id in waiting, hanging:
            job = self.wait_for_end(relay, id, "expired")
            self.assertEqual(job["end"], "expired", job)
            relay.errors.wait(f"job {id}", "ran out")
        self.assertEqual(self.look(relay, waiting)["attempt_count"], 0)
        self.assertEqual(self.wait_for_end(relay, failing, "dead")["end"], "exhausted")

    def test_a_newer_job_takes_the_place_of_an_older_one_that_waits(self):
        door = self.new_door()
        self.upstream.on("/first", door)
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url, concurrency={"max_requests": 1})}).start()
        self.hand_over(relay, "/r/up/first")
        self.upstream.wait_for("/first")
        key = ("Waystation-Supersede-Key", "stock-7")
        old = self.hand_over(relay, "/r/up/x", key, body=b"old")
        new = self.hand_over(relay, "/r/up/x", key, body=b"new")
        self.assertEqual(self.wait_for_end(relay, old, "cancelled")["end"], "superseded")
        door.open()
        self.wait_for_end(relay, new)
        self.assertEqual(self.bodies(), ["new"])

    def test_a_job_whose_place_a_newer_one_took_is_sent_after_it_only_with_a_word_more(self):
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        key = ("Waystation-Supersede-Key", "stock-7")
        old = self.hand_over(relay, "/r/up/x", key, ("Waystation-Delay", "1h"), body=b"old")
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", key, body=b"new"))
        got = ask(relay.control, "POST", f"/v1/jobs/{old}/retry")
        self.assert_problem(got, 409, "job_state")
        self.assertIn("a newer job", got.json()["detail"])
        self.assertIn("--superseded", got.json()["detail"])

        def retry_all(**members):
            order = {"action": "retry", "filter": {}, **members}
            told = ask(relay.control, "POST", "/v1/jobs/actions", [("Content-Type", "application/json")],
                       json.dumps(order).encode()).json()
            return told["matched"], told["changed"], told["superseded"]
        for is_dry in (True, False):
            self.assertEqual(retry_all(dry_run=is_dry), (2, 0, 1))
        self.assertEqual(retry_all(superseded=True), (2, 1, 0))
        self.assertEqual(self.bodies(), ["new"])
        self.assertEqual(ask(relay.control, "POST", f"/v1/jobs/{old}/retry?superseded=true").status, 200)
        self.wait_for_end(relay, old)
        self.assertEqual(self.bodies(), ["new", "old"])

    def test_a_running_job_that_is_superseded_is_not_sent_again_and_the_newer_one_comes_after_it(self):
        for last, state in ((500, "cancelled"), (200, "succeeded")):
            with self.subTest(last=last):
                path = f"/{last}"
                door = self.new_door(then=last)
                self.upstream.on(path, lambda got, door=door: door(got) if got.body == b"old" else answer(200))
                relay = self.new_relay({"up": kept(self.upstream.url)}).start()
                key = ("Waystation-Supersede-Key", "k")
                old = self.hand_over(relay, f"/r/up{path}", key, method="PUT", body=b"old")
                self.upstream.wait_for(path)
                new = self.hand_over(relay, f"/r/up{path}", key, method="PUT", body=b"new")
                self.wait_until(relay, new, state="queued", reason="ordering")
                door.open()
                self.wait_for_end(relay, new)
                job = self.wait_for_end(relay, old, state)
                self.assertEqual(job.get("end"), "superseded" if last == 500 else None)
                self.assertEqual(self.bodies(path), ["old", "new"])
                relay.stop()

    def test_the_clock_may_step_either_way(self):
        """A delay does not notice; a date does."""
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        source, library, shift = (pathlib.Path(work.name) / name for name in ("shift.c", "shift.so", "shift"))
        source.write_text(SHIFT)
        built = subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], capture_output=True)
        if built.returncode:
            self.skipTest("no C compiler: the clock cannot be stepped for the daemon alone")
        shift.write_text("0")
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url)}, environment={
            "LD_PRELOAD": str(library), "CLOCK_SHIFT": str(shift)}).start()
        began = time.monotonic()
        delayed = self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "3s"), body=b"delayed")
        dated = self.hand_over(relay, "/r/up/x", ("Waystation-Not-Before", rfc3339(3600)), body=b"dated")
        # Only a file that is replaced is never read half written.
        later = shift.with_name("later")
        later.write_text("-7200")
        later.rename(shift)
        self.wait_for_end(relay, delayed, seconds=15)
        took = self.upstream.seen("/x")[0].at - began
        self.assertGreater(took, 2.9)
        self.assertLess(took, self.within(8), "a clock set back must not keep a delay longer")
        self.assertEqual(self.look(relay, dated)["state"], "scheduled")
        later.write_text("3700")
        later.rename(shift)
        self.wait_for_end(relay, dated, seconds=30)
        self.assertEqual(self.bodies(), ["delayed", "dated"])


if __name__ == "__main__":
    unittest.main()
