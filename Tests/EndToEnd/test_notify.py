"""Telling another route how kept jobs end."""

import json
import pathlib
import subprocess
import unittest

from caller import ask
from durable import DurableTest, again, kept
from relay import daemon, eventually, route
from upstream import answer

REFUSED = {"name": "refused", "on": ["4xx"], "dead_letter": {}}


def told(url, **members):
    return kept(url, **{"recovery": [again(attempts=100)], "delivery": {"mode": "durable"}, **members})


class Notify(DurableTest):
    def setUp(self):
        super().setUp()
        self.listener = self.new_upstream()
        self.listener.on("/", answer(200))

    def telling(self, notify=None, limits=None, **members):
        delivery = {"mode": "durable", "notify": {"route": "outcomes", **(notify or {})}}
        routes = {"up": kept(self.upstream.url, **{"delivery": delivery, "recovery": [REFUSED, again()], **members}),
                  "outcomes": told(self.listener.url)}
        return self.new_relay(routes, **({"limits": limits} if limits else {})).start()

    def wait_for_notices(self, count):
        eventually(lambda: len(self.listener.seen("/")) >= count, "the notices have come")
        return [(seen, json.loads(seen.body)) for seen in self.listener.seen("/")]

    def explain(self, relay, id):
        program = pathlib.Path(daemon()).with_name("waystation")
        return subprocess.run(
            [program, "explain", id, "--socket", relay.control], capture_output=True, text=True, check=True,
            timeout=30).stdout

    def test_another_route_is_told_how_a_job_ended(self):
        # One job is all that may wait: a notice counts for nothing.
        relay = self.telling({"include": ["request", "response"]}, limits={"max_queued_jobs": 1})
        self.upstream.on("/x", answer(200, "fine"))
        id = self.hand_over(relay, "/r/up/x?token=s3cret", body=b"film")
        job = self.wait_for_end(relay, id)
        [(seen, document)] = self.wait_for_notices(1)
        self.assertEqual((seen.method, seen["Content-Type"], seen["Idempotency-Key"]), ("POST", "application/json", id))
        self.assertEqual((document["id"], document["state"], document["status"]), (id, "succeeded", 200))
        self.assertEqual((document["request"]["body"]["text"], document["response"]["body"]["text"]), ("film", "fine"))
        self.assertEqual(len(document["attempts"]), 1)
        self.assertNotIn("s3cret", seen.body.decode())
        notice = self.wait_for_end(relay, job["notice"]["job"])
        self.assertEqual((notice["notice_of"], notice["route"], notice.get("notice")), (id, "outcomes", None))
        self.assertNotIn("client", notice)
        self.assertIn(f"job {notice['id']} tells another route of it", self.explain(relay, id))
        self.assertIn(f"it tells how job {id} ended", self.explain(relay, notice["id"]))
        metrics = ask(relay.control, "GET", "/metrics").body.decode()
        self.assertIn('waystation_notices_total{route="up"} 1', metrics)
        self.assertNotIn("waystation_notices_owed", metrics)

    def test_a_target_that_is_down_keeps_nobody_from_submitting(self):
        relay = self.telling(limits={"max_queued_jobs": 1, "per_user": {"max_queued_jobs": 1}})
        self.listener.on("/", answer(503))
        self.upstream.on("/x", answer(200))
        for _ in range(3):
            self.wait_for_end(relay, self.hand_over(relay, "/r/up/x"))
        # One notice may wait, as one job may; the others are owed, and come once it is delivered.
        self.assertEqual(ask(relay.control, "GET", "/v1/status").json()["jobs"].get("owed_notices"), 2)
        self.listener.on("/", answer(200))
        eventually(lambda: len({seen["Idempotency-Key"] for seen in self.listener.seen("/")}) == 3, "all are told")

    def test_a_notice_is_not_its_submitters_to_read_or_to_end(self):
        relay = self.telling()
        self.listener.on("/", answer(503, "of the other route"))
        self.upstream.on("/x", answer(200))
        id = self.hand_over(relay, "/r/up/x")
        notice = self.wait_for_end(relay, id)["notice"]["job"]
        for method, path in [("GET", ""), ("GET", "/attempts"), ("GET", "/response"), ("POST", "/cancel")]:
            reply = ask(relay.jobs, method, f"/v1/jobs/{notice}{path}")
            self.assertEqual((reply.status, reply.json()["code"]), (404, "job_not_found"), path)
        listed = ask(relay.jobs, "GET", "/v1/jobs").json()["jobs"]
        self.assertEqual([job["id"] for job in listed], [id])
        self.act(relay, notice, "cancel")

    def test_an_ending_after_a_retry_says_what_it_supersedes_and_others_are_told_of_no_more_than_asked(self):
        relay = self.telling({"on": ["dead", "succeeded"]})
        self.upstream.on("/x", answer(422), answer(200))
        id = self.hand_over(relay, "/r/up/x")
        self.wait_for_end(relay, id, "dead")
        self.act(relay, id, "retry")
        self.wait_for_end(relay, id)
        (first, dead), (second, done) = self.wait_for_notices(2)
        self.assertEqual((dead["state"], done["state"]), ("dead", "succeeded"))
        self.assertEqual((first["Idempotency-Key"], second["Idempotency-Key"]), (id, f"{id}-2"))
        self.assertEqual(done["notice"]["supersedes"], dead["notice"]["job"])
        later = self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h"))
        self.act(relay, later, "cancel")
        self.assertNotIn("notice", self.look(relay, later))

    def test_a_crash_leaves_an_ending_with_its_notice_or_neither(self):
        relay = self.telling()
        self.listener.on("/", answer(503))
        self.upstream.on("/x", answer(200))
        ids = []
        for _ in range(3):
            ids += [self.hand_over(relay, "/r/up/x", method="PUT") for _ in range(20)]
            # Killed while jobs end.
            self.restart(relay)
        self.listener.on("/", answer(200))
        for id in ids:
            self.wait_until(relay, id, state="succeeded")

        def heard():
            return {json.loads(seen.body)["id"] for seen in self.listener.seen("/")}
        eventually(lambda: heard() >= set(ids), "all endings are told")
        jobs = [self.look(relay, id) for id in ids]
        notices = ask(relay.control, "GET", "/v1/jobs?route=outcomes&limit=500").json()["jobs"]
        self.assertEqual(sorted(one["notice_of"] for one in notices), sorted(ids))
        self.assertEqual({one["id"] for one in notices}, {job["notice"]["job"] for job in jobs})

    def test_a_notice_whose_routes_are_gone_is_owed_until_they_are_back(self):
        door = self.new_door()
        relay = self.telling()
        self.upstream.on("/x", door)
        id = self.hand_over(relay, "/r/up/x")
        self.upstream.wait_for("/x", 1)
        relay.write({"other": route(self.upstream.url)})
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        self.act(relay, id, "cancel")
        door.open()
        job = self.wait_for_end(relay, id, "cancelled")
        self.assertEqual(job["notice"].get("owed"), True, job)
        self.assertIn("its notice is owed", self.explain(relay, id))

        def owed():
            return ask(relay.control, "GET", "/v1/status").json()["jobs"].get("owed_notices")
        eventually(lambda: owed() == 1, "the status counts it")
        eventually(lambda: "notices of jobs that have ended are owed" in relay.errors.text(), "the journal says it")
        self.assertIn("waystation_notices_owed 1", ask(relay.control, "GET", "/metrics").body.decode())
        self.restart(relay)
        eventually(lambda: owed() == 1, "it is owed after a crash")
        delivery = {"mode": "durable", "notify": {"route": "outcomes"}}
        relay.write({"up": kept(self.upstream.url, delivery=delivery), "outcomes": told(self.listener.url)})
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        [(_, document)] = self.wait_for_notices(1)
        self.assertEqual((document["id"], document["state"]), (id, "cancelled"))
        eventually(lambda: owed() is None, "nothing is owed any more")


if __name__ == "__main__":
    unittest.main()
