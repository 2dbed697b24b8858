"""Following an operation that the upstream begins with a 202 to its end."""

import pathlib
import subprocess
import unittest

from caller import ask
from durable import DurableTest, kept
from relay import daemon, eventually, route
from upstream import answer, as_json

RUNNING, DONE = as_json(200, '{"status": "Running"}'), as_json(200, '{"status": "Succeeded", "film": 7}')
BEGUN = answer(202, '{"id": 7}', ("Operation-Location", "/ops/7?token=s3cret"))


def follow(**members):
    return {"interval": "100ms", "max_interval": "200ms", **members}


class Follow(DurableTest):
    def following(self, make=route, **members):
        return self.new_relay({"up": make(self.upstream.url, **{"follow": follow(), **members})}).start()

    def script(self, *looks, begun=BEGUN):
        self.upstream.on("/x", begun, answer(500))
        self.upstream.on("/ops/7", *looks)

    def asked(self):
        return [len(self.upstream.seen(path)) for path in ("/x", "/ops/7")]

    def explain(self, relay, id):
        program = pathlib.Path(daemon()).with_name("waystation")
        return subprocess.run(
            [program, "explain", id, "--socket", relay.control], capture_output=True, text=True, check=True,
            timeout=30).stdout

    def test_a_caller_gets_the_end_of_the_operation(self):
        self.script(RUNNING, answer(503), DONE)
        relay = self.following()
        got = relay.ask("POST", "/r/up/x", body=b"film")
        self.assertEqual((got.status, got.json()["film"], got["Waystation-Source"]), (200, 7, "followed"), got)
        self.assertEqual((got["Waystation-Outcome"], self.asked()), ("success", [1, 3]))
        job = relay.job(got)
        self.assertEqual([(a["result"], a.get("look_up")) for a in job["attempts"]],
                         [("success", None), ("failure", "unanswered"), ("success", "done")])
        self.assertEqual((job["attempts"][0]["next"], job["attempts"][0]["operation"]), ("follow", "/ops/7"))
        story = self.explain(relay, job["id"])
        self.assertIn("look at /ops/7 in 100ms", story)
        self.assertRegex(story, r"look-up 3\s+→ u1 .*200 done")
        self.assertIn("answered 200, at the end of its operation", story)
        metrics = ask(relay.control, "GET", "/metrics").body.decode()
        for word, count in ("running", 1), ("unanswered", 1), ("done", 1), ("failed", 0):
            self.assertIn(f'waystation_operation_looks_total{{route="up",result="{word}"}} {count}', metrics)
        for text in (story, metrics, str(job), relay.errors.text()):
            self.assertNotIn("s3cret", text)

    def test_a_caller_without_the_time_gets_the_202(self):
        self.script(RUNNING)
        relay = self.following()
        got = relay.ask("POST", "/r/up/x", [("Waystation-Timeout", "500ms")], b"film")
        self.assertEqual((got.status, got.json(), got["Waystation-Source"]), (202, {"id": 7}, "begun"), got)
        self.assertIn("answered 202, and its operation goes on", self.explain(relay, got["Waystation-Job"]))

    def begin(self, relay, timeout):
        """A caller whose operation goes on."""
        caller = self.enterContext(relay.caller())
        caller.send(f"POST /r/up/x HTTP/1.1\r\nHost: localhost\r\nWaystation-Timeout: {timeout}\r\n"
                    "Content-Length: 4\r\n\r\nfilm".encode())
        self.upstream.wait_for("/ops/7")
        return caller

    def test_others_have_the_permit_while_a_caller_waits_for_an_operation(self):
        self.script(RUNNING)
        self.upstream.on("/y", answer(200))
        relay = self.following(concurrency={"max_requests": 1})
        caller = self.begin(relay, "20s")
        self.assertEqual(relay.ask("GET", "/r/up/y", [("Waystation-Timeout", "5s")]).status, 200)
        self.upstream.on("/ops/7", DONE)
        self.assertEqual(caller.answer()["Waystation-Source"], "followed")

    def test_a_caller_without_a_permit_for_a_look_gets_the_202_in_time(self):
        door = self.new_door()
        self.script(RUNNING)
        self.upstream.on("/z", door)
        relay = self.following(concurrency={"max_requests": 1, "max_pending_requests": 1})
        caller = self.begin(relay, "2s")
        with relay.caller() as other:
            other.send(b"GET /r/up/z HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.upstream.wait_for("/z")
            got, (_, looks) = caller.answer(), self.asked()
            self.assertEqual((got.status, got["Waystation-Source"]), (202, "begun"), got)
            self.assertIn("deadline has passed", self.explain(relay, got["Waystation-Job"]))
            door.open()
            self.assertEqual((other.answer().status, self.asked()[1]), (200, looks))

    def test_a_kept_job_is_sent_once_whatever_kills_the_relay(self):
        door = self.new_door()
        self.script(RUNNING, door, RUNNING, DONE)
        relay = self.following(kept)
        id = self.hand_over(relay, "/r/up/x", ("Waystation-Ordering-Key", "k"))
        self.upstream.wait_for("/ops/7", 2)
        # Killed while a look is under way.
        self.restart(relay)
        door.open()
        job = self.wait_for_end(relay, id)
        self.assertEqual((job["source"], job["status"], job.get("in_doubt")), ("followed", 200, None), job)
        self.assertEqual(ask(relay.control, "GET", f"/v1/jobs/{id}/response").json()["film"], 7)
        self.assertEqual(self.asked()[0], 1)

    def test_a_kept_job_waits_over_a_crash_and_says_what_for(self):
        self.script(RUNNING)
        relay = self.following(kept, follow=follow(interval="1m", max_interval="1m"), concurrency={"max_requests": 1})
        id = self.hand_over(relay, "/r/up/x")
        job = self.wait_until(relay, id, state="retrying", reason="following", in_doubt=True)
        self.assertEqual(job["blocker"]["reason"], "following")
        self.restart(relay)
        # The one permit is free meanwhile.
        self.upstream.on("/y", answer(200))
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/y"))
        self.upstream.on("/ops/7", DONE)
        self.act(relay, id, "retry")
        self.assertEqual(self.wait_for_end(relay, id)["source"], "followed")
        self.assertEqual(self.asked()[0], 1)

    def test_an_operation_that_fails_or_is_gone_is_not_begun_again(self):
        relay = self.following(kept)
        for look, kind in (as_json(200, '{"status": "Failed"}'), "operation_failed"), (answer(404), "operation_lost"):
            self.script(look)
            sent = self.asked()[0]
            job = self.wait_for_end(relay, self.hand_over(relay, "/r/up/x"), "dead")
            self.assertEqual((job["last_failure"]["kind"], job["end"]), (kind, "not_repeatable"), job)
            self.assertEqual(self.asked()[0], sent + 1)

    def test_an_address_elsewhere_is_not_asked(self):
        base = self.upstream.url.rstrip("/")
        place = f"{base}/ops/7?token=s3cret"
        below = {"follow": follow(below="/ops")}
        relay = self.new_relay({
            "up": route(self.upstream.url, **below), "deep": route(base + "/v1", follow=follow()),
            "wide": route(base + "/v1", **below)}).start()
        for name, place, word in (
                ("up", "http://127.0.0.2:1/ops/7?token=s3cret", "another origin"), ("deep", place, "follow.below"),
                ("deep", "/v1/%2e%2e/ops/7", "escapes")):
            begun = answer(202, "", ("Location", place))
            self.upstream.on("/x", begun)
            self.upstream.on("/v1/x", begun)
            problem = self.assert_problem(relay.ask("POST", f"/r/{name}/x", body=b"film"), 502, "invalid_response")
            self.assertIn(word, problem["detail"])
            self.assertEqual((problem["kind"], self.asked()[1]), ("follow_refused", 0))
            self.assertNotIn("s3cret", str(problem))
        self.upstream.on("/v1/x", BEGUN)
        self.upstream.on("/ops/7", answer(302, "", ("Location", "/ops/8")))
        self.upstream.on("/ops/8", DONE)
        self.assertEqual(relay.ask("POST", "/r/wide/x", body=b"film")["Waystation-Source"], "followed")

    def stops(self):
        return [seen for seen in self.upstream.seen("/ops/7") if seen.method == "DELETE"]

    def test_a_cancelled_job_has_its_operation_stopped_once(self):
        slow = follow(interval="1m", max_interval="1m")
        relay = self.new_relay({
            "up": kept(self.upstream.url, follow={**slow, "cancel": "DELETE"}),
            "mute": kept(self.upstream.url, follow=slow)}).start()
        for name, word in ("up", "told"), ("mute", None):
            self.script(lambda request: answer(204) if request.method == "DELETE" else RUNNING)
            id = self.hand_over(relay, f"/r/{name}/x")
            self.wait_until(relay, id, state="retrying", reason="following")
            self.assertEqual(self.act(relay, id, "cancel").json()["state"], "cancelled")
            if word:
                eventually(lambda: len(self.look(relay, id)["attempts"]) == 2, "the stop is on record")
            job = self.look(relay, id)
            self.assertEqual([a.get("look_up") for a in job["attempts"]][1:], [word] if word else [], job)
            self.assertEqual((job["state"], job["in_doubt"], len(self.stops())), ("cancelled", True, 1), job)
            self.assertIn("told" if word else "was not told to stop it (follow.cancel)", self.explain(relay, id))
        relay.errors.wait("was told to stop the operation, and has taken that (told), 204")
        metrics = ask(relay.control, "GET", "/metrics").body.decode()
        self.assertIn('waystation_operation_looks_total{route="up",result="told"} 1', metrics)
        self.assertNotIn('route="mute",result="told"', metrics)
        self.restart(relay)
        self.assertEqual(len(self.stops()), 1)

    def begin_stoppable(self):
        """A relay, a caller who waits for a look, and the door that this look waits for."""
        door = self.new_door()
        self.script(lambda request: answer(204) if request.method == "DELETE" else door)
        relay = self.following(follow=follow(cancel="DELETE"))
        return relay, self.begin(relay, "20s"), door

    def test_a_caller_that_goes_away_has_its_operation_stopped(self):
        _, caller, door = self.begin_stoppable()
        caller.close()
        self.upstream.wait_for("/ops/7", 2)
        door.open()
        self.assertEqual([seen.target for seen in self.stops()], ["/ops/7?token=s3cret"])

    def test_an_upstream_that_does_not_answer_a_stop_holds_up_no_other_and_nobody(self):
        door, other = self.new_door(), self.new_upstream()
        self.script(lambda request: door if request.method == "DELETE" else RUNNING)
        for each in self.upstream, other:
            each.on("/x", BEGUN)
        other.on("/ops/7", lambda request: answer(204) if request.method == "DELETE" else RUNNING)
        slow = follow(interval="1m", max_interval="1m", cancel="DELETE")
        relay = self.new_relay({
            "up": kept(self.upstream.url, follow=slow), "well": kept(other.url, follow=slow),
            "call": route(self.upstream.url, follow=follow(cancel="DELETE"), concurrency={"max_requests": 1})}).start()
        for name in "up", "up", "up", "up", "up", "well":
            id = self.hand_over(relay, f"/r/{name}/x")
            self.wait_until(relay, id, state="retrying", reason="following")
            self.act(relay, id, "cancel")
        eventually(lambda: [seen for seen in other.seen("/ops/7") if seen.method == "DELETE"], "the other is told")
        eventually(lambda: len(self.stops()) == 4, "four are told at once")
        # A caller that went away keeps neither its key nor its permit while the upstream is told.
        key = "Idempotency-Key: k\r\nContent-Length: 4\r\n\r\nfilm"
        with relay.caller() as caller:
            caller.send(f"POST /r/call/x HTTP/1.1\r\nHost: localhost\r\n{key}".encode())
            self.upstream.wait_for("/x", 6)
            eventually(lambda: self.asked()[1] > 9, "the operation is looked at")
        eventually(lambda: len(self.stops()) == 5, "the upstream is told")
        self.upstream.on("/x", answer(201))
        got = relay.ask("POST", "/r/call/x", [("Idempotency-Key", "k"), ("Waystation-Timeout", "5s")], b"film")
        self.assertEqual(got.status, 201, got)
        door.open()

    def test_a_relay_that_is_told_twice_to_stop_has_no_operation_stopped(self):
        relay, _, door = self.begin_stoppable()
        self.stop_at_once(relay)
        door.open()
        self.assertEqual(self.stops(), [])

    def test_a_reload_sends_the_address_to_no_other_origin(self):
        other = self.new_upstream()
        other.on("/ops/7", DONE)
        self.script(RUNNING)
        slow = follow(interval="500ms", max_interval="500ms")
        relay = self.new_relay({"up": kept({"name": "a", "url": self.upstream.url}, follow=slow)}).start()
        id = self.hand_over(relay, "/r/up/x")
        self.wait_until(relay, id, state="retrying", reason="following")
        relay.write({"up": kept({"name": "b", "url": other.url}, follow=slow)})
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        job = self.wait_for_end(relay, id, "dead")
        self.assertEqual((job["end"], job["last_failure"]["kind"]), ("outcome_unknown", "operation_lost"), job)
        self.assertIn("follows it no more", job["last_failure"]["detail"])
        self.assertEqual(other.requests, [])
        # Where it began its operation goes on, also when an operator has it sent again.
        self.upstream.on("/ops/7", DONE)
        relay.write({"up": kept({"name": "c", "url": self.upstream.url}, follow=slow)})
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        self.act(relay, id, "retry")
        self.assertEqual(self.wait_for_end(relay, id)["source"], "followed")
        self.assertEqual(self.asked()[0], 1)

    def test_a_head_that_names_the_operation_is_enough(self):
        def cut(request):
            request.connection.send(
                b"HTTP/1.1 202 Accepted\r\nOperation-Location: /ops/7\r\nContent-Length: 100\r\n\r\nabc")
            request.connection.socket.close()
        self.script(DONE, begun=cut)
        relay = self.following(kept)
        job = self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", method="PUT"))
        self.assertEqual((job["source"], self.asked()), ("followed", [1, 1]), job)
        self.assertIn("given up", str(job["attempts"][0]))


if __name__ == "__main__":
    unittest.main()
