"""Idempotency keys: one job for each, whoever asks and however often."""

import json
import threading
import time
import unittest

from caller import ask, request
from durable import DurableTest, again, kept
from relay import eventually, route
from upstream import answer


class Keys(DurableTest):
    def setUp(self):
        super().setUp()
        self.upstream.on("/x", answer(200, "done"))
        self.relay = self.new_relay({"up": kept(self.upstream.url), "sync": route(self.upstream.url)}).start()

    def send(self, key, body=b"one", target="/r/up/x", method="POST"):
        return self.relay.ask(method, target, [("Prefer", "respond-async"), ("Idempotency-Key", key)], body)

    def test_the_same_request_again_is_the_same_job_also_after_a_crash(self):
        first = self.send('"8841-shipped"')
        self.assertEqual(first.status, 202, first)
        self.wait_for_end(self.relay, first["Waystation-Job"])
        for again_after_crash in False, True:
            if again_after_crash:
                self.restart(self.relay)
            again_it = self.send("8841-shipped")
            self.assertEqual((again_it.status, again_it["Waystation-Replayed"]), (200, "true"), again_it)
            self.assertEqual(again_it["Waystation-Job"], first["Waystation-Job"])
            self.assertEqual(again_it["Location"], first["Location"])
        self.assertEqual(len(self.upstream.seen("/x")), 1)

    def test_the_key_with_another_request_is_refused(self):
        self.assertEqual(self.send("k").status, 202)
        for change in {"body": b"two"}, {"target": "/r/up/x?y"}, {"method": "PUT"}:
            self.assert_problem(self.send("k", **change), 422, "idempotency_key_reused")
        self.assertEqual(len(ask(self.relay.control, "GET", "/v1/jobs").json()["jobs"]), 1)

    def test_the_key_counts_for_its_route_alone(self):
        first, other = self.send("k"), self.send("k", target="/r/sync/x")
        self.assertEqual((first.status, other.status), (202, 202), other)
        self.assertNotEqual(first["Waystation-Job"], other["Waystation-Job"])

    def test_a_known_key_is_answered_while_there_is_no_room_for_another_job(self):
        relay = self.new_relay({"up": kept(self.upstream.url)}, limits={"max_queued_jobs": 1, "replay_buffer": "1KiB"}).start()
        for body in b"small", b"large" * 1000:
            with self.subTest(size=len(body)):
                fields = [("Waystation-Delay", "1h"), ("Idempotency-Key", str(len(body)))]
                first = relay.ask("POST", "/r/up/x", fields, body)
                self.assertEqual(first.status, 202, first)
                same = relay.ask("POST", "/r/up/x", fields, body)
                self.assertEqual((same.status, same["Waystation-Job"]), (200, first["Waystation-Job"]), same)
                other = relay.ask("POST", "/r/up/x", fields[:1] + [("Idempotency-Key", "other")], body)
                self.assert_problem(other, 503, "queue_full")
                ask(relay.control, "POST", f"/v1/jobs/{first['Waystation-Job']}/cancel")
        # The store's thread takes files away after the refusal is out.
        bodies = relay.directory / "state" / "bodies"
        eventually(lambda: len(list(bodies.iterdir())) == 1, "the refused body is gone, and the job's is there")

    def test_a_race_for_a_key_makes_one_job(self):
        for turn in range(5):
            answers, door = [], threading.Barrier(8)

            def race():
                door.wait(10)
                answers.append(self.send(f"race-{turn}"))
            threads = [threading.Thread(target=race) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(20)
            self.assertEqual(sorted(got.status for got in answers), [200] * 7 + [202], answers)
            self.assertEqual(len({got["Waystation-Job"] for got in answers}), 1, answers)
            self.wait_for_end(self.relay, answers[0]["Waystation-Job"])
        self.assertEqual(len(self.upstream.seen("/x")), 5)

    def test_the_key_works_for_a_json_job_too(self):
        job = json.dumps({"route": "up", "mode": "async", "request": {"path": "/x", "text": "hi"}}).encode()
        fields = [("Content-Type", "application/json"), ("Idempotency-Key", "json-1")]
        first = self.relay.ask("POST", "/v1/jobs", fields, job)
        self.assertEqual((first.status, first.json()["state"] in ("queued", "running", "succeeded")), (202, True), first)
        second = self.relay.ask("POST", "/v1/jobs", fields, job)
        self.assertEqual((second.status, second.json()["id"]), (200, first.json()["id"]), second)
        self.wait_for_end(self.relay, first.json()["id"])
        self.assertEqual(self.upstream.seen("/x")[0]["Idempotency-Key"].strip('"'), "json-1")

    def test_a_synchronous_request_with_a_key_under_way_is_told_so(self):
        door = self.new_door()
        self.upstream.on("/slow", door)
        with self.relay.caller() as caller:
            caller.send(request("POST", "/r/sync/slow", [("Idempotency-Key", "s")], b"one"))
            self.upstream.wait_for("/slow")
            got = self.relay.ask("POST", "/r/sync/slow", [("Idempotency-Key", "s")], b"one")
            self.assert_problem(got, 409, "idempotency_in_progress")
            self.assertIsNotNone(got["Retry-After"], got)
            door.open()
            self.assertEqual(caller.answer().status, 200)
        self.assertEqual(len(self.upstream.seen("/slow")), 1)

    def test_the_same_key_reaches_the_upstream_with_every_attempt(self):
        self.upstream.on("/x", answer(500), answer(503), answer(200))
        self.wait_for_end(self.relay, self.send("k9")["Waystation-Job"])
        self.assertEqual([seen["Idempotency-Key"].strip('"') for seen in self.upstream.seen("/x")], ["k9"] * 3)


if __name__ == "__main__":
    unittest.main()
