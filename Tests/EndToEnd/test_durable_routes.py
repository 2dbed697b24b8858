"""Durable jobs and the state of their route: paused, without a credential, dead beside others."""

import base64
import hashlib
import hmac
import json
import re
import threading
import time
import unittest

from caller import Caller, ask
from durable import DurableTest, again, kept
from relay import PATIENCE, UNBOUNDED, eventually, route
from upstream import answer, as_json


class Routes(DurableTest):
    def test_a_410_pauses_the_route_until_it_is_resumed(self):
        self.upstream.on("/x", answer(410))
        rules = [{"name": "gone", "on": ["410"], "pause_route": {"reason": "the receiver answered 410 Gone"}}, again()]
        relay = self.new_relay({"up": kept(self.upstream.url, recovery=rules), "other": kept(self.upstream.url)}).start()
        ids = [self.hand_over(relay, "/r/up/x", method="PUT")]
        job = self.wait_until(relay, ids[0], state="held", reason="route_paused")
        self.assertEqual(job["blocker"]["reason"], "route_paused", job)
        self.assertIn("410 Gone", job["blocker"]["detail"])
        relay.errors.wait("route up is paused by rule gone")
        ids.append(self.hand_over(relay, "/r/up/x", method="PUT"))
        self.restart(relay)
        self.upstream.on("/x", answer(200))
        self.upstream.on("/y", answer(200))
        self.wait_for_end(relay, self.hand_over(relay, "/r/other/y"))
        ids.append(self.hand_over(relay, "/r/up/x", method="PUT"))
        time.sleep(0.2)
        self.assertEqual(len(self.upstream.seen("/x")), 1, "nothing is sent to a paused route, also after a restart")
        self.assertIn(self.look(relay, ids[2])["state"], ("queued", "held"))
        got = ask(relay.control, "POST", "/v1/routes/up/resume")
        self.assertIn(got.status, (200, 204), got)
        for id in ids:
            self.wait_for_end(relay, id)
        self.assertEqual(len(self.upstream.seen("/x")), 4)

    def test_a_pause_by_an_operator_refuses_those_who_wait_and_keeps_the_others(self):
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        got = ask(relay.control, "POST", "/v1/routes/up/pause")
        self.assertIn(got.status, (200, 204), got)
        self.assert_problem(relay.ask("GET", "/r/up/x"), 503, "route_paused")
        id = self.hand_over(relay, "/r/up/x")
        time.sleep(0.2)
        self.assertEqual(self.upstream.seen("/x"), [])
        self.assertEqual(ask(relay.control, "POST", "/v1/routes/up/resume").status, got.status)
        self.wait_for_end(relay, id)
        self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)

    def test_a_failing_credential_holds_jobs_back_and_burns_nothing(self):
        tokens = self.new_upstream()
        tokens.on("/token", answer(500, "broken"))
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({})
        auth = {"type": "oauth2_client_credentials", "token_url": tokens.url + "token", "client_id": "me",
                "failure_cooldown": "300ms",
                "client_secret": relay.secret("client", "s3cret")}
        relay.write({"up": kept(self.upstream.url, auth=auth, recovery=[again(attempts=3)], max_attempts=3)})
        relay.start()
        ids = [self.hand_over(relay, "/r/up/x", method="PUT") for _ in range(5)]
        for id in ids:
            eventually(lambda: self.look(relay, id)["blocker"]["reason"] == "credentials", "the job tells what it waits for")
            job = self.look(relay, id)
            self.assertEqual((job["spent_attempts"], job["state"] in ("queued", "retrying", "running")), (0, True), job)
        time.sleep(1)
        self.assertLess(len(tokens.seen("/token")), 12, "jobs do not storm the token endpoint")
        # The crash comes while one job tries the credential, and costs that one an attempt.
        door, reached = self.new_door(), threading.Event()

        def hang(got):
            reached.set()
            return door(got)
        tokens.on("/token", hang)
        self.assertTrue(reached.wait(PATIENCE))
        self.restart(relay)
        tokens.on("/token", as_json(200, json.dumps({"access_token": "T", "token_type": "Bearer", "expires_in": 600})))
        spent = []
        for id in ids:
            job = self.wait_for_end(relay, id, seconds=45)
            results = [attempt["result"] for attempt in job["attempts"] if attempt["spent"]]
            self.assertEqual(len(results), job["spent_attempts"], job)
            spent.append(results)
        self.assertEqual(sorted(spent), [["interrupted", "success"]] + [["success"]] * 4)
        self.assertEqual({seen["Authorization"] for seen in self.upstream.seen("/x")}, {"Bearer T"})

    def test_a_job_waits_while_its_credential_is_refused_also_when_it_is_fresh(self):
        tokens = self.new_upstream()
        count = []

        def token(_):
            count.append(1)
            return as_json(200, json.dumps({"access_token": f"T{len(count)}", "token_type": "Bearer"}))
        tokens.on("/token", token)
        good = []
        self.upstream.on("/x", lambda got: answer(200 if good else 401, "no"))
        relay = self.new_relay({})
        auth = {"type": "oauth2_client_credentials", "token_url": tokens.url + "token", "client_id": "me",
                "client_secret": relay.secret("client", "s3cret")}
        relay.write({"up": kept(self.upstream.url, auth=auth, max_attempts=2)})
        relay.start()
        id = self.hand_over(relay, "/r/up/x", method="PUT")
        eventually(lambda: len(self.upstream.seen("/x")) >= 4, "it is tried again", 20)
        eventually(
            lambda: self.look(relay, id).get("blocker", {}).get("reason") == "credentials", "it says what it waits for")
        job = self.look(relay, id)
        self.assertEqual(job["spent_attempts"], 0, job)
        self.assertEqual((job["last_failure"]["kind"], job["last_failure"]["status"]), ("credentials_failed", 401), job)
        good.append(True)
        job = self.wait_for_end(relay, id, seconds=45)
        self.assertEqual(job["spent_attempts"], 1, job)

    def test_a_document_shows_a_job_as_it_was_at_one_moment(self):
        self.upstream.on("/x", *[answer(503)] * 60, answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url, recovery=[again(wait="1ms", attempts=99)], **UNBOUNDED)}).start()
        id = self.hand_over(relay, "/r/up/x", method="PUT")
        with Caller(relay.control) as caller:
            while True:
                job = caller.ask("GET", f"/v1/jobs/{id}").json()
                self.assertEqual([attempt["number"] for attempt in job["attempts"]], [*range(1, job["attempt_count"] + 1)])
                self.assertEqual("under_way" in job, job["state"] == "running", job)
                if "under_way" in job:
                    self.assertEqual(job["under_way"]["number"], job["attempt_count"] + 1)
                if job["state"] == "succeeded":
                    break
                self.assertIn(job["state"], ("queued", "running", "retrying"))
        self.assertEqual((job["attempt_count"], "blocker" in job), (61, False))

    def test_one_dead_route_of_ten_slows_no_other(self):
        dead, door = self.new_upstream(), self.new_door()
        dead.on("/x", door)
        self.upstream.on("/x", answer(200))
        routes = {f"r{n}": kept(self.upstream.url, concurrency={"max_requests": 8}) for n in range(9)}
        routes["dead"] = kept(dead.url, concurrency={"max_requests": 8}, timeouts={"attempt": "30s", "idle": "30s"})
        relay = self.new_relay(routes).start()
        with relay.caller() as caller:
            def hand_over(name):
                got = caller.ask("PUT", f"/r/{name}/x", [("Prefer", "respond-async")], b"x")
                self.assertEqual(got.status, 202, got)
            for _ in range(300):
                hand_over("dead")
            dead.wait_for("/x", 8)
            began = time.monotonic()
            for turn in range(180):
                hand_over(f"r{turn % 9}")
        self.upstream.wait_for("/x", 180)
        self.assertLess(time.monotonic() - began, self.within(10))
        self.assertEqual(len(dead.seen("/x")), 8, "no more than the route may have at once")
        jobs = ask(relay.control, "GET", "/v1/jobs?route=dead&state=queued&limit=500").json()["jobs"]
        self.assertEqual(len(jobs), 292)
        door.open()
        dead.wait_for("/x", 300)

    def test_webhooks_keep_their_id_and_have_a_signature_that_fits_each_attempt(self):
        secret = base64.b64encode(bytes(range(32))).decode()
        self.upstream.on("/x", answer(500), lambda got: got.connection.socket.close(), answer(200))
        relay = self.new_relay({})
        signing = {"type": "standard_webhooks", "secrets": [relay.secret("hook", "whsec_" + secret)]}
        relay.write({"up": kept(self.upstream.url, signing=signing)})
        relay.start()
        id = self.hand_over(relay, "/r/up/x", body=b'{"a":1}')
        self.upstream.wait_for("/x", 1)
        self.wait_for_end(relay, id)
        seen = self.upstream.seen("/x")
        self.assertEqual(len(seen), 3)
        self.assertEqual(len({got["webhook-id"] for got in seen}), 1)
        self.assertRegex(seen[0]["webhook-id"], r"^[^.]+$")
        for got in seen:
            content = f"{got['webhook-id']}.{got['webhook-timestamp']}.".encode() + got.body
            made = base64.b64encode(hmac.new(base64.b64decode(secret), content, "sha256").digest()).decode()
            self.assertIn("v1," + made, got["webhook-signature"].split(" "))
            self.assertLess(abs(int(got["webhook-timestamp"]) - time.time()), 30)


if __name__ == "__main__":
    unittest.main()
