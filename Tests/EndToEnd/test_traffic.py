"""A route's requests act together on an upstream in trouble: the breaker, the patience it asks for, and the rate."""

import json
import os
import pathlib
import subprocess
import time
import unittest

from caller import Caller, ask
from durable import DurableTest, again, kept
from relay import PASS_THROUGH, UNBOUNDED, daemon, eventually, route
from upstream import answer


COMMAND = pathlib.Path(daemon()).with_name("waystation")
JSON = [("Content-Type", "application/json")]


class Traffic(DurableTest):
    BREAKER = {"minimum_throughput": 4, "break_duration": "300ms", "max_break_duration": "600ms"}

    def command(self, relay, *words):
        done = subprocess.run(
            [COMMAND, *words], capture_output=True, text=True, timeout=30,
            env={**os.environ, "WAYSTATION_CONTROL_SOCKET": relay.control})
        self.assertEqual(done.returncode, 0, (words, done.stdout, done.stderr))
        return done.stdout

    def test_an_upstream_that_fails_is_sent_nothing_and_found_again_with_no_attempt_burned(self):
        self.upstream.on("/x", answer(502))
        self.upstream.on("/fine", answer(200))
        relay = self.new_relay({
            "up": route(self.upstream.url, circuit_breaker=self.BREAKER),
            "later": kept(self.upstream.url, circuit_breaker=self.BREAKER, recovery=[again(attempts=2)]),
        }).start()
        for _ in range(4):
            self.assertEqual(relay.ask("GET", "/r/up/x").status, 502)
        got = relay.ask("GET", "/r/up/x")
        self.assert_problem(got, 503, "breaker_open")
        self.assertIn("(circuit_breaker): 4 of 4 failed on GET /x", got.json()["detail"])
        self.assertEqual(relay.ask("GET", "/r/up/fine").status, 200, "what the upstream answers goes on")
        self.assertEqual(len(self.upstream.seen("/x")), 4)
        relay.errors.wait("of route up fails: its circuit breaker is open")
        self.upstream.on("/x", answer(200))
        eventually(lambda: relay.ask("GET", "/r/up/x").status == 200, "one request finds out that the upstream is back")
        relay.errors.wait("of route up works again")

    def test_kept_jobs_wait_for_the_breaker_one_probes_and_all_are_delivered(self):
        self.upstream.on("/x", answer(502))
        breaker = dict(self.BREAKER, break_duration="1s", max_break_duration="1s")
        relay = self.new_relay({
            "up": kept(self.upstream.url, circuit_breaker=breaker, recovery=[again(attempts=100)], max_attempts=100),
        }).start()
        ids = [self.hand_over(relay, "/r/up/x", method="PUT") for _ in range(30)]
        eventually(
            lambda: any((self.look(relay, id).get("blocker") or {}).get("reason") == "breaker_open" for id in ids),
            "a job tells that it waits for the breaker")
        before = len(self.upstream.seen("/x"))
        time.sleep(2.5)
        self.assertLessEqual(len(self.upstream.seen("/x")) - before, 5, "one probe at a time")
        self.upstream.on("/x", answer(200))
        for id in ids:
            self.wait_for_end(relay, id)
        attempts = sum(len(self.look(relay, id)["attempts"]) for id in ids)
        self.assertEqual(attempts, len(self.upstream.seen("/x")), "what was held back is no attempt")

    def test_patience_holds_for_the_requests_it_was_asked_for_and_an_operator_lifts_it(self):
        self.upstream.on("/x", answer(503, "", ("Retry-After", "31536000")))
        self.upstream.on("/y", answer(200))
        relay = self.new_relay({
            "up": route(self.upstream.url, throttling={}, timeouts={"total": "10s"}),
            "hasty": route(self.upstream.url, throttling={}, timeouts={"attempt": "1s", "total": "1s"}),
        }).start()
        self.assertEqual(relay.ask("GET", "/r/up/x").status, 503)
        self.assertEqual(relay.ask("GET", "/r/up/y").status, 200, "another path is not held")
        self.assertEqual(relay.ask("GET", "/r/hasty/x").status, 503)
        problem = self.assert_problem(relay.ask("GET", "/r/hasty/x"), 429, "rate_limited")
        self.assertIn("has asked for patience with GET /x", problem["detail"])
        self.assertEqual(len(self.upstream.seen("/x")), 2)
        self.assertIn("it has asked GET /x to wait until", self.command(relay, "limits", "hasty"))
        self.command(relay, "limits", "hasty", "--clear", "--class", "GET /y")
        self.assert_problem(relay.ask("GET", "/r/hasty/x"), 429, "rate_limited")
        self.command(relay, "limits", "hasty", "--clear", "--class", "GET /x")
        relay.errors.wait("cleared the limits of route hasty: GET /x of upstream")
        self.assertEqual(relay.ask("GET", "/r/hasty/x").status, 503, "it is sent again")
        self.assertEqual(len(self.upstream.seen("/x")), 3)

    def test_an_operator_has_the_last_word_about_a_breaker(self):
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({
            "up": route(self.upstream.url, circuit_breaker=self.BREAKER), "off": route(self.upstream.url, **UNBOUNDED),
            "kept": kept(self.upstream.url, circuit_breaker=self.BREAKER),
        }).start()
        told = ask(relay.control, "PUT", "/v1/routes/up/breaker", body=b'{"state": "open", "for": "1h"}', fields=JSON).json()
        self.assertEqual(told["upstreams"][0]["breaker"], "forced_open", told)
        self.assert_problem(relay.ask("GET", "/r/up/x"), 503, "breaker_open")
        self.command(relay, "breaker", "kept", "open")
        id = self.hand_over(relay, "/r/kept/x", method="PUT")
        eventually(lambda: self.look(relay, id)["blocker"]["reason"] == "breaker_open", "the job tells what it waits for")
        blocker = self.look(relay, id)["blocker"]
        self.assertLess(blocker["since"], blocker["until"])
        self.assertIn("breaker kept closed", self.command(relay, "explain", id))
        self.assertIn("breaker forced open", self.command(relay, "routes", "kept"))
        self.command(relay, "breaker", "kept", "auto")
        self.wait_for_end(relay, id)
        ask(relay.control, "PUT", "/v1/routes/up/breaker", JSON, b'{"state": "closed"}')
        self.upstream.on("/x", answer(500))
        for _ in range(10):
            self.assertEqual(relay.ask("GET", "/r/up/x").status, 500)
        got = ask(relay.control, "PUT", "/v1/routes/off/breaker", JSON, b'{"state": "open"}')
        self.assertIn("circuit_breaker", self.assert_problem(got, 400, "bad_request")["detail"])
        for bad in b"{}", b'{"state": "ajar"}', b'{"state": "open", "upstream": "nowhere"}', b'{"state": "open", "for": "1y"}':
            self.assertEqual(ask(relay.control, "PUT", "/v1/routes/up/breaker", JSON, bad).status, 400, bad)

    def test_the_limits_of_a_route_are_shown_with_their_present_values(self):
        self.upstream.on("/x", answer(502))
        relay = self.new_relay({"up": route(
            self.upstream.url, circuit_breaker=dict(self.BREAKER, sampling_duration="30s", break_duration="1m", max_break_duration="2m"),
            retry_budget={}, adaptive_concurrency={}, concurrency={"max_requests": 7, "max_pending_requests": 9},
            rate_limit={"max_requests": 100, "per": "1h", "burst": 10}), "free": route(self.upstream.url)}).start()
        self.assertNotIn("ordinary_path", json.loads(self.command(relay, "limits", "free", "-o", "json")))
        self.assertNotIn("passed through", self.command(relay, "limits", "free"))
        told = json.loads(self.command(relay, "limits", "up", "-o", "json"))
        counts = {"attempts": 0, "failed": 0, "failed_in_a_row": 0, "span_ms": 30000}
        self.assertEqual((told["upstreams"][0]["counts"], told["retries_left"], told["turns_left"]), (counts, 3, 10))
        for _ in range(3):
            relay.ask("GET", "/r/up/x")
        told = json.loads(self.command(relay, "limits", "up", "-o", "json"))
        counts.update(attempts=3, failed=3, failed_in_a_row=3)
        self.assertEqual((told["upstreams"][0]["counts"], told["turns_left"]), (counts, 7))
        relay.ask("GET", "/r/up/x")
        self.assertEqual(told["ordinary_path"]["reason"], "limits")
        text = self.command(relay, "limits", "up")
        self.assertIn("none is passed through: the route or its callers are bounded by rate, number or planned windows", text)
        for words in ("0 of 7 taken, 0 of 9 places", "of a window of 7", "open since", "probed at", "6 attempts may begin now"):
            self.assertIn(words, text)

    @unittest.skipIf("promote" in PASS_THROUGH, "there, all are promoted")
    def test_a_request_tells_why_it_was_not_passed_through(self):
        # Operators' requests go the same way as everybody's.
        for door in "jobs", "control":
            with self.subTest(door=door):
                self.upstream.on("/x", answer(200), answer(503), answer(200))
                relay = self.new_relay({"up": route(self.upstream.url)}).start()
                with Caller(getattr(relay, door)) as caller:
                    first, refused, plain = (caller.ask("GET", "/r/up/x", [("Accept", "*/*")]) for _ in range(3))
                for got, reason in (first, "connection"), (refused, "status"):
                    self.assertEqual(relay.job(got)["ordinary_path"]["reason"], reason, got)
                self.assertIn(
                    "took the ordinary path, which costs the relay more: the status is none that is passed on at once",
                    self.command(relay, "explain", refused["Waystation-Job"]))
                self.assertNotIn("ordinary_path", relay.job(plain))

    def test_a_rate_is_kept_to(self):
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({
            "up": kept(self.upstream.url, rate_limit={"max_requests": 10, "per": "1s", "burst": 2}),
        }).start()
        began = time.monotonic()
        for id in [self.hand_over(relay, "/r/up/x", method="PUT") for _ in range(12)]:
            self.wait_for_end(relay, id)
        self.assertGreater(time.monotonic() - began, 0.9)
        self.assertEqual(len(self.upstream.seen("/x")), 12)


if __name__ == "__main__":
    unittest.main()
