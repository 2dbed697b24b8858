"""Deliveries over a connection that was kept: nothing of them is told apart from what the first one, which dials, tells."""

import threading
import unittest

from caller import ask
from durable import DurableTest, again, kept
from relay import PASS_THROUGH
from upstream import Close, answer


class Passing(DurableTest):
    def warm_relay(self, **members):
        """A relay that has delivered a job of its only loop, and so keeps a connection; and that job."""
        self.upstream.on("/x", answer(200, "thanks", ("X-Mine", "m"), ("Set-Cookie", "a=b"), ("Set-Cookie", "c=d")))
        relay = self.new_relay({"up": kept(self.upstream.url, **members)}, loops=1).start()
        id = self.hand_over(relay, "/r/up/x?n=1", ("X-Own", "o"))
        self.wait_for_end(relay, id)
        return relay, id

    def promoted(self, relay):
        lines = ask(relay.control, "GET", "/metrics").body.decode().splitlines()
        return [line for line in lines if line.startswith("waystation_requests_promoted_total{")]

    def test_its_request_its_records_and_its_answer_are_the_same(self):
        relay, first = self.warm_relay()
        second = self.hand_over(relay, "/r/up/x?n=1", ("X-Own", "o"))
        self.wait_for_end(relay, second)
        sent = [[(name, value) for name, value in seen.fields if value not in (first, second)]
                for seen in self.upstream.seen("/x")]
        self.assertEqual(sent[0], sent[1])
        self.assertEqual(len({seen.connection for seen in self.upstream.seen("/x")}), 1)

        def told(id):
            job = self.look(relay, id)
            attempts = ask(relay.control, "GET", f"/v1/jobs/{id}/attempts").json()["attempts"]
            kept = ask(relay.control, "GET", f"/v1/jobs/{id}/response")
            own = [(n, v) for n, v in kept.fields if n not in ("Date", "Server-Timing") and id not in v]
            return sorted(job), [sorted(a) for a in attempts], attempts[0]["status"], kept.status, own, kept.body
        one, other = told(first), told(second)
        # The first has dialled.
        for member in "connect_ms", "dns_ms":
            for attempts in one[1], other[1]:
                attempts[0] = [name for name in attempts[0] if name != member]
        self.assertEqual(one, other)

    def test_the_trace_of_its_caller_goes_on_as_the_route_says(self):
        trace = [("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), ("baggage", "user=ann")]
        for request, told in ({}, [None, None]), ({"propagate": "caller"}, [value for _, value in trace]):
            with self.subTest(request):
                self.upstream.forget()
                relay, _ = self.warm_relay(request=request)
                self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", *trace))
                self.assertEqual([self.upstream.seen("/x")[-1][name] for name, _ in trace], told)

    @unittest.skipIf("promote" in PASS_THROUGH or "off" in PASS_THROUGH, "there, none is passed on to its end")
    def test_one_that_fails_becomes_an_ordinary_one_that_is_sent_again(self):
        for name, failure, reason in ("status", answer(503), "status"), ("break", Close(), "closed"):
            with self.subTest(name):
                relay, _ = self.warm_relay()
                self.upstream.on("/x", failure, answer(200))
                job = self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", ("Idempotency-Key", f'"{name}"')))
                self.assertEqual(job["attempt_count"], 2 if reason == "status" else job["attempt_count"], job)
                self.assertIn(f'route="up",reason="{reason}"}} 1', " ".join(self.promoted(relay)))

    def test_a_key_goes_on_as_the_route_says(self):
        for idempotency, told in (
                ({}, ("k", None)), ({"header": "X-Request-Key"}, (None, "k")), ({"forward": False}, (None, None))):
            with self.subTest(idempotency=idempotency):
                relay, _ = self.warm_relay(idempotency=idempotency)
                self.upstream.forget()
                self.upstream.on("/x", answer(503), answer(200))
                self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", ("Idempotency-Key", '"k"'), method="PUT"))
                seen = [(s["Idempotency-Key"], s["X-Request-Key"]) for s in self.upstream.seen("/x")]
                self.assertEqual([tuple(v and v.strip('"') for v in each) for each in seen], [told, told])

    def test_one_under_way_is_cancelled(self):
        gone = threading.Event()

        def wait_for_end(request):
            if not request.connection.socket.recv(1):
                gone.set()
            return Close()
        relay, _ = self.warm_relay()
        self.upstream.on("/x", wait_for_end)
        id = self.hand_over(relay, "/r/up/x", method="PUT")
        self.upstream.wait_for("/x", 2)
        self.act(relay, id, "cancel")
        self.wait_for_end(relay, id, state="cancelled")
        self.assertTrue(gone.wait(10), "its connection is closed")

    def test_one_under_way_at_a_stop_that_cannot_wait_goes_back_without_burning_an_attempt(self):
        relay, _ = self.warm_relay()
        door = self.new_door()
        self.upstream.on("/x", door)
        id = self.hand_over(relay, "/r/up/x", method="PUT")
        self.upstream.wait_for("/x", 2)
        self.stop_at_once(relay)
        door.open()
        self.restart(relay)
        job = self.wait_for_end(relay, id)
        self.assertEqual((job["spent_attempts"], job.get("crashes")), (1, None), job)

    def test_one_that_outlasts_its_time_limit_is_told_so_and_sent_again(self):
        relay, _ = self.warm_relay(timeouts={"attempt": "300ms"}, recovery=[again()])
        self.upstream.on("/x", self.new_door(), answer(200))
        job = self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", method="PUT"))
        attempts = ask(relay.control, "GET", f"/v1/jobs/{job['id']}/attempts").json()["attempts"]
        self.assertEqual([a.get("kind") for a in attempts], ["http_response_timeout", None], attempts)

    def test_one_whose_answer_is_kept_on_failure_alone_keeps_none(self):
        relay, _ = self.warm_relay(delivery={"keep_responses": "on_failure"})
        id = self.hand_over(relay, "/r/up/x")
        self.wait_for_end(relay, id)
        self.assertEqual(ask(relay.control, "GET", f"/v1/jobs/{id}/response").status, 404)


if __name__ == "__main__":
    unittest.main()
