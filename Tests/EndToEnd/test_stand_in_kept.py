"""Answered in the upstream's stead, and delivered later: `respond` with `"and": "keep"`."""

import json
import os
import pathlib
import subprocess
import unittest

from caller import Caller, ask, request
from durable import DurableTest, again
from relay import daemon, route
from upstream import Close, answer, as_json

COMMAND = pathlib.Path(daemon()).with_name("waystation")


def standing_in(*on, **members):
    """A rule that answers with a placeholder and keeps the request."""
    respond = {"as": "placeholder", "status": 200, "json": {"queued": True}, "and": "keep"}
    return {"name": "answer", "on": list(on) or ["any"], "respond": {**respond, **members}}


class StandInKept(DurableTest):
    def relay_of(self, *rules, **members):
        members = {"idempotency": {"generate": True}, "max_attempts": 100, **members}
        return self.new_relay({"up": route(self.upstream.url, recovery=list(rules), **members)})

    def dead_port(self):
        upstream = self.new_upstream()
        upstream.close()
        return upstream.port

    def assert_kept(self, got, source="placeholder"):
        self.assertEqual((got.status, got["Waystation-Source"], got["Waystation-Kept"]), (200, source, "true"), got)
        return got["Waystation-Job"]

    def assert_not_kept(self, got, *words):
        self.assertEqual((got.status, got["Waystation-Source"]), (200, "placeholder"), got)
        self.assertTrue(got["Waystation-Kept"].startswith('false; reason="'), got)
        for word in words:
            self.assertIn(word, got["Waystation-Kept"])

    def test_a_kill_between_the_answer_and_the_delivery_loses_nothing_and_sends_it_once(self):
        port = self.dead_port()
        relay = self.new_relay({"up": route(
            f"http://127.0.0.1:{port}/", recovery=[standing_in(), again("300ms")], max_attempts=100,
            idempotency={"generate": True})}).start()
        got = relay.ask("POST", "/r/up/charge", [("Waystation-Timeout", "2s"), ("Waystation-Label", "order=7")], b"17 EUR")
        self.assertEqual(got.json(), {"queued": True})
        id = self.assert_kept(got)
        self.kill(relay)
        self.forget_life(relay)
        upstream = self.new_upstream(port=port)
        upstream.on("/charge", answer(200))
        relay.start()
        job = self.wait_for_end(relay, id)
        seen = upstream.seen("/charge")
        self.assertEqual([(each.body, each["Idempotency-Key"]) for each in seen], [(b"17 EUR", id)])
        self.assertEqual((job["labels"], job["client"]["uid"], job["durable"]), (["order=7"], os.getuid(), True))
        first = job["attempts"][0]
        self.assertEqual((first["rule"], first["next"], first["next_source"]), ("answer", "respond_and_keep", "placeholder"))
        self.assertEqual([each["number"] for each in job["attempts"]], list(range(1, len(job["attempts"]) + 1)))
        told = subprocess.run(
            [COMMAND, "explain", id], capture_output=True, text=True, timeout=30,
            env={**os.environ, "WAYSTATION_CONTROL_SOCKET": relay.control}).stdout
        self.assertIn("answered with the placeholder; the request goes on as a kept job", told)

    def test_without_the_key_the_same_kill_leaves_no_job(self):
        port = self.dead_port()
        plain = standing_in()
        del plain["respond"]["and"]
        relay = self.new_relay({"up": route(f"http://127.0.0.1:{port}/", recovery=[plain, again("300ms")])}).start()
        got = relay.ask("POST", "/r/up/charge", (), b"17 EUR")
        self.assertEqual((got.status, got["Waystation-Kept"]), (200, None))
        self.kill(relay)
        self.forget_life(relay)
        relay.start()
        self.assertEqual(ask(relay.control, "GET", "/v1/jobs").json()["jobs"], [])

    def test_what_may_have_been_carried_out_is_answered_and_left_unless_it_may_be_repeated(self):
        relay = self.relay_of(standing_in(), again("1h"), idempotency={}).start()
        for step, words in (Close(), "outcome is unknown"), (answer(500), "may have been carried out"):
            self.upstream.on("/x", step)
            self.assert_not_kept(relay.ask("POST", "/r/up/x", (), b"1"), words)
            self.assert_kept(relay.ask("POST", "/r/up/x", [("Idempotency-Key", f'"{words[:3]}"')], b"1"))
            self.assert_kept(relay.ask("PUT", "/r/up/x", (), b"1"))
        self.upstream.on("/x", answer(409))
        self.assert_kept(relay.ask("POST", "/r/up/x", (), b"1"))
        relay.errors.wait("the request is not kept: the outcome is unknown")
        relay.errors.wait("the request goes on as a kept job")

    def test_a_known_key_is_answered_with_its_job(self):
        self.upstream.on("/x", answer(503))
        relay = self.relay_of(standing_in(), again("1h")).start()
        key = [("Idempotency-Key", '"k"')]
        id = self.assert_kept(relay.ask("POST", "/r/up/x", key, b"1"))
        got = relay.ask("POST", "/r/up/x", key, b"1")
        self.assertEqual((self.assert_kept(got), got["Waystation-Replayed"]), (id, "true"))
        got = relay.ask("POST", "/r/up/x", [("Prefer", "respond-async"), *key], b"1")
        self.assertEqual((got.status, got["Waystation-Job"], got["Waystation-Replayed"]), (200, id, "true"))
        self.assert_not_kept(relay.ask("POST", "/r/up/x", key, b"2"), "another method, target or body")
        self.assertEqual(len(ask(relay.control, "GET", "/v1/jobs").json()["jobs"]), 1)

    def test_a_stale_answer_stands_in_and_the_real_one_is_fetched_later(self):
        self.upstream.on("/x", as_json(200, '{"v": 1}'), answer(500), as_json(200, '{"v": 2}'))
        rule = {"name": "yesterday", "on": ["any"], "respond": {"as": "stale", "and": "keep"}}
        relay = self.relay_of(rule, again(), response={"cache_last_good": {"max_age": "1h"}}).start()
        self.assertEqual(relay.ask("GET", "/r/up/x").json(), {"v": 1})
        got = relay.ask("GET", "/r/up/x")
        self.assertEqual(got.json(), {"v": 1})
        id = self.assert_kept(got, "stale")
        self.wait_for_end(relay, id)
        self.assertEqual(ask(relay.control, "GET", f"/v1/jobs/{id}/response").json(), {"v": 2})

    def test_large_bodies_are_kept_whole_also_those_nobody_has_read(self):
        body = bytes(range(256)) * 8192
        self.upstream.on("/x", answer(503), answer(200))
        relay = self.relay_of(standing_in(), again()).start()
        self.wait_for_end(relay, self.assert_kept(relay.ask("PUT", "/r/up/x", (), body)))
        self.assertEqual([each.body == body for each in self.upstream.seen("/x")], [True, True])
        down = self.new_relay({"up": route(
            f"http://127.0.0.1:{self.dead_port()}/", recovery=[standing_in(), again("1h")])}).start()
        id = self.assert_kept(down.ask("POST", "/r/up/x", (), body))
        self.assertEqual(ask(down.control, "GET", f"/v1/jobs/{id}/request/body").body, body)

    def test_jobs_as_json_and_lines_of_a_stream_say_it_in_their_documents(self):
        self.upstream.on("/x", answer(503))
        relay = self.relay_of(standing_in(), again("1h")).start()
        job = {"route": "up", "request": {"method": "PUT", "path": "x", "text": "1"}}
        content = [("Content-Type", "application/json")]
        got = relay.ask("POST", "/v1/jobs", content, json.dumps(job).encode()).json()
        self.assertEqual((got["source"], got["kept"]["job"]), ("placeholder", got["id"]))
        self.assertEqual(self.look(relay, got["id"])["attempt_count"], 1)
        lines = [("Content-Type", "application/x-ndjson")]
        got = json.loads(relay.ask("POST", "/v1/stream", lines, json.dumps(job).encode() + b"\n").body)
        self.assertEqual((got["ok"], got["kept"]["job"]), (True, got["job"]))
        self.assertEqual(self.look(relay, got["job"])["state"], "retrying")

    def test_the_kept_job_outlives_its_callers_patience_and_is_not_answered_by_the_rule(self):
        self.upstream.on("/x", answer(503), answer(503), answer(503), answer(200))
        relay = self.relay_of(standing_in(), again("200ms")).start()
        id = self.assert_kept(relay.ask("PUT", "/r/up/x", [("Waystation-Timeout", "400ms")], b"1"))
        job = self.wait_for_end(relay, id)
        self.assertEqual([each["next"] for each in job["attempts"][:-1]], ["respond_and_keep", "retry", "retry"])
        self.assertIn("would not deliver", job["attempts"][1]["held_back"][0]["reason"])
        self.assertEqual(job["source"], "upstream")

    def test_a_store_without_room_leaves_the_answer_and_no_claim(self):
        self.upstream.on("/x", answer(503))
        relay = self.new_relay(
            {"up": route(self.upstream.url, recovery=[standing_in(), again("1h")])},
            limits={"max_queued_jobs": 1}).start()
        self.assert_kept(relay.ask("PUT", "/r/up/x", (), b"1"))
        self.assert_not_kept(relay.ask("PUT", "/r/up/x", (), b"2"), "limits.max_queued_jobs")

    def test_events_tell_that_the_job_is_a_request_that_was_answered(self):
        self.upstream.on("/x", answer(503))
        relay = self.relay_of(standing_in(), again("1h")).start()
        events = Caller(relay.control, 20)
        self.addCleanup(events.close)
        events.send(request("GET", "/v1/events?after=0", [("Accept", "application/x-ndjson")]))
        self.assertEqual(events.head().status, 200)
        id = self.assert_kept(relay.ask("PUT", "/r/up/x", (), b"1"))
        told = b""
        while told.count(b"\n") < 2:
            told += events._exactly(int(events._until(b"\r\n"), 16))
            events._exactly(2)
        told = {each["type"]: each["data"] for each in map(json.loads, told.splitlines())}
        accepted = told["waystation.job.accepted"]
        self.assertEqual((accepted["job"], accepted["source"]), (id, "placeholder"))
        self.assertIn("goes on as a kept job", accepted["detail"])
        self.assertEqual(told["waystation.job.attempt.failed"]["rule"], "answer")


if __name__ == "__main__":
    unittest.main()
