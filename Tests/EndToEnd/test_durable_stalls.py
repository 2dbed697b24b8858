"""A disk that does not answer: who waits for it is told in time, and everybody else goes on."""

import concurrent.futures
import json
import pathlib
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from caller import Caller, ask, request
from durable import DurableTest, kept
from relay import eventually, route
from upstream import answer, as_json

HERE = pathlib.Path(__file__).resolve().parent
# Large enough for a file of its own.
LARGE = bytes(300_000)


class Stalls(DurableTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.library = pathlib.Path(cls.folder.name) / "hold.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", cls.library, HERE / "hold.c"], check=True, timeout=60)

    def start(self, **environment):
        self.upstream.on("/x", answer(200, "x"))
        relay = self.new_relay({"up": kept(self.upstream.url)})
        self.held = relay.directory / "held"
        relay.environment |= {"LD_PRELOAD": str(self.library), "HOLD": str(self.held), **environment}
        self.addCleanup(self.held.unlink, missing_ok=True)
        return relay.start()

    def timed(self, relay, *fields, body=b"kept", method="POST"):
        began = time.monotonic()
        got = relay.ask(method, "/r/up/x", [("Prefer", "respond-async"), *fields], body)
        return got, time.monotonic() - began

    def state(self, relay):
        return ask(relay.control, "GET", "/v1/status").json()["storage"]["state"]

    def metrics_tell(self, relay, line):
        eventually(
            lambda: f"{line}\n" in ask(relay.control, "GET", "/metrics").body.decode(), f"the metrics have {line}")

    def test_a_caller_is_told_within_five_seconds_and_its_job_is_cancelled_before_it_is_sent(self):
        relay = self.start()
        # The route is known and nothing is left to be written: the next write is the first caller's.
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", body=b"warm"))
        self.held.touch()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            plain = pool.submit(self.timed, relay, ("Waystation-Label", "in=write"), body=b"plain")
            eventually(lambda: self.held.stat().st_size, "its write is held")
            short = pool.submit(self.timed, relay, ("Waystation-Timeout", "1s"))
            keyed = pool.submit(self.timed, relay, ("Idempotency-Key", '"8841"'))
            large = pool.submit(self.timed, relay, body=LARGE)
            for asked, limit in (plain, 5), (short, 1), (keyed, 5), (large, 5):
                got, seconds = asked.result()
                problem = self.assert_problem(got, 503, "storage_stalled")
                self.assertLess(seconds, self.within(limit), problem)
                self.assertEqual(got["Retry-After"], "5")
        # Later ones do not wait at all: what waits behind the disk would fill the memory.
        got, seconds = self.timed(relay)
        self.assert_problem(got, 503, "storage_stalled")
        self.assertLess(seconds, self.within(1))
        self.held.unlink()
        eventually(lambda: self.state(relay) == "ok", "the disk is back")
        again, _ = self.timed(relay, ("Idempotency-Key", '"8841"'))
        self.assertIn(again.status, (200, 202), again)
        self.assertEqual(again["Waystation-Replayed"], "true", "with a key it is the same job")
        self.wait_for_end(relay, again["Waystation-Job"])
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", body=b"last"))
        jobs = relay.ask("GET", "/v1/jobs?limit=100&order=oldest").json()["jobs"]
        # The job in the write is on disk and cancelled; what waited behind it without a key is not there.
        self.assertEqual([job["state"] for job in jobs], ["succeeded", "cancelled", "succeeded", "succeeded"])
        self.assertEqual((jobs[1]["labels"], jobs[1]["attempt_count"]), (["in=write"], 0))
        self.assertEqual([got.body for got in self.upstream.seen("/x")], [b"warm", b"kept", b"last"])
        # Nobody was told that it is kept: it counts as refused alone.
        self.metrics_tell(relay, 'waystation_requests_rejected_total{route="up",code="storage_stalled"} 5')
        self.metrics_tell(relay, 'waystation_jobs_finished_total{route="up",state="cancelled"} 0')
        self.metrics_tell(relay, 'waystation_jobs_accepted_total{route="up"} 3')

    def test_the_jobs_of_an_array_are_told_each_for_itself(self):
        relay = self.start()
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", body=b"warm"))
        self.held.touch()
        plain = {"route": "up", "mode": "async", "request": {"path": "/x", "text": "kept"}}
        keyed = {**plain, "request": {**plain["request"], "headers": {"Idempotency-Key": "k"}}}
        jobs = [plain, {**plain, "options": {"timeout": "1s"}}, keyed]
        began = time.monotonic()
        got = relay.ask("POST", "/v1/jobs", [], json.dumps(jobs).encode())
        self.assertLess(time.monotonic() - began, self.within(5))
        self.assertEqual([one["error"]["code"] for one in got.json()["jobs"]], ["storage_stalled"] * 3, got)
        self.held.unlink()
        eventually(lambda: self.state(relay) == "ok", "the disk is back")
        again = relay.ask("POST", "/v1/jobs", [], json.dumps([keyed]).encode()).json()["jobs"][0]
        self.assertTrue(again["replayed"], again)
        self.wait_for_end(relay, again["job"])
        states = [one["state"] for one in relay.ask("GET", "/v1/jobs?order=oldest").json()["jobs"]]
        self.assertEqual(states[1:], ["cancelled", "cancelled", "succeeded"])

    def test_everybody_is_told_of_a_stall_and_of_its_end_and_requests_that_wait_go_on(self):
        relay = self.start()
        self.held.touch()
        began = time.monotonic()
        self.timed(relay, ("Waystation-Timeout", "200ms"))
        eventually(lambda: self.state(relay) == "stalled", "the status tells of it")
        self.assert_problem(ask(relay.control, "GET", "/v1/health/ready"), 503, "storage_stalled")
        self.metrics_tell(relay, 'waystation_store_state{state="stalled"} 1')
        relay.notices.wait("STATUS=", "does not move")
        self.assertLess(time.monotonic() - began, self.within(5))
        relay.errors.wait("<2>the job store does not move")
        self.assertEqual(relay.ask("GET", "/r/up/x").body, b"x", "a request that waits for its answer is not affected")
        self.held.unlink()
        relay.errors.wait("<5>the job store moves again")
        self.assertEqual(ask(relay.control, "GET", "/v1/health/ready").status, 200)
        self.assertEqual(self.state(relay), "ok")
        with Caller(relay.control) as caller:
            caller.send(request("GET", "/v1/events?after=0", [("Accept", "text/event-stream")]))
            self.assertEqual(caller.head().status, 200)
            for word in b"waystation.storage.stalled", b"waystation.storage.resumed":
                caller._until(word)

    def test_what_an_operator_asks_is_answered_within_five_seconds(self):
        relay = self.start()
        later = [self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h")) for _ in range(2)]
        large = self.hand_over(relay, "/r/up/x", body=LARGE)
        self.wait_for_end(relay, large)
        self.held.touch()

        def asked(method, target, document=None):
            began = time.monotonic()
            fields = [("Content-Type", "application/json")] if document else []
            return ask(relay.control, method, target, fields, document), time.monotonic() - began
        calls = [
            ("POST", f"/v1/jobs/{later[0]}/cancel"), ("POST", f"/v1/jobs/{later[1]}/hold"), ("POST", "/v1/routes/up/pause"),
            ("POST", "/v1/jobs/actions", json.dumps(
                {"action": "cancel", "filter": {"ids": [later[1]]}, "dry_run": False}).encode()),
            ("DELETE", f"/v1/jobs/{large}")]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answers = [got.result() for got in [pool.submit(asked, *call) for call in calls]]
        for call, (got, seconds) in zip(calls, answers):
            problem = self.assert_problem(got, 503, "storage_stalled")
            self.assertLess(seconds, self.within(5), call)
            self.assertIn("carried out as soon as it does", problem["detail"])
        # Later ones are not begun, and what only reads goes on.
        for call in calls:
            got, seconds = asked(*call)
            self.assertIn("nothing was done", self.assert_problem(got, 503, "storage_stalled")["detail"])
            self.assertLess(seconds, self.within(1), call)
        for target in f"/v1/jobs/{later[0]}", "/v1/jobs", "/v1/routes/up", f"/v1/jobs/{later[0]}/attempts":
            got, seconds = asked("GET", target)
            self.assertEqual(got.status, 200, target)
            self.assertLess(seconds, self.within(5), target)
        self.held.unlink()
        eventually(lambda: ask(relay.control, "GET", f"/v1/jobs/{later[0]}").json()["state"] == "cancelled", "it is carried out")
        eventually(lambda: ask(relay.control, "GET", "/v1/routes/up").json()["state"] == "paused", "and the pause")

    def test_an_access_token_does_not_wait_for_the_disk_and_its_refresh_token_does(self):
        relay = self.start()
        given = []

        def token(got):
            given.append(dict(urllib.parse.parse_qsl(got.body.decode()))["refresh_token"])
            number = len(given)
            return as_json(200, json.dumps({
                "access_token": f"a{number}", "token_type": "Bearer", "expires_in": 3600,
                "refresh_token": f"r{number}"}))
        self.upstream.on("/token", token)
        good = ["Bearer a1"]
        self.upstream.on("/api", lambda got: answer(200 if got["Authorization"] in good else 401))
        relay.write({"up": route(self.upstream.url, timeouts={"attempt": "3s", "total": "5s"}, auth={
            "type": "oauth2_refresh_token", "token_url": self.upstream.url + "token", "client_id": "c",
            "refresh_token": relay.secret("refresh", "r0"), "failure_cooldown": "100ms"})})
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        self.held.touch()
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        # A refresh token that may be lost in a crash is not used up.
        good[:] = ["Bearer a2"]
        began = time.monotonic()
        self.assertNotEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.assertLess(time.monotonic() - began, self.within(2.5))
        relay.errors.wait("the disk has not answered for 1s")
        self.assertEqual(given, ["r0"])
        self.held.unlink()
        eventually(lambda: relay.ask("GET", "/r/up/api").status == 200, "it goes on with the disk")
        self.assertEqual(given, ["r0", "r1"])

    def test_the_watchdog_is_fed_until_one_write_has_lasted_its_time(self):
        relay = self.start(WATCHDOG_USEC="2000000")

        def fed():
            return len(relay.notices.having("WATCHDOG=1"))
        eventually(lambda: fed() > 2, "it is fed")
        self.held.touch()
        self.timed(relay, ("Waystation-Timeout", "200ms"))
        relay.errors.wait("<2>store", "stands still")
        before = fed()
        # Longer than between two of its meals.
        self.assert_problem(self.timed(relay, ("Waystation-Timeout", "2s"))[0], 503, "storage_stalled")
        self.assertLessEqual(fed(), before + 1)
        self.held.unlink()
        eventually(lambda: fed() > before + 2, "it is fed again")

    def test_who_asks_for_jobs_is_told_within_five_seconds_by_a_disk_that_does_not_read(self):
        relay = self.start(HOLD_READS="store-reader", WATCHDOG_USEC="6000000")
        # The new job changes the store: the reader has read only an earlier state of it.
        id = self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h"))
        self.held.touch()

        def asked(target):
            began = time.monotonic()
            return ask(relay.control, "GET", target), time.monotonic() - began
        targets = [f"/v1/jobs/{id}", "/v1/jobs", f"/v1/jobs/{id}/attempts", f"/v1/jobs/{id}/request/body"]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waiting = [pool.submit(asked, target) for target in targets]
            eventually(lambda: self.held.stat().st_size, "a read is held")
            for target, (got, seconds) in zip(targets, [one.result() for one in waiting]):
                self.assertIn("ask again", self.assert_problem(got, 503, "storage_stalled")["detail"])
                self.assertEqual(got["Retry-After"], "5")
                self.assertLess(seconds, self.within(5), target)
        relay.errors.wait("<2>the job store does not answer", "store-reader")
        for target in targets:
            got, seconds = asked(target)
            self.assert_problem(got, 503, "storage_stalled")
            self.assertLess(seconds, self.within(1), target)
        # Nobody else waits.
        self.assertEqual(relay.ask("GET", "/r/up/x").body, b"x")
        self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h"))
        relay.errors.wait("<2>store-reader stands still")
        before = len(relay.notices.having("WATCHDOG=1"))
        self.held.unlink()
        relay.errors.wait("<5>the job store answers again")
        self.assertEqual(self.look(relay, id)["state"], "scheduled")
        self.assertEqual(len(relay.ask("GET", "/v1/jobs").json()["jobs"]), 2)
        eventually(lambda: len(relay.notices.having("WATCHDOG=1")) > before, "it is fed again")

    def test_a_start_that_looks_through_a_large_store_asks_for_time_while_the_disk_answers(self):
        relay = self.start(HOLD_READS="store", SLOW_READS="300")
        for _ in range(200):
            self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h"), body=bytes(200_000))
        self.assertEqual(relay.stop(), 0)
        state = relay.directory / "state"
        self.assertGreater((state / "jobs.db").stat().st_size, 32 << 20)
        suspect = state / "suspect"
        suspect.touch()
        # The control: a disk that does not answer gets no time.
        self.held.touch()
        self.forget_life(relay)
        relay.launch()
        eventually(lambda: self.held.stat().st_size, "a read is held")
        time.sleep(2.5)
        self.assertEqual(relay.notices.having("EXTEND_TIMEOUT_USEC="), [])
        self.assertEqual(relay.notices.having("READY=1"), [])
        self.held.unlink()
        relay.notices.wait("EXTEND_TIMEOUT_USEC=10000000")
        relay.notices.wait("READY=1", seconds=120)
        self.assertFalse(suspect.exists(), "it was looked through")


if __name__ == "__main__":
    unittest.main()
