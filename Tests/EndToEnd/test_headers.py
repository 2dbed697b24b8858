"""The fields that the relay adds, removes and obeys in a drop-in request."""

import time
import unittest

from relay import RelayTest, route
from upstream import answer

RETRY = {"name": "again", "on": ["5xx"], "retry": {"max_attempts": 5, "backoff": {
    "type": "constant", "base_interval": "10ms"}}}


class Headers(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        cls.relay = cls.shared_relay({})
        cls.relay.write({
            "up": route(cls.upstream.url, recovery=[RETRY]),
            "based": route(cls.upstream.url + "api/v1/"),
            "bearer": route(cls.upstream.url, auth={"type": "bearer", "token": cls.relay.secret("token", "s3cret\n")}),
            "basic": route(cls.upstream.url, auth={
                "type": "basic", "username": "shop", "password": cls.relay.secret("password", "p4ss")}),
            "key": route(cls.upstream.url, auth={
                "type": "header", "name": "X-Api-Key", "value": cls.relay.secret("key", "k3y")}),
            "traced": route(cls.upstream.url, request={"propagate": "caller"}),
            "tracing": route(cls.upstream.url, request={"headers": {"set": {"Baggage": "team=shop"}}}),
            "set": route(cls.upstream.url, request={
                "headers": {"set": {"X-Client": "shop"}, "remove": ["Cookie"]}, "wrap": "/request"},
                response={"unwrap": "/data"}),
            "stamped": route(cls.upstream.url, recovery=[RETRY], idempotency={"header": "Idempotency-Key", "generate": True},
                             prepare=[{"each": "attempt", "set_header": {"X-Attempt": "{attempt}"}},
                                      {"each": "job", "set_header": {"X-Job": "{job.id}"}}]),
            "fallback": route(cls.upstream.url, recovery=[
                {"name": "stand-in", "on": ["any"], "respond": {"as": "fallback", "status": 299, "text": "stand-in"}}]),
        })
        cls.relay.start()

    def setUp(self):
        self.upstream.forget()
        self.upstream.on("/x", answer(200, "x"))
        self.upstream.on("/fail", answer(500, "failed"))

    def seen(self, path="/x"):
        return self.upstream.seen(path)[-1]

    def test_hop_by_hop_fields_of_the_caller_stay_here(self):
        self.relay.ask("GET", "/r/up/x", [
            ("Connection", "keep-alive, X-Mine"), ("X-Mine", "1"), ("Keep-Alive", "timeout=5"), ("TE", "trailers"),
            ("Upgrade", "h2c"), ("Proxy-Authorization", "Basic eA=="), ("Proxy-Connection", "close"), ("X-Other", "2")])
        for name in "X-Mine", "Keep-Alive", "TE", "Upgrade", "Proxy-Authorization", "Proxy-Connection":
            self.assertIsNone(self.seen()[name], name)
        self.assertEqual(self.seen()["X-Other"], "2")

    def test_the_trace_of_a_caller_stays_here_unless_its_route_passes_it_on(self):
        trace = [("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), ("Tracestate", "a=b"),
                 ("BAGGAGE", "user=ann")]
        # A request that is tried again, or has a field to be looked into, goes the ordinary way.
        for path in "/x", "/fail":
            for more in [("X-Other", "2")], [("X-Other", "2"), ("Waystation-Timeout", "20s")]:
                with self.subTest(path=path, more=more):
                    self.upstream.forget()
                    self.relay.ask("GET", f"/r/up{path}", trace + more)
                    for seen in self.upstream.seen(path):
                        self.assertEqual([seen[name] for name, _ in trace] + [seen["X-Other"]], [None] * 3 + ["2"])
                    self.relay.ask("GET", f"/r/tracing{path}", trace + more)
                    self.assertEqual([self.seen(path)[name] for name, _ in trace], [None, None, "team=shop"])
        self.relay.ask("GET", "/r/traced/x", trace)
        self.assertEqual([self.seen()[name] for name, _ in trace], [value for _, value in trace])

    def test_hop_by_hop_fields_of_the_upstream_stay_here(self):
        self.upstream.on("/hop", answer(
            200, "x", ("Connection", "X-Mine"), ("X-Mine", "1"), ("Keep-Alive", "timeout=5"),
            ("Proxy-Authenticate", "Basic"), ("Upgrade", "h2c"), ("X-Other", "2"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")))
        got = self.relay.ask("GET", "/r/up/hop")
        for name in "X-Mine", "Keep-Alive", "Proxy-Authenticate", "Upgrade":
            self.assertIsNone(got[name], name)
        self.assertEqual((got["X-Other"], got.all("Set-Cookie")), ("2", ["a=1", "b=2"]))

    def test_the_upstream_is_asked_by_its_own_name_with_via(self):
        self.relay.ask("GET", "/r/up/x?a=1&b=%20%2F", [("Via", "1.0 other")])
        self.assertEqual(self.seen()["Host"], f"127.0.0.1:{self.upstream.port}")
        self.assertEqual(self.seen().target, "/x?a=1&b=%20%2F")
        self.assertEqual(", ".join(self.seen().all("Via")), "1.0 other, 1.1 waystationd")

    def test_the_base_path_of_the_upstream_stands_before_the_target(self):
        self.upstream.on("/api/v1/orders/7", answer(200, "order"))
        self.assertEqual(self.relay.ask("GET", "/r/based/orders/7").body, b"order")

    def test_a_request_that_came_round_is_a_loop(self):
        got = self.relay.ask("GET", "/r/up/x", [("Via", "1.1 other, 1.1 waystationd")])
        self.assert_problem(got, 508, "loop")
        self.assertEqual(self.upstream.seen("/x"), [])

    def test_the_routes_credentials_replace_the_callers(self):
        for name, field, value in [
            ("bearer", "Authorization", "Bearer s3cret"), ("basic", "Authorization", "Basic c2hvcDpwNHNz"), ("key", "X-Api-Key", "k3y"),
        ]:
            with self.subTest(name):
                self.relay.ask("GET", f"/r/{name}/x", [("Authorization", "Bearer mine"), ("X-Api-Key", "mine")])
                self.assertEqual(self.seen().all(field), [value])

    def test_a_route_without_credentials_passes_the_callers_on(self):
        self.relay.ask("GET", "/r/up/x", [("Authorization", "Bearer mine")])
        self.assertEqual(self.seen()["Authorization"], "Bearer mine")

    def test_fields_only_the_relay_may_send_are_dropped_from_an_answer(self):
        self.upstream.on("/fake", answer(200, "x", ("Waystation-Source", "placeholder"), ("waystation-job", "forged")))
        got = self.relay.ask("GET", "/r/up/fake")
        self.assertEqual(got.all("Waystation-Source"), ["upstream"])
        self.assertEqual(len(got.all("Waystation-Job")), 1)
        self.assertNotEqual(got["Waystation-Job"], "forged")

    def test_the_relays_own_fields_never_reach_the_upstream(self):
        self.relay.ask("GET", "/r/up/x", [
            ("Waystation-Timeout", "5s"), ("Waystation-Attempt-Timeout", "1s"), ("Waystation-Max-Attempts", "1"),
            ("Waystation-Fallback", "off"), ("Prefer", "wait=5")])
        self.assertEqual([n for n, _ in self.seen().fields if n.lower().startswith(("waystation", "prefer"))], [])

    def test_max_attempts_lowers_the_routes(self):
        got = self.relay.ask("GET", "/r/up/fail", [("Waystation-Max-Attempts", "2")])
        self.assertEqual((got.status, got["Waystation-Attempts"]), (500, "2"))
        self.assertEqual(self.relay.ask("GET", "/r/up/fail", [("Waystation-Max-Attempts", "99")])["Waystation-Attempts"], "5")

    def test_timeout_bounds_the_whole_job(self):
        self.upstream.on("/mute", lambda got: got.connection.wait_for_end() and None)
        began = time.monotonic()
        got = self.relay.ask("GET", "/r/up/mute", [("Waystation-Timeout", "200ms")])
        self.assert_problem(got, 504, "deadline_exceeded")
        self.assertLess(time.monotonic() - began, self.within(2))

    def test_attempt_timeout_bounds_one_attempt(self):
        self.upstream.on("/mute", lambda got: got.connection.wait_for_end() and None)
        got = self.relay.ask("GET", "/r/up/mute", [("Waystation-Attempt-Timeout", "200ms")])
        self.assert_problem(got, 504, "upstream_timeout")

    def test_fallback_off_shows_the_upstreams_own_answer(self):
        self.assertEqual(self.relay.ask("GET", "/r/fallback/fail").status, 299)
        got = self.relay.ask("GET", "/r/fallback/fail", [("Waystation-Fallback", "off")])
        self.assertEqual((got.status, got.body, got["Waystation-Source"]), (500, b"failed", "upstream"))

    def test_fields_of_a_kept_job_that_are_malformed_are_refused(self):
        for field in (("Waystation-Delay", "10"), ("Waystation-Delay", "366d"), ("Waystation-Not-Before", "tomorrow"),
                      ("Waystation-Expires-After", "0s"), ("Waystation-Ordering-Key", "x" * 257),
                      ("Idempotency-Key", '"open')):
            with self.subTest(field):
                self.assert_problem(self.relay.ask("POST", "/r/up/x", [("Prefer", "respond-async"), field], b"x"), 400, "bad_header")
        self.assertEqual(self.upstream.seen("/x"), [])

    def test_fields_are_set_and_removed_and_bodies_wrapped_and_unwrapped(self):
        self.upstream.on("/wrap", lambda got: answer(200, b'{"data":' + got.body + b'}'))
        got = self.relay.ask("POST", "/r/set/wrap", [("Cookie", "a=1"), ("X-Client", "mine")], b'{"a":1}')
        self.assertEqual(got.json(), {"request": {"a": 1}})
        self.assertEqual((self.seen("/wrap").all("X-Client"), self.seen("/wrap")["Cookie"]), (["shop"], None))

    def test_a_body_that_cannot_be_wrapped_is_refused_with_zero_sends(self):
        got = self.relay.ask("POST", "/r/set/wrap", body=b"no json")
        self.assert_problem(got, 400, "preparation_failed")
        self.assertEqual(self.upstream.seen("/wrap"), [])

    def test_what_is_made_for_the_job_stays_and_what_is_made_for_the_attempt_changes(self):
        self.upstream.on("/stamp", answer(500), answer(200))
        got = self.relay.ask("POST", "/r/stamped/stamp", body=b"x")
        first, second = self.upstream.seen("/stamp")
        self.assertEqual((first["X-Attempt"], second["X-Attempt"]), ("1", "2"))
        self.assertEqual({first["X-Job"], second["X-Job"], first["Idempotency-Key"], second["Idempotency-Key"]},
                         {got["Waystation-Job"]})

    def test_retry_after_and_an_answers_date_are_passed_on_as_they_are(self):
        self.upstream.on("/date", answer(200, "x", ("Date", "Mon, 01 Jan 2024 00:00:00 GMT"), ("Retry-After", "7")))
        got = self.relay.ask("GET", "/r/up/date")
        self.assertEqual((got.all("Date"), got["Retry-After"]), (["Mon, 01 Jan 2024 00:00:00 GMT"], "7"))


if __name__ == "__main__":
    unittest.main()
