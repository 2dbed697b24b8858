"""config/examples: other upstreams and other answers when the first one fails."""

import json
import pathlib
import subprocess
import time
import unittest

from caller import ask
from examples import ExampleTest
from relay import daemon, eventually
from upstream import Close, answer, as_json

JSON = [("Content-Type", "application/json")]


class Stale(ExampleTest):
    def setUp(self):
        super().setUp()
        self.relay = self.example("stale")

    def test_the_last_good_answer_stands_in_and_says_so(self):
        self.first.on("/eur", as_json(200, '{"rates": [1.08]}', ("ETag", '"a"')), as_json(200, '{"rates": [1.09]}'),
                      answer(500, "broken"), Close())
        for _ in range(2):
            self.assertEqual(self.relay.curl("/r/rates/eur")["Waystation-Source"], "upstream")
        got = self.relay.curl("/r/rates/eur")
        self.assertEqual((got.status, got.json()), (200, {"rates": [1.09]}), "the last, not the first")
        job = self.assert_timeline(self.relay, got, (500, "respond"), source="stale", outcome="stale")
        self.assertEqual((job["attempts"][0]["rule"], job["attempts"][0]["next_source"]), ("last-good", "stale"))
        got = self.relay.curl("/r/rates/eur")
        self.assertEqual((got.json(), got["Waystation-Source"], got["Waystation-Attempts"]),
                         ({"rates": [1.09]}, "stale", "2"))

    def test_a_placeholder_stands_in_for_what_was_never_good(self):
        self.first.on("/eur", as_json(200, '{"rates": [1.08]}'))
        self.first.on("/usd", answer(500))
        self.relay.curl("/r/rates/eur")
        for target, arguments in ("/usd", ()), ("/eur?at=noon", ()), ("/eur", ("-d", "x")):
            self.first.on("/eur", answer(500))
            got = self.relay.curl("/r/rates" + target, *arguments)
            self.assertEqual((got.status, got.json()), (200, {"rates": []}), target)
            self.assert_timeline(self.relay, got, (500, "respond"), source="placeholder", outcome="placeholder")
        self.assertEqual(self.relay.curl("/r/rates/eur")["Waystation-Source"], "stale")


class Closed(ExampleTest):
    def test_a_closed_route_keeps_jobs_and_has_a_placeholder(self):
        relay = self.example("closed")
        got = relay.curl("/r/ledger/x")
        self.assertEqual((got.status, got.json()), (200, {"closed": True}))
        self.assert_timeline(relay, got, ("route_closed", "respond"), source="placeholder", outcome="placeholder")
        got = relay.ask("GET", "/r/ledger/x", [("Prefer", "respond-async")])
        self.assertEqual((got.status, relay.job(got)["blocker"]["reason"]), (202, "route_closed"))
        self.assertEqual(self.first.requests, [])


class Report(ExampleTest):
    def test_all_three_tell_and_the_old_rule_answers(self):
        relay = self.example("report")
        self.first.on("/x", *[answer(500)] * 2, answer(503))
        for _ in range(3):
            got = relay.curl("/r/orders/x")
            self.assertEqual((got.status, got.json(), got["Waystation-Source"]), (200, {"orders": []}, "placeholder"))
        self.assertEqual(len(self.first.requests), 3)
        reporting = ask(relay.control, "GET", "/v1/routes/orders").json()["reporting"]
        self.assertEqual([each["name"] for each in reporting], ["circuit_breaker", "rate_limit", "new"])


