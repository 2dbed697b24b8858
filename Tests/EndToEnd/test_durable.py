"""Durable jobs from acceptance to delivery, over restarts and crashes."""

import hashlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest

from caller import Caller, ask, chunked, request
from durable import DurableTest, again, kept
from relay import daemon, eventually, route
from upstream import Close, answer, refused_port


class Durable(DurableTest):
    def test_a_job_handed_over_while_the_upstream_is_down_is_delivered_after_a_restart_and_explained(self):
        port = refused_port()
        relay = self.new_relay({"up": kept(f"http://127.0.0.1:{port}/")}).start()
        got = relay.curl("/r/up/orders?n=1", "-X", "POST", "-d", "hello", "-H", "X-Mine: m", "-H", "Prefer: respond-async")
        self.assertEqual(got.status, 202, got)
        id = got["Waystation-Job"]
        job = self.wait_until(relay, id, state="retrying")
        self.assertEqual((job["reason"], job["last_failure"]["kind"]), ("backoff", "connection_refused"), job)
        self.assertIn("due_at", job)
        self.assertEqual(relay.stop(), 0)
        self.restart(relay)
        upstream = self.new_upstream(port=port, script={"/orders": answer(200, "thanks")})
        job = self.wait_for_end(relay, id)
        seen = upstream.seen("/orders")
        self.assertEqual([(s.method, s.target, s.body, s["X-Mine"]) for s in seen], [("POST", "/orders?n=1", b"hello", "m")])
        self.assertEqual((job["status"], job["source"], job["outcome"]), (200, "upstream", "success"))
        attempts = ask(relay.control, "GET", f"/v1/jobs/{id}/attempts").json()["attempts"]
        self.assertEqual([a["number"] for a in attempts], list(range(1, len(attempts) + 1)))
        self.assertEqual((attempts[0]["kind"], attempts[0]["sent"]), ("connection_refused", "never_sent"), attempts[0])
        self.assertEqual((attempts[-1]["result"], attempts[-1]["status"]), ("success", 200), attempts[-1])
        answered = ask(relay.control, "GET", f"/v1/jobs/{id}/response")
        self.assertEqual((answered.status, answered.body), (200, b"thanks"), answered)

    def test_what_was_accepted_survives_a_kill_at_that_moment(self):
        door = self.new_door()
        self.upstream.on("/x", door)
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        ids = [self.hand_over(relay, "/r/up/x", method="PUT") for _ in range(5)]
        self.kill(relay)
        door.open()
        self.restart(relay)
        for id in ids:
            self.wait_for_end(relay, id)

    def test_a_job_in_flight_at_a_stop_goes_on_to_its_end(self):
        door = self.new_door()
        self.upstream.on("/x", door)
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        id = self.hand_over(relay, "/r/up/x")
        self.upstream.wait_for("/x")
        relay.process.send_signal(signal.SIGTERM)
        relay.notices.wait("STOPPING=1")
        door.open()
        self.assertEqual(relay.process.wait(20), 0)
        self.restart(relay)
        job = self.wait_for_end(relay, id, seconds=1)
        self.assertEqual((len(self.upstream.seen("/x")), job["attempt_count"]), (1, 1), job)

    def test_a_stop_that_cannot_wait_puts_jobs_back_without_burning_an_attempt(self):
        door = self.new_door()
        self.upstream.on("/x", door)
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        ids = [self.hand_over(relay, "/r/up/x", method="PUT") for _ in range(3)]
        self.upstream.wait_for("/x", 3)
        self.stop_at_once(relay)
        door.open()
        self.restart(relay)
        for id in ids:
            job = self.wait_for_end(relay, id)
            self.assertEqual((job["spent_attempts"], job.get("crashes")), (1, None), job)

    def test_a_job_in_flight_at_three_crashes_is_quarantined(self):
        door = self.new_door()
        self.upstream.on("/x", door)
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        id = self.hand_over(relay, "/r/up/x", ("Idempotency-Key", "one"))
        for count in 1, 2, 3:
            self.upstream.wait_for("/x", count)
            self.restart(relay)
        job = self.wait_for_end(relay, id, "dead")
        self.assertEqual(job["end"], "poison", job)
        self.assertEqual([attempt["result"] for attempt in job["attempts"]], ["interrupted"] * 3)
        self.assertEqual(job["last_failure"]["kind"], "interrupted")
        time.sleep(0.2)
        self.assertEqual(len(self.upstream.seen("/x")), 3)
        self.assertEqual({seen["Idempotency-Key"].strip('"') for seen in self.upstream.seen("/x")}, {"one"})
        door.open()
        self.act(relay, id, "retry")
        self.wait_for_end(relay, id)

    def test_a_request_that_was_sent_is_on_record_whatever_the_crash_cut_off(self):
        """The second request of a run too, which no claim began."""
        door = self.new_door()
        second = self.new_upstream()
        self.upstream.on("/x", answer(500))
        second.on("/x", door)
        up = kept({"name": "one", "url": self.upstream.url}, {
            "name": "two", "url": second.url, "use": "failover_only"}, recovery=[
                {"name": "other", "on": ["500"], "failover": {"upstream": "two"}}, again()])
        relay = self.new_relay({"up": up}).start()
        id = self.hand_over(relay, "/r/up/x", ("Idempotency-Key", "k"))
        second.wait_for("/x")
        under_way = self.look(relay, id)["under_way"]
        self.assertEqual((under_way["number"], under_way["upstream"]), (2, "two"))
        self.assertIn("attempt 2 → two  under way", self.explain(relay, id))
        self.upstream.on("/x", answer(200))
        self.restart(relay)
        job = self.wait_for_end(relay, id)
        self.assertEqual(
            [(attempt["number"], attempt["upstream"], attempt["result"]) for attempt in job["attempts"]],
            [(1, "one", "failure"), (2, "two", "interrupted"), (3, "one", "success")])
        self.assertEqual((job["attempts"][1]["kind"], job["attempts"][1]["sent"]), ("interrupted", "unknown"))
        self.assertNotIn("duration_ms", job["attempts"][1])
        self.assertEqual((job["attempt_count"], job["spent_attempts"]), (3, 3))
        self.assertIn("the relay crashed: whether it was sent is not known", self.explain(relay, id))

    def explain(self, relay, id):
        program = pathlib.Path(daemon()).with_name("waystation")
        return subprocess.run(
            [program, "explain", id, "--socket", relay.control], capture_output=True, text=True, check=True,
            timeout=30).stdout

    def test_a_request_that_went_out_once_more_within_its_attempt_is_on_record_whatever_the_crash_cut_off(self):
        door = self.new_door()
        self.upstream.on("/x", answer(200), Close(), door)
        # One loop, so that the second job meets the first one's connection.
        relay = self.new_relay({"up": kept(self.upstream.url)}, loops=1).start()
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x"))
        id = self.hand_over(relay, "/r/up/x", ("Idempotency-Key", '"k"'))
        self.upstream.wait_for("/x", 3)
        self.assertIs(ask(relay.control, "GET", f"/v1/jobs/{id}").json()["under_way"]["resent"], True)
        self.kill(relay)
        door.open()
        self.restart(relay)
        attempts = self.wait_for_end(relay, id)["attempts"]
        self.assertEqual(
            [(a["result"], a.get("resent", False)) for a in attempts], [("interrupted", True), ("success", False)])
        self.assertEqual(len(self.upstream.seen("/x")), 1 + 2 + 1)

    def test_a_post_without_a_key_in_flight_at_a_crash_is_not_sent_again(self):
        self.upstream.on("/x", self.new_door())
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        id = self.hand_over(relay, "/r/up/x")
        self.upstream.wait_for("/x")
        self.restart(relay)
        job = self.wait_for_end(relay, id, "dead")
        self.assertEqual(job["end"], "outcome_unknown", job)
        self.assertEqual(len(self.upstream.seen("/x")), 1)
        self.assertEqual([attempt["result"] for attempt in job["attempts"]], ["interrupted"])

    def test_a_post_without_a_key_is_sent_again_where_the_route_says_any(self):
        door = self.new_door()
        self.upstream.on("/x", door, answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url, recovery=[again(methods="any")])}).start()
        id = self.hand_over(relay, "/r/up/x")
        self.upstream.wait_for("/x")
        self.restart(relay)
        self.wait_for_end(relay, id)
        self.assertEqual(len(self.upstream.seen("/x")), 2)

    def test_a_schedule_goes_on_over_a_restart_where_it_was(self):
        self.upstream.on("/x", answer(500), answer(503), answer(200))
        rule = {"name": "later", "on": ["any"], "retry": {"schedule": ["1s", "1500ms", "1h"]}}
        relay = self.new_relay({"up": kept(self.upstream.url, recovery=[rule])}).start()
        id = self.hand_over(relay, "/r/up/x", method="PUT")
        first = self.wait_until(relay, id, state="retrying", attempt_count=1)
        self.restart(relay)
        self.assertEqual(self.look(relay, id)["due_at"][:22], first["due_at"][:22])
        second = self.wait_until(relay, id, state="retrying", attempt_count=2)
        self.restart(relay)
        self.assertEqual(self.look(relay, id)["due_at"][:22], second["due_at"][:22])
        job = self.wait_for_end(relay, id)
        times = [seen.at for seen in self.upstream.seen("/x")]
        self.assertEqual([a["status"] for a in job["attempts"]], [500, 503, 200])
        self.assertGreater(times[1] - times[0], 0.99)
        self.assertGreater(times[2] - times[1], 1.49)
        self.assertEqual([a.get("rule") for a in job["attempts"]], ["later", "later", None])

    def test_a_wait_of_hours_keeps_its_moment_over_a_stop(self):
        self.upstream.on("/x", answer(500))
        rule = {"name": "later", "on": ["any"], "retry": {"schedule": ["2h", "20h"]}}
        relay = self.new_relay({"up": kept(self.upstream.url, recovery=[rule])}).start()
        id = self.hand_over(relay, "/r/up/x", method="PUT")
        before = self.wait_until(relay, id, state="retrying")
        self.restart(relay, signal.SIGTERM)
        after = self.look(relay, id)
        self.assertEqual((after["state"], after["reason"], after["due_at"][:19]),
                         ("retrying", "backoff", before["due_at"][:19]))
        self.act(relay, id, "retry")
        self.upstream.wait_for("/x", 2)

    def test_a_large_body_arrives_as_it_was_handed_over(self):
        body = os.urandom(5 << 20)
        self.upstream.on("/x", answer(503), answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        id = self.hand_over(relay, "/r/up/x", method="PUT", body=body)
        self.wait_for_end(relay, id)
        with relay.caller() as caller:
            caller.send(b"PUT /r/up/x HTTP/1.1\r\nHost: relay.of.tests\r\nPrefer: respond-async\r\nTransfer-Encoding: chunked\r\n\r\n")
            caller.send(chunked(body[:3_000_000], body[3_000_000:]))
            got = caller.answer()
        self.assertEqual(got.status, 202, got)
        self.wait_for_end(relay, got["Waystation-Job"])
        digests = [hashlib.sha256(seen.body).hexdigest() for seen in self.upstream.seen("/x")]
        self.assertEqual(digests, [hashlib.sha256(body).hexdigest()] * 3)
        kept_body = ask(relay.control, "GET", f"/v1/jobs/{id}/request/body")
        self.assertEqual(hashlib.sha256(kept_body.body).hexdigest(), digests[0])

    def test_a_body_that_is_too_large_is_refused_before_it_is_read(self):
        relay = self.new_relay({"up": kept(self.upstream.url)}, limits={"max_request_body": "1MiB"}).start()
        with relay.caller() as caller:
            caller.send(b"PUT /r/up/x HTTP/1.1\r\nHost: relay.of.tests\r\nPrefer: respond-async\r\nContent-Length: 1048577\r\n\r\n")
            self.assert_problem(caller.answer(), 413, "content_too_large")
        with relay.caller() as caller:
            caller.send(b"PUT /r/up/x HTTP/1.1\r\nHost: relay.of.tests\r\nPrefer: respond-async\r\nTransfer-Encoding: chunked\r\n\r\n")
            caller.send_quietly(chunked(b"x" * 700_000, b"y" * 700_000))
            self.assert_problem(caller.answer(), 413, "content_too_large")
        self.assertEqual(ask(relay.control, "GET", "/v1/jobs").json()["jobs"], [])
        self.assertEqual(os.listdir(relay.directory / "state" / "bodies"), [])

    def test_a_caller_who_goes_away_before_the_202_leaves_no_half_a_job(self):
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        with relay.caller() as caller:
            caller.send(b"PUT /r/up/x HTTP/1.1\r\nHost: relay.of.tests\r\nPrefer: respond-async\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 2_000_000)
        with relay.caller() as caller:
            caller.send(b"PUT /r/up/x HTTP/1.1\r\nHost: relay.of.tests\r\nPrefer: respond-async\r\nContent-Length: 300\r\n\r\n" + b"x" * 200)
        eventually(lambda: os.listdir(relay.directory / "state" / "bodies") == [], "the spooled body is gone")
        self.assertEqual(ask(relay.control, "GET", "/v1/jobs").json()["jobs"], [])
        self.assertEqual(self.upstream.seen("/x"), [])

    def test_a_running_job_can_be_cancelled(self):
        ended = []
        self.upstream.on("/x", lambda got: ended.append(got.connection.wait_for_end(20)) and None)
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        id = self.hand_over(relay, "/r/up/x")
        self.upstream.wait_for("/x")
        self.act(relay, id, "cancel")
        self.wait_for_end(relay, id, "cancelled")
        eventually(lambda: ended == [True], "the request to the upstream was ended")
        self.restart(relay)
        self.assertEqual(self.look(relay, id)["state"], "cancelled")
        self.assertEqual(len(self.upstream.seen("/x")), 1)

    def test_jobs_that_wait_can_be_held_released_cancelled_and_dropped(self):
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        self.upstream.on("/x", answer(200))
        ids = [self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h")) for _ in range(3)]
        self.act(relay, ids[0], "hold")
        self.assertEqual((self.look(relay, ids[0])["state"], self.look(relay, ids[0])["reason"]), ("held", "operator_hold"))
        self.act(relay, ids[1], "cancel")
        self.assertEqual(self.look(relay, ids[1])["state"], "cancelled")
        got = ask(relay.control, "DELETE", f"/v1/jobs/{ids[2]}")
        self.assertIn(got.status, (200, 204), got)
        self.assert_problem(ask(relay.control, "GET", f"/v1/jobs/{ids[2]}"), 404, "job_not_found")
        self.restart(relay)
        self.assertEqual(self.look(relay, ids[0])["reason"], "operator_hold")
        self.act(relay, ids[0], "release")
        self.act(relay, ids[0], "retry")
        self.wait_for_end(relay, ids[0])
        self.assertEqual(len(self.upstream.seen("/x")), 1)

    def test_a_dead_job_tells_why_and_can_be_given_another_life(self):
        self.upstream.on("/x", answer(422, "no such order"))
        rules = [{"name": "rejected", "on": ["422"], "dead_letter": {}}, again()]
        relay = self.new_relay({"up": kept(self.upstream.url, recovery=rules)}).start()
        id = self.hand_over(relay, "/r/up/x")
        job = self.wait_for_end(relay, id, "dead")
        self.assertEqual((job["end"], job["last_failure"]["status"], job["status"]), ("rejected", 422, 422), job)
        relay.errors.wait(f"job {id}", "is dead")
        self.assertEqual(ask(relay.control, "GET", f"/v1/jobs/{id}/response").body, b"no such order")
        self.restart(relay)
        self.upstream.on("/x", answer(200))
        self.act(relay, id, "retry")
        job = self.wait_for_end(relay, id)
        self.assertEqual([a["status"] for a in job["attempts"]], [422, 200], job)

    def test_a_prefer_wait_gets_the_real_answer_in_time_or_202(self):
        self.upstream.on("/fast", answer(201, "made", ("Location", "/made/1")))
        self.upstream.on("/slow", self.new_door())
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        fast = relay.ask("POST", "/r/up/fast", [("Prefer", "respond-async, wait=10")], b"x")
        self.assertEqual((fast.status, fast.body), (201, b"made"), fast)
        # Where what was made is, and nothing else: the field is a single one (RFC 9110, 10.2.2).
        self.assertEqual(fast.all("Location"), ["/r/up/made/1"])
        self.assertEqual(self.look(relay, fast["Waystation-Job"])["state"], "succeeded")
        began = time.monotonic()
        slow = relay.ask("POST", "/r/up/slow", [("Prefer", "respond-async, wait=1")], b"x")
        self.assertEqual(slow.status, 202, slow)
        self.assertGreater(time.monotonic() - began, 0.9)


if __name__ == "__main__":
    unittest.main()
