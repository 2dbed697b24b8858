"""Asking the upstream what became of a request in doubt before it is sent again."""

import pathlib
import subprocess
import unittest

from caller import ask
from durable import DurableTest, kept
from relay import daemon, route
from upstream import Close, answer, as_json

AGAIN = {"name": "again", "on": ["any"], "retry": {
    "max_attempts": 5, "backoff": {"type": "constant", "base_interval": "20ms"}}}
JSON = [("Content-Type", "application/json")]


def verify(path="charges?reference={json:/reference}", **members):
    return {"request": {"path": path}, "found": {"status": ["200"]}, "absent": {"status": ["404"]},
            "settle_after": "50ms", **members}


class Verify(DurableTest):
    def asking(self, make=route, **members):
        return self.new_relay({"up": make(self.upstream.url, **{
            "recovery": [AGAIN], "verify": verify(), **members})}).start()

    def told(self, job):
        return [(a["result"], a.get("look_up")) for a in job["attempts"]]

    def explain(self, relay, id):
        program = pathlib.Path(daemon()).with_name("waystation")
        return subprocess.run(
            [program, "explain", id, "--socket", relay.control], capture_output=True, text=True, check=True,
            timeout=30).stdout

    def test_a_charge_whose_answer_is_lost_is_found_and_not_made_again(self):
        self.upstream.on("/x", Close())
        self.upstream.on("/charges", as_json(200, '{"id": 7}'))
        relay = self.asking()
        got = relay.ask("POST", "/r/up/x", JSON, b'{"reference": "a b/7"}')
        self.assertEqual((got.status, got.json(), got["Waystation-Source"]), (200, {"id": 7}, "verified"))
        self.assertEqual(got["Waystation-Outcome"], "success")
        self.assertEqual(len(self.upstream.seen("/x")), 1)
        self.assertEqual([(s.method, s.target) for s in self.upstream.seen("/charges")],
                         [("GET", "/charges?reference=a%20b%2F7")])
        job = relay.job(got)
        self.assertEqual((self.told(job), job["source"]), ([("failure", None), ("success", "found")], "verified"))
        self.assertEqual((job["attempts"][0]["next"], job["attempts"][0]["wait_ms"]), ("verify", 50))
        story = self.explain(relay, job["id"])
        self.assertIn("ask the upstream in 50ms what became of it", story)
        self.assertRegex(story, r"look-up 2\s+→ u1 .*200 found")
        self.assertIn('waystation_verifications_total{route="up",result="found"} 1',
                      ask(relay.control, "GET", "/metrics").body.decode())

    def test_what_the_upstream_does_not_have_is_sent_again_without_a_key(self):
        self.upstream.on("/x", Close(), answer(201, "made"))
        self.upstream.on("/charges", answer(503), answer(404))
        relay = self.asking()
        got = relay.ask("POST", "/r/up/x", JSON, b'{"reference": "r"}')
        self.assertEqual((got.status, got["Waystation-Source"]), (201, "upstream"), got)
        self.assertEqual(self.told(relay.job(got)), [
            ("failure", None), ("failure", "unclear"), ("success", "absent"), ("success", None)])
        self.assertEqual([s.body for s in self.upstream.seen("/x")], [b'{"reference": "r"}'] * 2)

    def test_where_the_upstream_does_not_say_the_request_stays_in_doubt(self):
        self.upstream.on("/x", Close())
        self.upstream.on("/charges", answer(500))
        relay = self.asking(verify=verify(attempts=2))
        got = relay.ask("POST", "/r/up/x", JSON, b'{"reference": "r"}')
        self.assertEqual(got.status, 502, got)
        job = relay.job(got)
        self.assertEqual(job["last_failure"]["sent"], "unknown", job)
        self.assertEqual([held["rule"] for held in job["attempts"][-1]["held_back"]], ["verify", "again"])
        self.assertEqual((len(self.upstream.seen("/x")), len(self.upstream.seen("/charges"))), (1, 2))

    def test_a_request_that_has_no_value_to_ask_by_is_sent_and_stays_in_doubt(self):
        self.upstream.on("/x", answer(201, "made"), Close())
        relay = self.asking()
        self.assertEqual(relay.ask("POST", "/r/up/x", JSON, b'{"other": 1}').status, 201)
        got = relay.ask("POST", "/r/up/x", JSON, b'{"other": 1}')
        self.assertEqual(got.status, 502, got)
        held = relay.job(got)["attempts"][0]["held_back"][0]
        self.assertEqual(held["rule"], "verify")
        self.assertEqual(
            held["reason"],
            "the upstream cannot be asked: the request has nothing for {json:/reference} of verify.request")
        self.assertEqual((len(self.upstream.seen("/x")), self.upstream.seen("/charges")), (2, []))

    def test_a_failing_answer_without_content_reaches_the_caller_where_the_upstream_does_not_say(self):
        self.upstream.on("/x", answer(500))
        self.upstream.on("/charges", answer(500))
        got = self.asking(verify=verify(attempts=1)).ask("POST", "/r/up/x", JSON, b'{"reference": "r"}')
        self.assertEqual((got.status, got["Waystation-Source"]), (500, "upstream"), got)

    def test_the_caller_may_get_a_part_of_what_was_found(self):
        self.upstream.on("/x", Close())
        self.upstream.on("/charges", as_json(200, '{"data": [{"id": 7}]}'))
        got = self.asking(verify=verify(answer="/data/0")).ask("POST", "/r/up/x", JSON, b'{"reference": "r"}')
        self.assertEqual((got.status, got["Waystation-Source"], got.json()), (200, "verified", {"id": 7}), got)

    def test_a_body_that_comes_in_pieces_is_collected_first(self):
        self.upstream.on("/x", Close())
        self.upstream.on("/charges", answer(200))
        relay = self.asking()
        body = b'{"reference": "r", "more": "' + b"m" * 600_000 + b'"}'
        self.assertEqual(relay.ask("POST", "/r/up/x", JSON, body)["Waystation-Source"], "verified")
        self.assertEqual([len(s.body) for s in self.upstream.seen("/x")], [len(body)])

    def crash(self, **members):
        """A relay that was killed while its upstream had the one attempt of a job, and started again."""
        self.upstream.on("/x", self.new_door(), answer(201, "made"))
        relay = self.asking(kept, **members)
        id = self.hand_over(relay, "/r/up/x", *JSON, body=b'{"reference": "r"}')
        self.upstream.wait_for("/x")
        self.restart(relay)
        return relay, id

    def test_a_job_that_was_in_flight_at_a_crash_is_found(self):
        self.upstream.on("/charges", as_json(200, '{"id": 7}'))
        relay, id = self.crash()
        job = self.wait_for_end(relay, id)
        self.assertEqual((job["source"], job["status"], job.get("in_doubt")), ("verified", 200, None), job)
        self.assertEqual(self.told(job), [("interrupted", None), ("success", "found")])
        self.assertEqual(len(self.upstream.seen("/x")), 1)
        answered = ask(relay.control, "GET", f"/v1/jobs/{id}/response")
        self.assertEqual(answered.json(), {"id": 7})

    def test_a_job_that_was_in_flight_at_a_crash_and_not_carried_out_is_sent_once_more(self):
        self.upstream.on("/charges", answer(404))
        relay, id = self.crash()
        job = self.wait_for_end(relay, id)
        self.assertEqual((job["source"], job["status"]), ("upstream", 201), job)
        self.assertEqual(self.told(job), [("interrupted", None), ("success", "absent"), ("success", None)])
        self.assertEqual(len(self.upstream.seen("/x")), 2)

    def test_a_job_that_was_in_flight_at_a_crash_stays_in_doubt_where_the_upstream_does_not_say(self):
        self.upstream.on("/charges", answer(500))
        relay, id = self.crash(verify=verify(attempts=1))
        job = self.wait_for_end(relay, id, "dead")
        self.assertEqual((job["end"], job["in_doubt"]), ("outcome_unknown", True), job)
        self.assertEqual(self.told(job), [("interrupted", None), ("failure", "unclear")])
        self.assertEqual(len(self.upstream.seen("/x")), 1)
        # An operator who has it sent again has the upstream asked once more, and finds it.
        self.upstream.on("/charges", answer(200))
        self.act(relay, id, "retry")
        job = self.wait_for_end(relay, id)
        self.assertEqual((job["source"], len(self.upstream.seen("/x"))), ("verified", 1), job)

    def test_a_kept_job_waits_for_the_question_over_a_restart(self):
        self.upstream.on("/x", Close())
        self.upstream.on("/charges", answer(200))
        relay = self.asking(kept, verify=verify(settle_after="1s"))
        id = self.hand_over(relay, "/r/up/x", *JSON, body=b'{"reference": "r"}')
        self.wait_until(relay, id, state="retrying", in_doubt=True)
        self.restart(relay)
        job = self.wait_for_end(relay, id)
        self.assertEqual(self.told(job), [("failure", None), ("success", "found")])
        self.assertGreaterEqual(self.upstream.seen("/charges")[0].at - self.upstream.seen("/x")[0].at, 0.99)
        self.assertEqual(len(self.upstream.seen("/x")), 1)


if __name__ == "__main__":
    unittest.main()