class Online(ExampleTest):
    def test_each_upstream_is_asked_what_changes_nothing(self):
        relay = self.example("online")
        for upstream in self.first, self.second:
            upstream.on("/good", answer(200))
        done = subprocess.run(
            [daemon(), "--check", "--online", str(relay.file)], capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        for upstream in self.first, self.second:
            self.assertEqual([(each.method, each.path) for each in upstream.requests], [("GET", "/good")])


class Placeholder(ExampleTest):
    # clauses: UC-04, N-14
    def test_the_placeholder_depends_on_the_failure_and_is_marked(self):
        relay = self.example("placeholder")
        for step, kind, body in (
            (answer(404), 404, {"ip": None}), (answer(500), 500, {"ip": "192.0.2.1"}),
            (answer(200, "<p>"), "decoding", {"ip": "192.0.2.1"}),
            (Close(), "connection_terminated", {"ip": "192.0.2.1"}),
        ):
            with self.subTest(kind):
                self.first.on("/ip", step)
                got = relay.curl("/r/ip-lookup/ip")
                self.assertEqual((got.status, got.json(), got["Content-Type"]), (200, body, "application/json"))
                job = self.assert_timeline(relay, got, (kind, "respond"), source="placeholder", outcome="placeholder")
                self.assertEqual(job["attempts"][0]["rule"], "unknown" if kind == 404 else "placeholder")
                relay.errors.wait(f"<4>job {job['id']}: route ip-lookup answered with its placeholder")
        self.first.on("/ip", as_json(200, '{"ip": "198.51.100.7"}'))
        got = relay.curl("/r/ip-lookup/ip")
        self.assertEqual((got.json(), got["Waystation-Source"]), ({"ip": "198.51.100.7"}, "upstream"))

    # clauses: N-14
    def test_a_caller_may_ask_for_the_failure_itself(self):
        relay = self.example("placeholder")
        self.first.on("/ip", answer(500, "broken"))
        got = relay.curl("/r/ip-lookup/ip", "-H", "Waystation-Fallback: off")
        self.assertEqual((got.status, got.body, got["Waystation-Source"]), (500, b"broken", "upstream"))


class Fallback(ExampleTest):
    # clauses: UC-04, N-14
    def test_every_way_of_failing_is_one_honest_503_when_the_attempts_are_spent(self):
        relay = self.example("fallback")
        for step, kind in (answer(500, "trace back …".encode()), 500), (Close(), "connection_terminated"):
            self.first.on("/charges", step)
            got = relay.curl("/r/billing/charges")
            self.assertEqual(
                (got.status, got.json(), got["Retry-After"]), (503, {"error": "billing_unavailable"}, "30"))
            self.assert_timeline(relay, got, (kind, "retry"), (kind, "respond"), source="fallback", outcome="fallback")

    def test_what_no_rule_tries_again_is_passed_on(self):
        relay = self.example("fallback")
        self.first.on("/charges", answer(402, "no money"))
        got = relay.curl("/r/billing/charges")
        self.assertEqual((got.status, got.body, got["Waystation-Source"]), (402, b"no money", "upstream"))


class NeverFails(ExampleTest):
    def breaches(self):
        return self.relay.status()["routes"][0]["never_fails_breaches"]

    # clauses: N-14
    def test_the_upstreams_failures_never_reach_the_caller_and_a_breach_is_counted(self):
        self.relay = self.example("never-fails")
        for step in answer(500), answer(404), Close(), answer(302, "", ("Location", "/")):
            self.first.on("/beat", step)
            got = self.relay.curl("/r/heartbeat/beat")
            self.assertEqual((got.status, got.json(), got["Waystation-Source"]), (200, {"valid": False}, "placeholder"))
        self.assertEqual(self.breaches(), 0)
        self.first.forget()
        got = self.relay.curl("/r/heartbeat/beat", "-d", "no json")
        self.assertEqual((got["Waystation-Source"], self.first.requests), ("relay", []))
        self.assertEqual(self.relay.job(got)["last_failure"]["kind"], "preparation")
        self.assertEqual(self.breaches(), 1)
        self.relay.errors.wait(got["Waystation-Job"], "<3>", "which never fails")
        self.relay.notices.wait("STATUS=", "never_fails breached 1")
        self.first.on("/beat", answer(200, "alive"))
        self.assertEqual(self.relay.curl("/r/heartbeat/beat").body, b"alive", "the relay goes on")
        self.assertEqual(self.breaches(), 1)


class Failover(ExampleTest):
    def setUp(self):
        super().setUp()
        self.relay = self.example("failover")
        self.first.on("/charges", answer(503, "eu is closed"))

    def upstreams(self, got):
        return [attempt["upstream"] for attempt in self.relay.job(got)["attempts"]]

    def test_the_second_region_serves_while_the_first_fails(self):
        self.second.on("/charges", answer(201, "us"))
        got = self.relay.curl("/r/billing/charges", "-d", "17", "-H", 'Idempotency-Key: "17"')
        self.assertEqual((got.status, got.body), (201, b"us"))
        job = self.assert_timeline(self.relay, got, (503, "failover"), (201, None))
        self.assertEqual(self.upstreams(got), ["eu", "us"])
        self.assertEqual(job["attempts"][0]["next_upstream"], "us")
        self.assertEqual(self.second.seen("/charges")[0].body, b"17")
        self.first.on("/charges", answer(201, "eu"))
        self.assertEqual(self.upstreams(self.relay.curl("/r/billing/charges")), ["eu"])

    def test_a_second_region_that_fails_is_left_alone_until_it_has_cooled_down(self):
        self.second.on("/charges", answer(503, "us is closed"), answer(200, "us"))
        got = self.relay.curl("/r/billing/charges")
        self.assertEqual((got.status, got.body, self.upstreams(got)), (503, b"us is closed", ["eu", "us"]))
        failed = self.second.seen("/charges")[0].at
        count = 0
        while True:
            got = self.relay.curl("/r/billing/charges")
            if got.status == 200:
                break
            count += 1
            self.assertEqual((got.body, self.upstreams(got)), (b"eu is closed", ["eu"]))
            self.assertLess(time.monotonic() - failed, self.within(6), "the cooldown ends")
            # Ten failures in a row would open the breaker.
            time.sleep(0.25)
        self.assertGreater(count, 3)
        entered = self.second.seen("/charges")[1].at
        self.assertGreaterEqual(entered - failed, 2)
        self.assertEqual((got.body, self.upstreams(got)), (b"us", ["eu", "us"]))


class Constrained(ExampleTest):
    def setUp(self):
        super().setUp()
        self.relay = self.example("constrained")
        self.file = self.relay.directory / "constrained"
        self.first.on("/cat", answer(200, "full"))
        self.second.on("/cat", answer(200, "light"))

    def body(self):
        return self.relay.ask("GET", "/r/images/cat").body

    def say(self, state):
        body = json.dumps({"state": state}).encode()
        self.assertEqual(ask(self.relay.control, "PUT", "/v1/constrained", JSON, body).status, 200)

    # clauses: UC-21, UC-24
    def test_the_light_upstream_takes_the_place_of_the_first_while_a_file_says_so(self):
        self.assertEqual(self.body(), b"full")
        self.file.touch()
        eventually(lambda: self.body() == b"light", "the light upstream serves")
        self.first.forget()
        got = self.relay.curl("/r/images/cat")
        self.assert_timeline(self.relay, got, (200, None))
        self.assertEqual(self.relay.job(got)["attempts"][0]["upstream"], "light")
        self.assertIn('next-hop="light"', got["Proxy-Status"], "the answer says where it is from")
        self.assertEqual(self.first.requests, [], "the first is not asked before")
        self.file.unlink()
        eventually(lambda: self.body() == b"full", "the first serves again")

    # clauses: UC-21
    def test_an_operator_says_so_on_the_command_line(self):
        command = pathlib.Path(daemon()).with_name("waystation")
        if not command.exists():
            self.skipTest("the command is not built")
        for word, body in ("on", b"light"), ("off", b"full"):
            subprocess.run([command, "constrained", word], check=True, capture_output=True, timeout=20,
                           env={"WAYSTATION_CONTROL_SOCKET": self.relay.control})
            self.assertEqual(self.body(), body)

    # clauses: UC-22
    def test_a_failure_alone_never_leads_to_the_light_upstream(self):
        for step, status in (answer(503, "closed"), 503), (answer(204), 204), (Close(), 502):
            self.first.on("/cat", step)
            got = self.relay.curl("/r/images/cat")
            self.assertEqual((got.status, len(self.relay.job(got)["attempts"])), (status, 1))
        self.assertEqual(self.second.requests, [])

    # clauses: UC-23, UC-24
    def test_the_light_upstreams_answers_are_judged_alike_and_it_has_no_substitute(self):
        self.say("on")
        for step, status in (answer(503, "closed"), 503), (answer(204), 204), (answer(206, "half"), 206):
            self.second.on("/cat", step)
            got = self.relay.curl("/r/images/cat")
            self.assertEqual(got.status, status)
            job = self.assert_timeline(self.relay, got, (status, None), outcome="failure")
            self.assertEqual(job["attempts"][0]["upstream"], "light")
        self.assertEqual(self.first.requests, [])

    # clauses: UC-21, UC-24
    def test_a_lighter_form_takes_the_place_of_a_request_below_the_same_base(self):
        self.first.on("/cat.png", answer(200, "full"))
        self.first.on("/low/cat.png", answer(200, "small"))
        for state, body in ("off", b"full"), ("on", b"small"):
            self.say(state)
            self.assertEqual(self.relay.ask("GET", "/r/thumbnails/cat.png?size=full").body, body)
        self.assertEqual(self.first.seen("/low/cat.png")[0].target, "/low/cat.png?size=small")

    # clauses: UC-21, UC-22
    def test_videos_are_refused_and_reports_wait(self):
        self.first.on("/v", answer(200, "video"))
        self.first.on("/r", answer(200, "report"))
        self.say("on")
        self.assert_problem(self.relay.ask("GET", "/r/videos/v"), 503, "network_constrained")
        got = self.relay.ask("GET", "/r/reports/r", [("Prefer", "respond-async")])
        eventually(lambda: self.relay.job(got).get("reason") == "network_constrained", "the report is held")
        self.assertEqual(self.first.seen("/v") + self.first.seen("/r"), [])
        self.say("off")
        eventually(lambda: self.relay.job(got)["state"] == "succeeded", "the report goes on")
        self.assertEqual(self.relay.ask("GET", "/r/videos/v").body, b"video")


if __name__ == "__main__":
    unittest.main()
