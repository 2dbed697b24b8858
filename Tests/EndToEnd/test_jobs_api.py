"""Durable jobs over HTTP: handed over, looked up, replayed, acted on, and told of."""

import json
import os
import signal
import threading
import time
import unittest

from caller import Caller, ask, chunked, request
from relay import RelayTest, eventually, route
from test_access import STRANGER, ask_as
from upstream import answer, as_json

MIB = 1 << 20
ASYNC = ("Prefer", "respond-async")
AGAIN = {"name": "again", "on": ["5xx", "connection"], "retry": {
    "max_attempts": 2, "backoff": {"type": "constant", "base_interval": "10ms"}}}


class JobsAPI(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        # A name of its own for every place where a test wants to pause or count.
        cls.relay = cls.shared_relay({
            "up": route(cls.upstream.url, recovery=[AGAIN]),
            "kept": route(cls.upstream.url, delivery={"mode": "durable"}),
            "shut": route(cls.upstream.url), "bulk": route(cls.upstream.url), "spread": route(cls.upstream.url),
            "seen": route(cls.upstream.url), "flood": route(cls.upstream.url), "lone": route(cls.upstream.url),
        }, limits={"max_request_body": "8MiB", "replay_buffer": "64KiB"}).start()

    def setUp(self):
        self.upstream.forget()
        self.upstream.on("/ok", as_json(201, '{"id":7}', ("X-Own", "1")))
        self.upstream.on("/echo", lambda got: answer(200, got.body, ("Content-Type", got["Content-Type"] or "none")))

    def control(self, method, target, document=None, *fields):
        body = None if document is None else json.dumps(document).encode()
        return ask(self.relay.control, method, target, fields, body)

    def hand_over(self, route, path="/ok", *fields, body=b"hello"):
        got = self.relay.ask("POST", f"/r/{route}{path}", [ASYNC, *fields], body)
        self.assertEqual(got.status, 202, got)
        return got["Waystation-Job"]

    def over(self, job):
        got = self.control("GET", f"/v1/jobs/{job}?wait=10s")
        self.assertEqual(got.status, 200, got)
        self.assertIn(got.json()["state"], ("succeeded", "dead", "cancelled", "expired"), got)
        return got.json()

    def pause(self, name):
        self.assertEqual(self.control("POST", f"/v1/routes/{name}/pause", {"reason": "a test"}).status, 200)
        self.addCleanup(self.control, "POST", f"/v1/routes/{name}/resume")

    # Handing over.

    def test_a_request_that_prefers_so_is_accepted_and_delivered_later(self):
        got = self.relay.ask("POST", "/r/up/ok", [ASYNC, ("Waystation-Label", "order=7")], b"hello")
        job = got["Waystation-Job"]
        self.assertEqual((got.status, got["Location"], got["Preference-Applied"]), (202, f"/v1/jobs/{job}", "respond-async"))
        self.assertEqual((got.json()["id"], got.json()["state"]), (job, "queued"), got)
        told = self.over(job)
        self.assertEqual((told["state"], told["outcome"], told["status"]), ("succeeded", "success", 201), told)
        self.assertEqual((told["labels"], told["client"]["uid"]), (["order=7"], os.getuid()))
        self.assertEqual([(a["number"], a["status"], a["result"]) for a in told["attempts"]], [(1, 201, "success")])
        seen = self.upstream.wait_for("/ok")[-1]
        self.assertEqual((seen.body, seen["Prefer"]), (b"hello", None))
        replay = self.relay.ask("GET", f"/v1/jobs/{job}/response")
        self.assertEqual((replay.status, replay.body, replay["X-Own"]), (201, b'{"id":7}', "1"), replay)
        self.assertEqual((replay["Waystation-Job"], replay["Waystation-Source"]), (job, "upstream"))

    def test_a_durable_route_keeps_what_does_not_say_so(self):
        got = self.relay.ask("POST", "/r/kept/ok", [], b"x")
        self.assertEqual((got.status, got["Preference-Applied"]), (202, None), got)
        self.assertEqual(self.over(got["Waystation-Job"])["state"], "succeeded")
        for path, wait, status in ("/ok", 10, 201), ("/slow", 0, 202):
            held = threading.Event()
            self.upstream.on("/slow", lambda got: held.wait(60) and answer(200, "late"))
            got = self.relay.ask("POST", "/r/kept" + path, [("Prefer", f"wait={wait}")], b"x")
            self.assertEqual((got.status, got["Preference-Applied"]), (status, f"wait={wait}"), got)
            held.set()

    def test_a_durable_route_answers_no_job_at_once(self):
        body = json.dumps({"route": "kept", "mode": "sync", "request": {"path": "/ok"}}).encode()
        problem = self.assert_problem(self.relay.ask("POST", "/v1/jobs", [], body), 422, "invalid_job")
        self.assertEqual([error["pointer"] for error in problem["errors"]], ["/mode"])

    def test_a_key_that_is_known_stands_for_its_first_job(self):
        key = ("Idempotency-Key", '"8841-shipped"')
        first = self.relay.ask("POST", "/r/up/ok", [ASYNC, key], b"one")
        again = self.relay.ask("POST", "/r/up/ok", [ASYNC, key], b"one")
        self.assertEqual((first.status, again.status), (202, 200), again)
        self.assertEqual((again["Location"], again["Waystation-Replayed"]), (first["Location"], "true"))
        self.assertEqual(again.json()["id"], first["Waystation-Job"])
        other = self.relay.ask("POST", "/r/up/ok", [ASYNC, key], b"two")
        self.assert_problem(other, 422, "idempotency_key_reused")
        self.over(first["Waystation-Job"])
        self.assertEqual(len(self.upstream.seen("/ok")), 1)

    def test_a_key_outlives_its_job_that_was_dropped(self):
        key = ("Idempotency-Key", "dropped-1")
        job = self.hand_over("up", "/ok", key)
        self.over(job)
        self.assertEqual(self.control("DELETE", f"/v1/jobs/{job}").status, 204)
        for wait in "", ", wait=5":
            again = self.relay.ask("POST", "/r/up/ok", [("Prefer", "respond-async" + wait), key], b"hello")
            self.assertEqual((again.status, again["Waystation-Job"]), (200, job), again)
            self.assertEqual((again["Waystation-Replayed"], again.json()["dropped"]), ("true", True), again)

    def test_who_waits_has_the_answer_when_it_comes_in_time(self):
        got = self.relay.ask("POST", "/r/up/ok", [("Prefer", "respond-async, wait=10")], b"x")
        self.assertEqual((got.status, got.body, got["X-Own"]), (201, b'{"id":7}', "1"), got)
        self.assertEqual(got["Preference-Applied"], "respond-async, wait=10")
        self.assertEqual(got.all("Location"), [], "where what was made is, which nobody said")
        held = threading.Event()
        self.upstream.on("/slow", lambda got: held.wait(60) and answer(200, "late"))
        late = self.relay.ask("POST", "/r/up/slow", [("Prefer", "respond-async, wait=0")], b"x")
        self.assertEqual((late.status, late["Preference-Applied"]), (202, "respond-async, wait=0"), late)
        early = self.relay.ask("GET", late["Location"] + "/response")
        self.assert_problem(early, 409, "response_not_ready")
        held.set()
        waited = self.relay.ask("GET", late["Location"] + "/response", [("Prefer", "wait=10")])
        self.assertEqual((waited.status, waited.body, waited["Preference-Applied"]), (200, b"late", "wait=10"), waited)

    def test_a_failure_in_time_is_told_as_to_a_caller_that_waits(self):
        self.upstream.on("/gone", answer(410, "gone"))
        got = self.relay.ask("POST", "/r/up/gone", [("Prefer", "respond-async, wait=10")], b"x")
        self.assertEqual((got.status, got.body, got["Waystation-Outcome"]), (410, b"gone", "failure"), got)

    def test_a_large_body_goes_to_disk_and_comes_back_byte_for_byte(self):
        body = os.urandom(5 * MIB + 17)
        for framing in "length", "chunks":
            with self.relay.caller(30) as caller:
                if framing == "length":
                    caller.send(request("POST", "/r/up/echo", [ASYNC], body))
                else:
                    head = request("POST", "/r/up/echo", [ASYNC, ("Transfer-Encoding", "chunked")])
                    caller.send(head + chunked(*[body[at:at + 100_000] for at in range(0, len(body), 100_000)]))
                got = caller.answer()
            self.assertEqual(got.status, 202, got)
            job = self.over(got["Waystation-Job"])
            self.assertEqual((job["state"], job["request"]["size"]), ("succeeded", len(body)), job)
            self.assertEqual(self.upstream.seen("/echo")[-1].body, body)
            for path in "request/body", "response/body", "response":
                self.assertEqual(self.relay.ask("GET", f"{got['Location']}/{path}").body, body, path)
            shown = self.relay.ask("GET", got["Location"] + "?include=body").json()
            self.assertEqual(shown["request"]["body"], {"size": len(body), "href": got["Location"] + "/request/body"})

    def test_a_body_past_the_limit_is_refused_and_nothing_is_kept(self):
        before = self.control("GET", "/v1/routes/lone").json()["jobs"]
        announced = self.relay.ask("POST", "/r/lone/ok", [ASYNC, ("Content-Length", 9 * MIB)])
        self.assert_problem(announced, 413, "content_too_large")
        with self.relay.caller(30) as caller:
            caller.send(request("POST", "/r/lone/ok", [ASYNC, ("Transfer-Encoding", "chunked")]))
            for _ in range(9):
                caller.send_quietly(b"%x\r\n%s\r\n" % (MIB, b"x" * MIB))
            self.assert_problem(caller.answer(), 413, "content_too_large")
        with self.relay.caller() as caller:
            caller.send(request("POST", "/r/lone/ok", [ASYNC, ("Content-Length", 2 * MIB)]) + b"x" * MIB)
        with self.relay.caller() as caller:
            caller.send(request("POST", "/r/lone/ok", [ASYNC, ("Transfer-Encoding", "chunked")]) + b"zz\r\n")
            self.assert_problem(caller.answer(), 400, "bad_request")
        bodies = self.relay.directory / "state"
        eventually(lambda: not [p for p in bodies.rglob("*") if p.is_file() and p.stat().st_size > 900_000
                                and "bod" in str(p.parent)], "the spooled bodies are gone")
        self.assertEqual(self.control("GET", "/v1/routes/lone").json()["jobs"], before)

    def test_a_caller_that_asks_to_continue_hears_so_after_the_decision_only(self):
        with self.relay.caller() as caller:
            caller.send(request("POST", "/r/nowhere/ok", [ASYNC, ("Expect", "100-continue"), ("Content-Length", 3)]))
            got = caller.answer()
            self.assertEqual((got.status, got.interim), (404, []), got)
        with self.relay.caller() as caller:
            caller.send(request("POST", "/r/up/ok", [ASYNC, ("Expect", "100-continue"), ("Content-Length", 3)]))
            self.assertEqual(caller.head().status, 100)
            caller.send(b"abc")
            self.assertEqual(caller.answer().status, 202)

    def test_a_caller_that_leaves_after_acceptance_takes_nothing_back(self):
        held = threading.Event()
        self.upstream.on("/left", lambda got: held.wait(60) and answer(200, "done"))
        with self.relay.caller() as caller:
            caller.send(request("POST", "/r/up/left", [("Prefer", "respond-async, wait=60"), ("Waystation-Label", "who=left")], b"x"))
            self.upstream.wait_for("/left")
        held.set()
        job = self.control("GET", "/v1/jobs?label=who%3Dleft").json()["jobs"][0]["id"]
        self.assertEqual(self.over(job)["state"], "succeeded")

    def test_a_json_job_is_kept_when_its_mode_says_so(self):
        document = {"route": "up", "mode": "async", "request": {"path": "/ok", "json": {"n": 1}},
                    "options": {"priority": 1, "ordering_key": "c-1", "expires_after": "1h", "labels": {"a": "b"}}}
        got = self.relay.ask("POST", "/v1/jobs", [], json.dumps(document).encode())
        self.assertEqual((got.status, got["Location"]), (202, "/v1/jobs/" + got.json()["id"]), got)
        told = self.over(got.json()["id"])
        self.assertEqual((told["ordering_key"], told["priority"], told["labels"]), ("c-1", 1, ["a=b"]), told)
        waited = self.relay.ask("POST", "/v1/jobs", [("Prefer", "respond-async, wait=10")], json.dumps(document).encode())
        self.assertEqual((waited.status, waited.json()["state"]), (200, "succeeded"), waited)
        self.assertEqual(waited.json()["response"]["body"]["json"], {"id": 7})
        large = {"route": "up", "mode": "async", "request": {"path": "/echo", "text": "x" * 500_000}}
        job = self.relay.ask("POST", "/v1/jobs", [], json.dumps(large).encode()).json()["id"]
        self.assertEqual((self.over(job)["state"], len(self.upstream.seen("/echo")[-1].body)), ("succeeded", 500_000))

    def test_a_line_of_a_stream_may_be_kept_too(self):
        lines = [{"id": "a", "route": "up", "mode": "async", "request": {"path": "/ok"}},
                 {"id": "b", "route": "kept", "request": {"path": "/ok"}},
                 {"id": "c", "route": "up", "request": {"path": "/ok"}},
                 {"id": "d", "route": "up", "mode": "sync", "options": {"delay": "1s"}}]
        got = self.relay.ask("POST", "/v1/stream?order=input", [], "".join(json.dumps(l) + "\n" for l in lines).encode())
        told = [json.loads(line) for line in got.body.splitlines()]
        self.assertEqual([(t["line"], t["id"], t["ok"], t.get("state")) for t in told], [
            (1, "a", True, "accepted"), (2, "b", True, "accepted"), (3, "c", True, None), (4, "d", False, None)], told)
        self.assertEqual(told[3]["error"]["errors"][0]["pointer"], "/options/delay")
        for line in told[:2]:
            self.assertEqual(self.over(line["job"])["state"], "succeeded")

    # Looking.

    def test_who_asks_for_changes_waits_for_one(self):
        self.pause("shut")
        job = self.hand_over("shut")
        got = self.relay.ask("GET", f"/v1/jobs/{job}")
        self.assertEqual(got.json()["blocker"]["reason"], "route_paused", got)
        began = time.monotonic()
        same = self.relay.ask("GET", f"/v1/jobs/{job}?wait=300ms", [("If-None-Match", got["ETag"])])
        self.assertEqual((same.status, same["ETag"], same.body), (304, got["ETag"], b""), same)
        self.assertGreater(time.monotonic() - began, 0.25)
        found = []
        waiter = threading.Thread(target=lambda: found.append(self.relay.ask(
            "GET", f"/v1/jobs/{job}", [("Prefer", "wait=10"), ("If-None-Match", got["ETag"])])))
        waiter.start()
        held = self.control("POST", f"/v1/jobs/{job}/hold")
        waiter.join(15)
        self.assertEqual((found[0].status, found[0].json()["state"], found[0]["ETag"]), (200, "held", held["ETag"]), found)
        self.assertEqual(found[0]["Preference-Applied"], "wait=10")
        self.assert_problem(self.control("POST", f"/v1/jobs/{job}/cancel", None, ("If-Match", got["ETag"])), 412, "precondition_failed")
        self.assertEqual(self.relay.ask("POST", f"/v1/jobs/{job}/cancel").json()["state"], "cancelled")

    def test_callers_see_their_own_jobs_and_nobody_elses(self):
        job = self.hand_over("up")
        self.assertIn(job, [j["id"] for j in self.relay.ask("GET", "/v1/jobs?limit=500").json()["jobs"]])
        if os.getuid() == 0:
            status, body = ask_as(STRANGER, self.relay.jobs, "/v1/jobs")
            self.assertEqual((status, json.loads(body)), (200, {"jobs": [], "next": None}))
            for path in "", "/attempts", "/response", "/request/body":
                self.assertEqual(ask_as(STRANGER, self.relay.jobs, f"/v1/jobs/{job}{path}")[0], 404, path)
        self.assert_problem(self.relay.ask("POST", f"/v1/jobs/{job}/retry"), 403, "not_allowed")

    def test_a_dead_job_tells_why_and_can_be_sent_again(self):
        self.upstream.on("/bad", answer(500, "no"))
        job = self.hand_over("up", "/bad", ("Idempotency-Key", "dead-1"))
        told = self.over(job)
        self.assertEqual((told["state"], told["end"], told["attempt_count"]), ("dead", "exhausted", 2), told)
        self.assertEqual(told["last_failure"]["kind"], "http_status")
        self.assertEqual([a.get("next") for a in told["attempts"]][0], "retry")
        dead = self.control("GET", "/v1/jobs?state=dead&failure_kind=http_status&route=up").json()["jobs"]
        self.assertIn(job, [j["id"] for j in dead])
        listed = self.relay.ask("GET", f"/v1/jobs/{job}/attempts").json()
        self.assertEqual(listed["attempts"], told["attempts"])
        self.upstream.on("/bad", answer(200, "yes"))
        again = self.control("POST", f"/v1/jobs/{job}/retry")
        # It may be on its way already when its document is made.
        self.assertEqual(again.status, 200, again)
        self.assertIn(again.json()["state"], ("queued", "running", "succeeded"), again)
        self.assertEqual(self.over(job)["state"], "succeeded")
        self.assert_problem(self.control("POST", f"/v1/jobs/{job}/retry"), 409, "job_state")
        self.assertEqual(self.control("DELETE", f"/v1/jobs/{job}/content").status, 200)
        self.assert_problem(self.relay.ask("GET", f"/v1/jobs/{job}/response"), 410, "body_expired")
        self.assertEqual(self.control("DELETE", f"/v1/jobs/{job}").status, 204)
        self.assert_problem(self.relay.ask("GET", f"/v1/jobs/{job}"), 404, "job_not_found")

    def test_a_job_that_was_answered_at_once_is_told_of_as_one_that_was_kept(self):
        got = self.relay.ask("GET", "/r/up/ok")
        told = self.relay.ask("GET", f"/v1/jobs/{got['Waystation-Job']}").json()
        moments = [told["created_at"], told["attempts"][0]["started_at"], told["finished_at"]]
        self.assertEqual(moments, sorted(moments), "to the millisecond, none ends before it begins")
        for moment in moments:
            self.assertRegex(moment, r"\.\d{3}Z$")
        self.assertEqual((told["attempt_count"], told["version"]), (1, 1))
        self.assertEqual(self.relay.ask("GET", told["links"]["attempts"]).json()["attempts"], told["attempts"])
        self.assertEqual(self.relay.ask("GET", told["links"]["self"]).json(), told)

    # Acting on many.

    def test_a_bulk_action_counts_then_acts_and_says_what_it_did(self):
        self.pause("bulk")
        jobs = [self.hand_over("bulk") for _ in range(5)]
        wanted = {"action": "cancel", "filter": {"route": "bulk"}}
        dry = self.control("POST", "/v1/jobs/actions", wanted)
        self.assertEqual(dry.json(), {"action": "cancel", "dry_run": True, "matched": 5, "changed": 5, "asked": 0,
                                      "body_expired": 0, "left_alone": 0, "superseded": 0, "next": None}, dry)
        self.assertEqual({self.control("GET", f"/v1/jobs/{job}").json()["state"] for job in jobs}, {"queued"}, "nothing was changed")
        done = self.control("POST", "/v1/jobs/actions", {**wanted, "filter": {"ids": jobs[:2]}, "dry_run": False})
        self.assertEqual((done.json()["matched"], done.json()["changed"]), (2, 2), done)
        first = self.control("POST", "/v1/jobs/actions", {**wanted, "dry_run": False, "limit": 3})
        self.assertEqual((first.json()["matched"], first.json()["changed"]), (3, 1), first)
        rest = self.control("POST", "/v1/jobs/actions", {**wanted, "dry_run": False, "cursor": first.json()["next"]})
        self.assertEqual((rest.json()["changed"], rest.json()["next"]), (2, None), rest)
        states = {j["state"] for j in self.control("GET", "/v1/jobs?route=bulk").json()["jobs"]}
        self.assertEqual(states, {"cancelled"})

    def test_a_rate_spreads_what_is_sent_again(self):
        self.pause("spread")
        for _ in range(4):
            self.hand_over("spread")
        self.control("POST", "/v1/jobs/actions", {"action": "cancel", "filter": {"route": "spread"}, "dry_run": False})
        self.control("POST", "/v1/jobs/actions", {
            "action": "retry", "filter": {"route": "spread"}, "dry_run": False, "rate": "1/m"})
        jobs = self.control("GET", "/v1/jobs?route=spread&order=oldest").json()["jobs"]
        due = [int(j["due_at"][14:16]) * 60 + float(j["due_at"][17:23]) for j in jobs]
        gaps = [(b - a) % 3600 for a, b in zip(due, due[1:])]
        self.assertTrue(all(59 < gap < 61 for gap in gaps), due)

    # Routes.

    def test_a_paused_route_keeps_its_jobs_and_refuses_who_waits(self):
        self.pause("shut")
        told = self.control("GET", "/v1/routes/shut").json()
        self.assertEqual((told["state"], told["pause"]["reason"]), ("paused", "a test"), told)
        refused = self.relay.ask("POST", "/r/shut/ok", [], b"x")
        self.assert_problem(refused, 503, "route_paused")
        self.assertIsNotNone(refused["Retry-After"])
        job = self.hand_over("shut")
        self.assertEqual(self.control("GET", "/v1/routes/shut").json()["jobs"]["queued"], 1)
        row = next(r for r in self.control("GET", "/v1/shape").json()["rows"] if r["key"] == "shut")
        self.assertEqual((row["total"], row["counts"][0]), (1, 1))
        for by, key in ("state", "queued"), ("failure_kind", "none"):
            rows = self.control("GET", f"/v1/shape?by={by}&route=shut").json()["rows"]
            self.assertEqual([(row["key"], row["total"]) for row in rows], [(key, 1)], by)
        self.assertEqual(self.upstream.seen("/ok"), [])
        resumed = self.control("POST", "/v1/routes/shut/resume")
        self.assertEqual((resumed.status, resumed.json().get("pause")), (200, None), resumed)
        self.assertEqual(self.over(job)["state"], "succeeded")

    def test_a_list_of_a_node_is_empty_where_there_is_no_fleet(self):
        self.over(self.hand_over("seen"))
        self.assertEqual(self.control("GET", "/v1/jobs?node=one").json(), {"jobs": [], "next": None})
        self.assertTrue(self.control("GET", "/v1/jobs").json()["jobs"])

    # Events.

    def events(self, target, *fields, address=None):
        caller = Caller(address or self.relay.control, 20)
        self.addCleanup(caller.close)
        caller.send(request("GET", target, fields))
        head = caller.head()
        self.assertEqual(head.status, 200, head)
        return caller, head

    def piece(self, caller):
        """One chunk of a chunked answer; None at its end."""
        size = int(caller._until(b"\r\n"), 16)
        data = caller._exactly(size)
        caller._exactly(2)
        return data if size else None

    def read_events(self, caller, count):
        found = b""
        while found.count(b"\n\n") < count:
            found += self.piece(caller)
        blocks = [block for block in found.decode().split("\n\n") if block and not block.startswith(":")]
        return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]

    def test_events_tell_the_life_of_a_job_and_go_on_where_a_reader_was(self):
        caller, head = self.events("/v1/events?route=seen")
        self.assertEqual((head["Content-Type"], head["Cache-Control"]), ("text/event-stream", "no-store"))
        job = self.hand_over("seen")
        told = self.read_events(caller, 3)
        self.assertEqual([t["event"] for t in told], [
            "waystation.job.accepted", "waystation.job.attempt.started", "waystation.job.succeeded"], told)
        first = json.loads(told[0]["data"])
        self.assertEqual((first["specversion"], first["id"], first["type"], first["subject"], first["data"]["route"]),
                         ("1.0", told[0]["id"], "waystation.job.accepted", job, "seen"))
        again, _ = self.events("/v1/events?route=seen", ("Last-Event-ID", told[0]["id"]))
        self.assertEqual(self.read_events(again, 1)[0], told[1])
        lines, head = self.events(f"/v1/events?job={job}&type=waystation.job.accepted&after={int(told[0]['id']) - 1}",
                                  ("Accept", "application/x-ndjson"))
        self.assertEqual(head["Content-Type"], "application/x-ndjson")
        self.assertEqual(json.loads(self.piece(lines)), first)

    def test_callers_hear_of_their_own_jobs_only(self):
        caller, _ = self.events("/v1/events?route=seen", address=self.relay.jobs)
        self.pause("seen")
        job = self.hand_over("seen")
        told = self.read_events(caller, 1)
        self.assertEqual((told[0]["event"], json.loads(told[0]["data"])["subject"]), ("waystation.job.accepted", job))

    def test_a_reader_that_is_too_slow_is_told_how_much_it_missed(self):
        self.pause("flood")
        caller, _ = self.events("/v1/events?route=flood")
        lines = json.dumps({"route": "flood", "mode": "async", "request": {"path": "/ok"}}).encode() + b"\n"
        count = 9000
        for _ in range(3):
            got = ask(self.relay.jobs, "POST", "/v1/stream?max_in_flight=64", [], lines * (count // 3))
            self.assertEqual(got.body.count(b'"accepted"'), count // 3)
        heard, lost = 0, 0
        while heard + lost < count:
            for event in self.read_events(caller, 1):
                if event["event"] == "waystation.gap":
                    lost += json.loads(event["data"])["data"]["lost"]
                else:
                    heard += 1
        # Other tests' events are lost with them.
        self.assertGreater(lost, 0)
        self.assertGreater(heard, 3000)
        self.control("POST", "/v1/jobs/actions", {"action": "drop", "filter": {"route": "flood"}, "dry_run": False})


class Restarts(RelayTest):
    def test_what_was_accepted_survives_a_stop_and_listeners_end_with_it(self):
        upstream = self.new_upstream()
        relay = self.new_relay({"up": route(upstream.url)}).start()
        ask(relay.control, "POST", "/v1/routes/up/pause", [], b'{"reason":"closed"}')
        job = relay.ask("POST", "/r/up/later", [ASYNC], b"x")["Waystation-Job"]
        events = Caller(relay.control, 20)
        self.addCleanup(events.close)
        events.send(request("GET", "/v1/events"))
        self.assertEqual(events.head().status, 200)
        waiter = relay.caller(20)
        self.addCleanup(waiter.close)
        waiter.send(request("GET", f"/v1/jobs/{job}?wait=5m"))
        ticket = relay.caller(20)
        self.addCleanup(ticket.close)
        ticket.send(request("POST", "/r/up/later", [("Prefer", "respond-async, wait=300")], b"y"))
        eventually(lambda: ask(relay.control, "GET", "/v1/routes/up").json()["jobs"]["queued"] == 2, "both are kept")
        began = time.monotonic()
        self.assertEqual(relay.stop(signal.SIGTERM), 0)
        self.assertLess(time.monotonic() - began, self.within(8))
        self.assertEqual(waiter.answer().json()["state"], "queued")
        self.assertEqual(ticket.answer().status, 202)
        self.assertTrue(events.rest().endswith(b"0\r\n\r\n"))
        upstream.on("/later", answer(200, "at last"))
        relay.notices.wait("(gone)")
        relay.notices.items.clear()
        (relay.directory / "notify").unlink(missing_ok=True)
        relay.start()
        told = ask(relay.control, "GET", f"/v1/jobs/{job}").json()
        self.assertEqual((told["state"], told["blocker"]["reason"]), ("queued", "route_paused"), told)
        ask(relay.control, "POST", "/v1/routes/up/resume")
        self.assertEqual(relay.ask("GET", f"/v1/jobs/{job}/response?wait=10s").body, b"at last")


if __name__ == "__main__":
    unittest.main()
