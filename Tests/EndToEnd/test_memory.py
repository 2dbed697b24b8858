"""Bodies draw on one account of memory: what has no room waits, goes to disk or is refused by name."""

import json
import os
import threading
import time
import unittest

from caller import Caller, ask, request
from relay import RelayTest, eventually, route
from upstream import answer, unread

MIB = 1 << 20
# How many of each kind; the figures of the design are 60 and 256.
COUNT = int(os.environ.get("WAYSTATION_MEMORY_COUNT", "12"))
LIMIT = int(os.environ.get("WAYSTATION_MEMORY_LIMIT", "32"))
# Of each, in MiB; the figure of the design is 15.
BODY = int(os.environ.get("WAYSTATION_MEMORY_BODY", "5"))
LARGE = b'{"ok":true,"filler":"' + b"x" * (BODY * MIB - 23) + b'"}'
LOOKED_INTO = {"success": {"inspect_limit": "16MiB", "require": [{"json": "/ok", "equals": True}]}}
JOB = b'{"route":"up","request":{"method":"GET","path":"large"}}\n'
# A loaded machine may take minutes.
PATIENT = {"timeouts": {"attempt": "5m", "total": "5m"}}


class Memory(RelayTest):
    def setUp(self):
        self.upstream = self.new_upstream()

        def large(got):
            # It waits as long as it must.
            got.connection.socket.settimeout(120)
            return answer(200, LARGE, ("Content-Type", "application/json"))
        self.upstream.on("/large", large)

    def used(self, relay):
        return relay.status()["memory"]["used_bytes"]

    def watch(self, relay):
        """Begins to look at the memory; what it returns says how it was, when all is over."""
        idle, most, over = relay.resident(), [0.0, 0], threading.Event()

        def look():
            while not over.wait(0.02):
                most[0] = max(most[0], relay.resident())
                most[1] = max(most[1], self.used(relay))
        watcher = threading.Thread(target=look)
        watcher.start()
        self.addCleanup(watcher.join)
        self.addCleanup(over.set)

        def told():
            over.set()
            self.assertLessEqual(most[1], LIMIT * MIB)
            self.assertLess(most[0], idle + LIMIT + 40, "what is not counted is little")
            eventually(lambda: self.used(relay) == 0, "all room is given back")
            eventually(lambda: relay.resident() < idle + 32, "the memory is given back", 60)
            print(f"idle {idle:.0f} MiB, at most {most[0]:.0f}, then {relay.resident():.0f}; counted {most[1] / MIB:.0f}")
        return told

    def test_large_answers_wait_for_room_and_the_memory_comes_back(self):
        relay = self.new_relay({
            "kept": route(self.upstream.url, delivery={"mode": "durable"}, **PATIENT),
            "up": route(self.upstream.url, **LOOKED_INTO, **PATIENT)}, limits={"memory": f"{LIMIT}MiB"}).start()
        told = self.watch(relay)
        ids = [relay.ask("POST", "/r/kept/large", body=b"x")["Waystation-Job"] for _ in range(COUNT)]
        statuses = []

        def call():
            with Caller(relay.jobs, 300) as caller:
                got = caller.ask("GET", "/r/up/large")
                statuses.append((got.status, len(got.body)))
        callers = [threading.Thread(target=call) for _ in range(COUNT)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        self.assertEqual(statuses, [(200, len(LARGE))] * COUNT)
        eventually(lambda: relay.status()["jobs"]["queued"] == 0, "every job is over", 100)
        for job in ids:
            self.assertEqual(relay.ask("GET", f"/v1/jobs/{job}").json()["state"], "succeeded")
        self.assertEqual(len(relay.ask("GET", f"/v1/jobs/{ids[0]}/response").body), len(LARGE))
        told()

    def test_outcomes_of_streams_and_documents_of_jobs_are_in_memory_once(self):
        relay = self.new_relay(
            {"up": route(self.upstream.url, **PATIENT)}, limits={"memory": f"{LIMIT}MiB"}).start()
        told, body, answers = self.watch(relay), json.loads(LARGE), []

        def stream(order):
            with Caller(relay.jobs, 300) as caller:
                got = caller.ask("POST", f"/v1/stream?order={order}", body=JOB * 8)
            for line in got.body.splitlines():
                outcome = json.loads(line)
                answers.append(outcome["ok"] and outcome["body"]["json"] == body or line[:500])

        def job():
            with Caller(relay.jobs, 300) as caller:
                got = caller.ask("POST", "/v1/jobs", body=JOB)
            answers.append(got.json()["response"]["body"]["json"] == body or got.body[:500])
        for calls in [[stream, "completion"]], [[stream, "input"]], [[job]] * COUNT:
            callers = [threading.Thread(target=call[0], args=call[1:]) for call in calls]
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join()
        for answer in answers:
            self.assertIs(answer, True)
        self.assertEqual(len(answers), 16 + COUNT)
        told()

    def test_a_stream_whose_caller_does_not_read_keeps_no_more_than_its_share(self):
        relay = self.new_relay({
            "other": route(self.upstream.url, **LOOKED_INTO, **PATIENT), "up": route(self.upstream.url, **PATIENT)},
            limits={"memory": f"{LIMIT}MiB"}).start()
        told = self.watch(relay)
        for order in "completion", "input":
            unread = [relay.caller(), relay.caller()]
            for caller in unread:
                caller.send(request("POST", f"/v1/stream?order={order}", [("Content-Length", str(8 * len(JOB)))]) + JOB * 8)
            # Each has one answer by right, and together they have what nobody waits for.
            eventually(lambda: self.used(relay) > LIMIT * MIB // 2, "what they take is taken")
            for _ in range(2):
                self.assertEqual(len(relay.ask("GET", "/r/other/large").body), len(LARGE), "others are served")
            for caller in unread:
                caller.close()
            eventually(lambda: self.used(relay) == 0, "who goes away leaves nothing")
        told()

    def test_many_streams_that_nobody_reads_keep_the_whole_process_small(self):
        """Bytes that upstreams have sent count as well, wherever they stand: 100 streams of 64 jobs of 400 kB each."""
        limit, content = 32, b"x" * 400_000
        self.upstream.on("/some", lambda _: answer(200, content))
        relay = self.new_relay(
            {"up": route(self.upstream.url, **PATIENT)}, limits={"memory": f"{limit}MiB"}).start()
        # The memory that a process takes once, whoever it serves.
        self.assertEqual(relay.ask("GET", "/r/up/some").status, 200)
        idle, most = relay.resident(), 0
        jobs = b'{"route":"up","request":{"method":"GET","path":"some"}}\n' * 64
        callers = [relay.caller() for _ in range(100)]
        for caller in callers:
            caller.send(request("POST", "/v1/stream", [("Content-Length", str(len(jobs)))]) + jobs)
        began, before = time.monotonic(), -1
        # Until nothing moves any more.
        while time.monotonic() < began + 60 and before != (before := len(self.upstream.seen("/some"))):
            for _ in range(40):
                most = max(most, relay.resident())
                time.sleep(0.05)
        # Of 6,400 requests and jobs, each with its records and its place in a stream, 10 kB are no body.
        self.assertLess(most, idle + limit + 64, f"idle {idle:.0f} MiB, at most {most:.0f}")
        print(f"idle {idle:.0f} MiB, at most {most:.0f} with {before} answers")
        for caller in callers:
            caller.close()
        eventually(lambda: self.used(relay) == 0, "who goes away leaves nothing")

    def test_an_answer_that_finds_no_room_is_refused_by_name(self):
        hold = threading.Event()
        self.addCleanup(hold.set)

        def slowly(got):
            got.connection.send(answer(200, LARGE, ("Content-Type", "application/json"))[:-10])
            hold.wait(20)
            return LARGE[-10:]
        self.upstream.on("/slow", slowly)
        relay = self.new_relay({"up": route(self.upstream.url, **LOOKED_INTO)}, limits={"memory": f"{BODY * 8 // 3}MiB"}).start()
        with relay.caller() as first, relay.caller() as second:
            for caller in first, second:
                caller.send(request("GET", "/r/up/slow"))
            eventually(lambda: self.used(relay) == 2 * BODY * MIB, "two have their room")
            got = relay.ask("GET", "/r/up/large", [("Waystation-Timeout", "500ms")])
            problem = self.assert_problem(got, 503, "overloaded")
            self.assertIn("limits.memory", problem["detail"])
            self.assertEqual(got["Retry-After"], "1")
            self.assertEqual(relay.status()["memory"]["waiting"], 0)
            # A request that waits goes on as soon as there is room, in its turn.
            with relay.caller() as third:
                third.send(request("GET", "/r/up/large"))
                eventually(lambda: relay.status()["memory"]["waiting"] == 1, "one waits")
                hold.set()
                self.assertEqual([len(caller.answer().body) for caller in (first, second, third)], [len(LARGE)] * 3)
        eventually(lambda: self.used(relay) == 0, "all room is given back")

    def test_an_answer_that_may_never_have_room_is_refused_at_once(self):
        relay = self.new_relay({"up": route(self.upstream.url, **LOOKED_INTO)}, limits={"memory": f"{BODY + 1}MiB"}).start()
        got = relay.ask("GET", "/r/up/large")
        problem = self.assert_problem(got, 503, "overloaded")
        self.assertIsNone(got["Retry-After"], "another time is no better")
        self.assertIn("half of limits.memory", problem["detail"])

    def test_a_job_whose_answer_has_no_room_is_delivered_without_it(self):
        relay = self.new_relay(
            {"kept": route(self.upstream.url, delivery={"mode": "durable"})}, limits={"memory": f"{BODY + 1}MiB"}).start()
        job = relay.ask("POST", "/r/kept/large", body=b"x")["Waystation-Job"]
        eventually(lambda: relay.ask("GET", f"/v1/jobs/{job}").json()["state"] == "succeeded", "the job is delivered")
        self.assert_problem(relay.ask("GET", f"/v1/jobs/{job}/response"), 410, "body_expired")
        self.assertEqual(len(self.upstream.seen("/large")), 1)

    def test_request_bodies_without_room_stream_or_are_refused(self):
        self.upstream.on("/x", answer(200, "done"))
        relay = self.new_relay({
            "up": route(self.upstream.url), "wrap": route(self.upstream.url, request={"wrap": "/data"})},
            limits={"memory": "1200KiB"}).start()
        callers = []
        for _ in range(2):
            caller = relay.caller()
            self.addCleanup(caller.close)
            caller.send(request("PUT", "/r/up/x", [("Content-Length", "262144")]) + b"x" * 1000)
            callers.append(caller)
        eventually(lambda: self.used(relay) == 512 * 1024, "two bodies are held")
        got = relay.ask("PUT", "/r/up/x", body=b"y" * 200_000)
        self.assertEqual((got.body, self.upstream.seen("/x")[-1].body), (b"done", b"y" * 200_000))
        problem = self.assert_problem(relay.ask("POST", "/r/wrap/x", body=json.dumps("z" * 100_000).encode()), 503, "overloaded")
        self.assertIn("limits.memory", problem["detail"])
        # Operators ask for no room.
        self.assertEqual(ask(relay.control, "GET", "/v1/status").status, 200)
        for caller in callers:
            caller.send(b"x" * (262_144 - 1000))
            self.assertEqual(caller.answer().body, b"done")
        eventually(lambda: self.used(relay) == 0, "all room is given back")

    def held(self, content, *fields):
        """An event, and a step that answers with `content`, its end once the event is set."""
        hold = threading.Event()
        self.addCleanup(hold.set)

        def slowly(got):
            got.connection.send(answer(200, content, *fields)[:-10])
            hold.wait(60)
            return content[-10:]
        return hold, slowly

    def test_a_body_that_its_upstream_does_not_take_is_counted_and_arrives(self):
        hold, body = threading.Event(), os.urandom(1 << 20) * 12
        self.addCleanup(hold.set)

        def late(got):
            hold.wait(60)
            got.body = got.connection.body(got)
            return answer(200, "done")
        self.upstream.on("/x", unread(late))
        relay = self.new_relay({"up": route(self.upstream.url, **PATIENT)}).start()
        with relay.caller(60) as caller:
            sender = threading.Thread(target=caller.send, args=[request("POST", "/r/up/x", body=body)])
            sender.start()
            eventually(lambda: self.used(relay) > 16_384, "what the upstream does not take is counted")
            hold.set()
            self.assertEqual(caller.answer().body, b"done")
            sender.join()
        self.assertEqual(self.upstream.seen("/x")[-1].body, body)
        eventually(lambda: self.used(relay) == 0, "all room is given back")

    def test_content_that_is_passed_through_is_counted_until_it_is_answered(self):
        hold = threading.Event()
        self.addCleanup(hold.set)

        def slow(got):
            hold.wait(60)
            return answer(200, "late")
        self.upstream.on("/slow", slow)
        self.upstream.on("/x", answer(200, "done"))
        relay = self.new_relay({"up": route(self.upstream.url, **PATIENT)}, limits={"memory": "1200KiB"}).start()
        # Each finds a connection that is kept, as what is passed through has to.
        callers, body = [relay.caller(60) for _ in range(12)], b"y" * 60_000
        for caller in callers:
            self.addCleanup(caller.close)
            caller.send(request("POST", "/r/up/slow", body=b"first"))
        self.upstream.wait_for("/slow", 12)
        hold.set()
        for caller in callers:
            caller.answer()
        hold.clear()
        for caller in callers:
            caller.send(request("POST", "/r/up/slow", body=body))
        self.upstream.wait_for("/slow", 24)
        # So many fit into the half that what is held may have; the others are not kept.
        eventually(lambda: self.used(relay) // 60_000 == 8, "eight are held")
        self.assertLessEqual(self.used(relay), relay.status()["memory"]["limit_bytes"] // 2)
        got = relay.ask("POST", "/r/up/x", body=body)
        self.assertEqual((got.body, self.upstream.seen("/x")[-1].body), (b"done", body))
        hold.set()
        self.assertEqual([caller.answer().body for caller in callers], [b"late"] * 12)
        self.assertEqual([got.body for got in self.upstream.seen("/slow")[12:]], [body] * 12)
        eventually(lambda: self.used(relay) == 0, "all room is given back")

    def test_answers_that_are_waited_for_as_a_whole_are_counted_and_none_is_lost(self):
        content = b'{"ok":true,"filler":"' + b"x" * 59_977 + b'"}'
        hold, slowly = self.held(content, ("Content-Type", "application/json"))
        self.upstream.on("/slow", slowly)
        relay = self.new_relay(
            {"up": route(self.upstream.url, **LOOKED_INTO, **PATIENT)}, limits={"memory": "1200KiB"}).start()
        callers = [relay.caller(60) for _ in range(24)]
        for caller in callers:
            self.addCleanup(caller.close)
        hold.set()
        for _ in range(2):
            for caller in callers:
                caller.send(request("GET", "/r/up/slow"))
            for caller in callers:
                self.assertEqual(caller.answer().body, content)
            # The second time each finds a connection that is kept.
        hold.clear()
        for caller in callers[:10]:
            caller.send(request("GET", "/r/up/slow"))
        eventually(lambda: self.used(relay) // 60_000 == 10, "each of ten is counted once")
        for caller in callers[10:]:
            caller.send(request("GET", "/r/up/slow"))
        eventually(lambda: relay.status()["memory"]["waiting"] > 0, "those wait who find no room")
        problem = self.assert_problem(
            relay.ask("GET", "/r/up/slow", [("Waystation-Timeout", "500ms")]), 503, "overloaded")
        self.assertIn("limits.memory", problem["detail"])
        hold.set()
        self.assertEqual([caller.answer().body for caller in callers], [content] * 24)
        eventually(lambda: self.used(relay) == 0, "all room is given back")


if __name__ == "__main__":
    unittest.main()
