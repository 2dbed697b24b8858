"""The part that one caller takes of what all share, and the part that is left to the others."""

import json
import os
import threading
import time
import unittest

from caller import ask, chunked, request
from crowd import crowd, tally
from relay import IS_TIMED, RelayTest, eventually, route
from test_access import ask_as
from upstream import answer

ONE, TWO, THREE = 54001, 54002, 54003


class Fairness(RelayTest):
    def setUp(self):
        if os.getuid():
            self.skipTest("needs root, to be other users")
        self.upstream = self.new_upstream()
        self.upstream.on("/x", answer(200, "x"))

    def standing(self, relay, user):
        return next(caller for caller in relay.status()["callers"] if caller.get("user") == user)

    def test_a_caller_that_is_too_fast_is_told_so_and_no_other(self):
        relay = self.new_relay(
            {"up": route(self.upstream.url)},
            limits={"per_user": {"rate": {"max_requests": 2, "per": "30s", "burst": 3}}}).start()
        got = [relay.ask("GET", "/r/up/x") for _ in range(5)]
        self.assertEqual([one.status for one in got], [200, 200, 200, 429, 429])
        detail = self.assert_problem(got[-1], 429, "rate_limited")["detail"]
        self.assertIn("limits.per_user.rate", detail)
        self.assertIn("uid 0", detail)
        self.assertTrue(10 <= int(got[-1]["Retry-After"]) <= 15, got[-1]["Retry-After"])
        self.assertEqual(relay.ask("GET", "/v1/jobs").status, 429, "the API is no way around it")
        self.assertEqual(ask_as(TWO, relay.jobs, "/r/up/x")[0], 200)
        for _ in range(10):
            self.assertEqual(ask(relay.control, "GET", "/r/up/x").status, 200)
        self.assertEqual(self.standing(relay, 0)["refused"], {"limits.per_user.rate": 3})
        relay.errors.wait("uid 0 came to limits.per_user.rate")
        for _ in range(20):
            relay.ask("GET", "/r/up/x")
        time.sleep(1.2)
        self.assertEqual(len(relay.errors.having("came to limits.per_user.rate")), 1, "no record for each")

    def test_the_jobs_of_an_array_and_of_a_stream_count_each(self):
        relay = self.new_relay(
            {"up": route(self.upstream.url, delivery={"mode": "durable"})},
            limits={"per_user": {"rate": {"max_requests": 3, "per": "1h"}}}).start()
        job = {"route": "up", "request": {"path": "x", "method": "PUT"}}
        told = relay.ask("POST", "/v1/jobs", [("Content-Type", "application/json")], json.dumps([job] * 5).encode()).json()
        self.assertEqual(
            [entry.get("error", {}).get("code") for entry in told["jobs"]], [None] * 3 + ["rate_limited"] * 2, told)
        self.assertEqual(told["refused"], 2, told)

    def test_requests_under_way_have_a_bound_for_one_and_for_all(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.upstream.on("/hold", lambda got: hold.wait(100) and answer(200, "held"))
        relay = self.new_relay(
            {"up": route(self.upstream.url), "other": route(self.upstream.url)},
            limits={"max_requests": 3, "per_user": {"max_requests": 2}}).start()
        held = [relay.caller(100) for _ in range(2)]
        for index, one in enumerate(held):
            one.send(request("GET", "/r/up/hold" if index else "/r/other/hold"))
        eventually(lambda: self.standing(relay, 0)["requests"] == 2, "both are under way")
        got = relay.ask("GET", "/r/up/x")
        self.assertIn("limits.per_user.max_requests", self.assert_problem(got, 503, "overloaded")["detail"])
        self.assertEqual(got["Retry-After"], "1")
        self.assertEqual(ask_as(TWO, relay.jobs, "/r/up/x")[0], 200)
        slow = crowd(TWO, relay.jobs, 1, 3, target="/r/up/hold")
        self.addCleanup(slow.kill)
        eventually(lambda: self.standing(relay, TWO)["requests"] == 1, "all that there may be are under way")
        status, body = ask_as(THREE, relay.jobs, "/r/up/x")
        self.assertEqual((status, "limits.max_requests" in body), (503, True), body)
        self.assertEqual(ask(relay.control, "GET", "/r/up/x").status, 200, "an operator is not refused")
        hold.set()
        for one in held:
            self.assertEqual(one.answer().status, 200)
        tally(slow)
        eventually(lambda: not any(caller["requests"] for caller in relay.status()["callers"]), "no place is lost")
        self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)

    def test_bytes_of_bodies_have_a_bound(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.upstream.on("/hold", lambda got: hold.wait(100) and answer(200, "held"))
        relay = self.new_relay(
            {"up": route(self.upstream.url), "kept": route(self.upstream.url, delivery={"mode": "durable"})},
            limits={"per_user": {"max_bytes": "200KiB"}}).start()
        with relay.caller(100) as holder:
            holder.send(request("PUT", "/r/up/hold", body=b"b" * 150_000))
            eventually(lambda: self.standing(relay, 0)["bytes"] >= 150_000, "it is counted")
            medium = relay.ask("PUT", "/r/up/x", body=b"b" * 100_000)
            self.assertEqual(medium.status, 200, "one that can stream is not refused")
            self.assertEqual(relay.ask("PUT", "/r/up/x", body=b"b" * 40_000).status, 200)
            large = relay.ask("PUT", "/r/up/x", body=b"b" * 400_000)
            self.assertEqual(large.status, 200, "one that streams goes on without a copy")
            self.assertIn("limits.per_user.max_bytes", relay.job(large)["request"]["sent_once_because"])
            with relay.caller(100) as small:
                small.send(request("PUT", "/r/up/x", [("Transfer-Encoding", "chunked")]) + chunked(b"b" * 100))
                self.assertEqual(small.answer().status, 200, "nobody knows its size before it comes")
            hold.set()
            self.assertEqual(holder.answer().status, 200)
        eventually(lambda: all(caller["bytes"] == 0 for caller in relay.status()["callers"]), "all is given back")

    def test_each_job_of_an_array_and_of_a_stream_is_a_request(self):
        routes = {"up": route(self.upstream.url, delivery={"mode": "durable"}, idempotency={"generate": True})}
        job = {"route": "up", "request": {"path": "x", "method": "PUT"}}

        def array(relay, count):
            got = relay.ask("POST", "/v1/jobs", [("Content-Type", "application/json")], json.dumps([job] * count).encode())
            self.assertEqual(got.status, 200, got.body)
            return [entry.get("error", {}) for entry in got.json()["jobs"]]

        def codes(errors):
            return [error.get("code") for error in errors]

        def stream(relay, count):
            got = relay.ask("POST", "/v1/stream?order=input&max_in_flight=64", [("Content-Type", "application/x-ndjson")],
                            (json.dumps(job) + "\n").encode() * count)
            return [json.loads(line).get("error", {}) for line in got.body.splitlines()]

        relay = self.new_relay(routes, limits={"per_user": {"rate": {"max_requests": 8, "per": "80s"}}}).start()
        self.assertEqual(codes(array(relay, 3)), [None] * 3)
        self.assertEqual(codes(stream(relay, 2)), [None] * 2)
        refused = array(relay, 5)
        self.assertEqual(codes(refused), [None] * 3 + ["rate_limited"] * 2)
        self.assertTrue(5_000 <= refused[-1]["retry_after_ms"] <= 10_000, refused)
        self.assertEqual(codes(stream(relay, 1)), ["rate_limited"])
        self.assert_problem(relay.ask("PUT", "/r/up/x"), 429, "rate_limited")
        self.assertEqual(ask_as(TWO, relay.jobs, "/r/up/x", method="PUT")[0], 202)

        relay = self.new_relay(routes, limits={"per_user": {"max_requests": 4}}).start()
        self.assertEqual(codes(array(relay, 6)), [None] * 4 + ["overloaded"] * 2)
        self.assertEqual(codes(array(relay, 4)), [None] * 4, "each is over once it is on disk")

    def test_a_body_that_is_kept_counts_once(self):
        self.upstream.on("/busy", answer(503, "no"))
        closed = self.new_upstream()
        closed.close()
        keeping = {"recovery": [
            {"name": "answer", "on": ["any"], "respond": {"as": "placeholder", "status": 200, "json": {}, "and": "keep"}},
            {"name": "later", "on": ["any"], "retry": {"max_attempts": 10, "backoff": {"type": "constant", "base_interval": "1h"}}}],
            "idempotency": {"generate": True}}
        relay = self.new_relay(
            {"kept": route(self.upstream.url, delivery={"mode": "durable"}),
             "up": route(self.upstream.url, **keeping), "down": route(closed.url, **keeping)},
            limits={"per_user": {"max_bytes": "200KiB"}, "replay_buffer": "64KiB"}).start()

        def ask_alone(*members, **others):
            eventually(lambda: all(caller["bytes"] == 0 for caller in relay.status()["callers"]), "all is given back")
            return relay.ask(*members, **others)

        text = "b" * 150_000
        job = {"route": "kept", "mode": "async", "request": {"method": "PUT", "path": "x", "text": text}}
        fields = [("Content-Type", "application/json")]
        self.assertEqual(ask_alone("POST", "/v1/jobs", fields, json.dumps(job).encode()).status, 202)
        told = ask_alone("POST", "/v1/jobs", fields, json.dumps([job]).encode()).json()
        self.assertEqual(told.get("refused"), 0, told)
        for target in ("/r/up/busy", "/r/down/x"):
            got = ask_alone("PUT", target, body=text.encode())
            self.assertEqual(got["Waystation-Kept"], "true", (target, got.fields))
            got = ask_alone("PUT", target, body=text.encode() * 2)
            self.assertTrue(got["Waystation-Kept"].startswith("false"), (target, got.fields))
        self.assertIn("limits.per_user.max_bytes", got["Waystation-Kept"])
        got = ask_alone("PUT", "/r/kept/x", body=text.encode() * 2)
        self.assertIn("limits.per_user.max_bytes", self.assert_problem(got, 503, "overloaded")["detail"])

    def test_kept_jobs_of_one_user_have_a_bound_that_outlives_a_restart(self):
        relay = self.new_relay(
            {"up": route(self.upstream.url, delivery={"mode": "durable"})},
            limits={"per_user": {"max_queued_jobs": 3}}).start()
        self.assertEqual(ask(relay.control, "POST", "/v1/routes/up/pause", body=b'{"reason": "test"}',
                             fields=[("Content-Type", "application/json")]).status, 200)
        for _ in range(2):
            self.assertEqual(relay.ask("PUT", "/r/up/x", body=b"b").status, 202)
        job = {"route": "up", "request": {"path": "x", "method": "PUT"}}
        told = relay.ask("POST", "/v1/jobs", [("Content-Type", "application/json")], json.dumps([job] * 3).encode()).json()
        self.assertEqual([entry.get("error", {}).get("code") for entry in told["jobs"]], [None] + ["queue_full"] * 2, told)
        got = relay.ask("PUT", "/r/up/x", body=b"b")
        self.assertIn("limits.per_user.max_queued_jobs", self.assert_problem(got, 503, "queue_full")["detail"])
        self.assertEqual(ask_as(TWO, relay.jobs, "/r/up/x", method="PUT")[0], 202)
        relay.stop()
        relay = self.new_relay(
            {"up": route(self.upstream.url, delivery={"mode": "durable"})}, directory=relay.directory,
            limits=relay.members["limits"])
        os.unlink(relay.directory / "notify")
        relay.start()
        eventually(lambda: relay.ask("PUT", "/r/up/x", body=b"b").status == 503, "the jobs on disk are counted")
        self.assertEqual(ask(relay.control, "POST", "/v1/routes/up/resume").status, 200)
        eventually(lambda: relay.ask("PUT", "/r/up/x", body=b"b").status == 202, "there is room again")

    def slow(self, seconds=0.02, **members):
        """A route that is full with eight requests, each of which takes so long."""
        self.upstream.on("/slow", lambda got: time.sleep(seconds) or answer(200, "x"))
        return self.new_relay({"up": route(
            self.upstream.url, concurrency={"max_requests": 8, "max_pending_requests": 1000},
            timeouts={"attempt": "30s", "total": "60s"})}, **members).start()

    def test_callers_that_hog_a_route_each_have_the_same_part_of_it(self):
        relay = self.slow()
        crowds = [crowd(user, relay.jobs, count, 4, target="/r/up/slow")
                  for user, count in ((ONE, 100), (TWO, 30), (THREE, 12))]
        told = [tally(one) for one in crowds]
        answered = [one["answered"] for one in told]
        for count in answered:
            self.assertAlmostEqual(count, sum(answered) / 3, delta=sum(answered) / 30, msg=str(told))

    def good(self, relay, *others):
        """The figures of a caller with one request at a time, beside others."""
        others = [crowd(user, relay.jobs, count, 9, mode, target) for user, count, mode, target in others]
        time.sleep(0.5)
        # Long enough for a machine that is busy otherwise to answer as often as the test asks for.
        good = tally(crowd(TWO, relay.jobs, 1, 7, "paced", "/r/up/slow"))
        for other in others:
            tally(other)
        return good

    def test_neither_a_hog_nor_a_flood_nor_slow_drips_move_another_callers_times(self):
        # A machine that is busy otherwise takes tens of milliseconds by itself.
        seconds = 0.02 if IS_TIMED else 0.06
        relay = self.slow(seconds)
        good = self.good(
            relay, (ONE, 120, "flood", "/r/up/slow"), (ONE, 60, "flood", "/r/up/none"), (ONE, 60, "drip", "/"))
        control = self.good(
            self.slow(seconds, limits={"per_user": {"enabled": False}}), (ONE, 120, "flood", "/r/up/slow"))
        self.assertGreater(good["answered"], 20, good)
        self.assertLess(good["p99"], 1000 * self.within(0.05), (good, control))
        self.assertGreater(control["p50"], 4 * good["p50"], (good, control))


if __name__ == "__main__":
    unittest.main()
