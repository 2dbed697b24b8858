"""Streams of jobs: a line in, a line out, on one connection."""

import json
import subprocess
import sys
import threading
import time
import unittest

from caller import Ended, chunked, request
from relay import RelayTest, eventually, route
from upstream import answer, as_json, refused_port

MIB = 1 << 20
CHUNKED = [("Transfer-Encoding", "chunked")]

FLOOD = """
import socket, sys, threading
flood = socket.socket(socket.AF_UNIX)
flood.connect(sys.argv[1])
flood.sendall(b"POST /v1/stream HTTP/1.1\\r\\nHost: relay.of.tests\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")
def write():
    while True:
        flood.sendall(b"10000\\r\\n" + b"x\\n" * 0x8000 + b"\\r\\n")
threading.Thread(target=write, daemon=True).start()
count = 0
while count < 1 << 20:
    count += len(flood.recv(1 << 20))
print("flowing", flush=True)
while flood.recv(1 << 20):
    pass
"""


def job(path="/fine", method="GET", route="up", **members):
    return {"route": route, "request": {"method": method, "path": path}, **members}


def lines(*jobs):
    """A body: a job, or a line as it stands."""
    return b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in jobs)


def piece(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class Stream:
    """One stream under way, its body in chunks."""

    def __init__(self, relay, query="", patience=10):
        self.caller = relay.caller(patience)
        self.caller.send(request("POST", "/v1/stream" + query, CHUNKED))
        self.head = self.caller.head()
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.caller.close()

    def send(self, *jobs):
        self.caller.send(piece(lines(*jobs)))

    def finish(self):
        self.caller.send(b"0\r\n\r\n")

    def next(self):
        """The next outcome; None at the end of the answer."""
        while b"\n" not in self.rest:
            size = int(self.caller._until(b"\r\n"), 16)
            self.rest += self.caller._exactly(size)
            if self.caller._exactly(2) != b"\r\n":
                raise AssertionError("a chunk without its end")
            if not size:
                assert not self.rest, self.rest
                return None
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def all(self):
        return list(iter(self.next, None))


class JobStreams(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        again = {"name": "again", "on": ["503"], "retry": {"max_attempts": 3, "backoff": {
            "type": "constant", "base_interval": "5ms"}}}
        cls.relay = cls.shared_relay({
            "up": route(cls.upstream.url, timeouts={"attempt": "20s", "total": "30s"}, recovery=[again]),
            "down": route(f"http://127.0.0.1:{refused_port()}/"),
            "stand-in": route(f"http://127.0.0.1:{refused_port()}/", recovery=[
                {"name": "instead", "on": ["any"], "respond": {"as": "placeholder", "status": 200, "text": "none"}}]),
            "stern": route(cls.upstream.url, recovery=[
                {"name": "no-more", "on": ["500"], "fail": {}}, again]),
        }, limits={"max_request_body": "1MiB"}).start()

    def setUp(self):
        self.upstream.forget()
        self.upstream.on("/fine", answer(200, "fine"))

    def tearDown(self):
        self.assertEqual(self.relay.ask("GET", "/r/up/fine").body, b"fine", "the daemon goes on")
        eventually(lambda: self.relay.status()["in_flight"] == 0, "no job is left")

    def stream(self, body, query="", *fields, status=200):
        """Sends the whole body at once and reads the whole answer."""
        got = self.relay.ask("POST", "/v1/stream" + query, fields, body)
        self.assertEqual(got.status, status, got)
        if status != 200:
            return got
        self.assertEqual(got["Content-Type"], "application/x-ndjson")
        self.assertTrue(not got.body or got.body.endswith(b"\n"))
        return [json.loads(line) for line in got.body.splitlines()]

    def by_line(self, outcomes):
        self.assertEqual(sorted(one["line"] for one in outcomes), list(range(1, len(outcomes) + 1)))
        return sorted(outcomes, key=lambda one: one["line"])

    # Lines and outcomes.

    # clauses: N-13, UC-17, UC-18, UC-19
    def test_a_failure_in_between_ends_nothing(self):
        body = lines(job(id="a"), job(id="b"), b"garbage", job(id="d"))
        for query in "", "?order=input", "?max_in_flight=1", "?order=completion&max_in_flight=64":
            with self.subTest(query):
                outcomes = self.by_line(self.stream(body, query))
                self.assertEqual([one["ok"] for one in outcomes], [True, True, False, True])
                self.assertEqual([one.get("id") for one in outcomes], ["a", "b", None, "d"])
                self.assertEqual(outcomes[2]["error"]["code"], "invalid_job")
                self.assertEqual(outcomes[3]["body"], {"size": 4, "text": "fine"})

    def test_an_outcome_tells_how_it_came_to_be(self):
        self.upstream.on("/late", answer(503), answer(503), as_json(200, '{\r\n "n": [1,\n 2]}\n', ("X-Own", "1")))
        self.upstream.on("/no", answer(404, "no such thing"))
        self.upstream.on("/broken", answer(500, b"\xff\n"))
        outcomes = self.by_line(self.stream(lines(
            job("/late", id="é"), job("/no"), job(route="down"), job(route="stand-in"), job("/broken", route="stern"))))
        late, refused, down, instead, stern = outcomes
        self.assertEqual((late["id"], late["ok"], late["status"], late["attempts"]), ("é", True, 200, 3))
        self.assertEqual((late["source"], late["recovered_by"]), ("upstream", ["again"]), "each rule once")
        self.assertNotIn("stopped_by", late)
        self.assertIn(["X-Own", "1"], late["headers"])
        self.assertEqual(late["body"]["json"], {"n": [1, 2]}, "a body of several lines is one line here")
        self.assertEqual(self.relay.ask("GET", "/v1/jobs/" + late["job"]).json()["outcome"], "success")
        self.assertEqual((refused["ok"], refused["status"], refused["body"]["text"]), (False, 404, "no such thing"))
        self.assertEqual((refused["error"]["kind"], refused["error"]["sent"]), ("http_status", "refused"))
        self.assertEqual((down["ok"], down["attempts"]), (False, 1))
        self.assertTrue("stopped_by" not in refused and "stopped_by" not in down, "no rule ended these")
        self.assertEqual(
            (down["error"]["code"], down["error"]["kind"], down["error"]["sent"]),
            ("upstream_failed", "connection_refused", "never_sent"))
        self.assertNotIn("status", down)
        self.assertEqual((instead["ok"], instead["source"], instead["body"]["text"]), (True, "placeholder", "none"))
        self.assertEqual(instead["recovered_by"], ["instead"])
        self.assertEqual((stern["stopped_by"], stern["status"], stern["body"]["base64"]), ("no-more", 500, "/wo="))

    # clauses: N-13
    def test_a_line_that_is_no_job_says_why(self):
        cases = [
            (b"{", 422, "invalid_job"), (b"[]", 422, "invalid_job"), (b"null", 422, "invalid_job"), (b"\xff", 422, "invalid_job"),
            (b"[" * 10_000, 422, "invalid_job"), (b'{"route":"up"} {}', 422, "invalid_job"), ({}, 422, "invalid_job"),
            (job(id=""), 422, "invalid_job"), (job(id="x" * 129), 422, "invalid_job"), (job(id=7), 422, "invalid_job"),
            (job("/../x"), 422, "invalid_job"), (job(method="TRACE"), 501, "not_implemented"),
            (job(route="none"), 404, "route_not_found"), (job(mode="later"), 422, "invalid_job"),
            (job(options={"delay": "1"}), 422, "invalid_job")]
        outcomes = self.stream(lines(*[line for line, _, _ in cases], job(id="last")), "?order=input")
        self.assertEqual(len(outcomes), len(cases) + 1)
        for number, ((line, status, code), one) in enumerate(zip(cases, outcomes), 1):
            with self.subTest(line):
                self.assertEqual((one["line"], one["ok"]), (number, False))
                self.assertEqual((one["error"]["status"], one["error"]["code"]), (status, code))
                self.assertTrue(one["error"]["detail"])
        self.assertTrue(outcomes[-1]["ok"])
        self.assertEqual([seen.target for seen in self.upstream.requests], ["/fine"])

    def test_a_slip_is_told_with_what_was_meant(self):
        member, name = self.stream(lines({"id": "m", "rout": "up"}, job(route="stan-in", id="n")), "?order=input")
        self.assertEqual((member["id"], name["id"]), ("m", "n"))
        hints = {error["pointer"]: error.get("hint", "") for error in member["error"]["errors"]}
        self.assertIn('"route"', hints["/rout"])
        self.assertEqual(name["error"]["did_you_mean"], "stand-in")

    def test_only_a_job_on_a_stream_has_an_id(self):
        got = self.relay.ask("POST", "/v1/jobs", [], json.dumps(job(id="a")).encode())
        self.assert_problem(got, 422, "invalid_job")

    def test_blank_lines_are_none_and_the_last_line_needs_no_end(self):
        body = b"\n  \r\n\n" + lines(job(id="a")) + b"\r\n \n" + json.dumps(job(id="b")).encode() + b"  \r"
        self.assertEqual([one["id"] for one in self.by_line(self.stream(body))], ["a", "b"])
        for body in b"", b"\n", b" \r\n\r\n ":
            self.assertEqual(self.stream(body), [])

    # clauses: N-13
    def test_a_line_too_long_is_thrown_away_as_it_comes(self):
        before = self.relay.resident()
        with Stream(self.relay) as stream:
            stream.send(job(id="a"))
            stream.caller.send(piece(b'{"route":"'))
            for _ in range(60):
                stream.caller.send(piece(b"x" * MIB))
            self.assertLess(self.relay.resident() - before, 16)
            stream.caller.send(piece(b'"}\n'))
            stream.send(job(id="c"))
            stream.finish()
            first, long, last = self.by_line(stream.all())
        self.assertEqual((first["id"], last["id"], last["ok"]), ("a", "c", True))
        self.assertEqual((long["error"]["code"], long["error"]["status"]), ("content_too_large", 413))
        self.assertEqual(self.by_line(self.stream(lines(b"x" * MIB, b"x" * (MIB + 1))))[0]["error"]["code"], "invalid_job")

    def test_a_job_with_a_body_carries_it(self):
        self.upstream.on("/echo", lambda got: answer(200, got.body))
        sent = [{"route": "up", "request": {"path": "/echo", "text": "x" * size}} for size in (1, 1000, 900_000)]
        outcomes = self.by_line(self.stream(lines(*sent)))
        self.assertEqual([one["body"]["size"] for one in outcomes], [1, 1000, 900_000])

    # Order and pace.

    # clauses: UC-20
    def test_each_outcome_comes_as_its_job_ends_and_in_order_if_asked(self):
        for query, wanted in ("", ["b", "c", "a"]), ("?order=input", ["a", "b", "c"]):
            go = threading.Event()
            self.upstream.on("/slow", lambda got: go.wait(60) and answer(200, "slow"))
            with self.subTest(query), Stream(self.relay, query) as stream:
                stream.send(job("/slow", id="a"), job(id="b"), job(id="c"))
                self.upstream.wait_for("/fine", 2)
                early = [] if query else [stream.next()["id"], stream.next()["id"]]
                go.set()
                stream.finish()
                found = early + [one["id"] for one in stream.all()]
                self.assertEqual(sorted(found[:2]) + found[2:] if not query else found, wanted)
            self.upstream.forget()

    def test_a_caller_may_write_after_it_has_read(self):
        with Stream(self.relay) as stream:
            self.assertEqual(stream.head.status, 200, "the head comes before the first line")
            for number in range(1, 6):
                stream.send(job(id=str(number)))
                got = stream.next()
                self.assertEqual((got["line"], got["id"], got["ok"]), (number, str(number), True))
            stream.finish()
            self.assertIsNone(stream.next())

    # clauses: UC-20
    def test_so_many_jobs_are_under_way_and_no_more(self):
        for limit, query in (1, "?max_in_flight=1"), (8, ""), (3, "?order=input&max_in_flight=3"):
            go, state, busy = threading.Event(), threading.Lock(), [0, 0]

            def step(got):
                with state:
                    busy[0] += 1
                    busy[1] = max(busy)
                go.wait(10)
                with state:
                    busy[0] -= 1
                return answer(200, "held")
            self.upstream.on("/held", step)
            with self.subTest(query), Stream(self.relay, query) as stream:
                stream.send(*[job("/held") for _ in range(20)])
                self.upstream.wait_for("/held", limit)
                # One more would have come with the others.
                self.assertEqual(self.relay.ask("GET", "/r/up/fine").body, b"fine")
                self.assertEqual(len(self.upstream.seen("/held")), limit)
                go.set()
                stream.finish()
                self.assertEqual(len(self.by_line(stream.all())), 20)
                self.assertEqual(busy[1], limit)
            self.upstream.forget()

    def test_a_line_may_come_byte_by_byte(self):
        with Stream(self.relay) as stream:
            for byte in lines(job(id="slow"), b"{}"):
                stream.caller.send(piece(bytes([byte])))
            stream.finish()
            first, second = self.by_line(stream.all())
            self.assertEqual((first["id"], first["ok"], second["ok"]), ("slow", True, False))

    def test_a_caller_that_does_not_read_is_not_read_from(self):
        self.upstream.on("/big", answer(200, b"y" * MIB))
        before, sent, count = self.relay.resident(), [0], 60
        padding = "x" * 100_000

        def write(stream):
            for _ in range(count):
                stream.send({"route": "up", "request": {"path": "/big", "text": padding}})
                sent[0] += 1
            stream.finish()
        with Stream(self.relay, "?max_in_flight=4", patience=60) as stream:
            writer = threading.Thread(target=write, args=[stream], daemon=True)
            writer.start()
            seen = [-1, 0]

            def stands():
                seen[:] = [sent[0], seen[1] + 1] if seen[0] == sent[0] else [sent[0], 0]
                return seen[0] > 0 and seen[1] > 100
            eventually(stands, "the writer stands still")
            self.assertLess(sent[0], 30)
            self.assertLess(self.relay.resident() - before, 40)
            got = [stream.next() for _ in range(count)]
            self.assertIsNone(stream.next())
            writer.join(10)
        self.assertEqual({one["body"]["size"] for one in self.by_line(got)}, {MIB})
        self.assertLess(self.relay.resident() - before, 40)

    # clauses: UC-17
    def test_ten_thousand_jobs_go_through_one_stream(self):
        count = 10_000
        with Stream(self.relay, "?max_in_flight=16", patience=60) as stream:
            def write():
                for start in range(0, count, 100):
                    stream.send(*[job(id=str(start + number)) for number in range(100)])
                stream.finish()
            writer = threading.Thread(target=write, daemon=True)
            writer.start()
            outcomes = self.by_line(stream.all())
            writer.join(10)
        self.assertEqual([one["id"] for one in outcomes], [str(number) for number in range(count)])
        self.assertTrue(all(one["ok"] for one in outcomes))

    def test_a_flood_of_garbage_leaves_the_others_their_turn(self):
        relay = self.new_relay({"up": route(self.upstream.url)}, loops=1).start()
        # In a process of its own: the flood is then no burden on this one.
        with subprocess.Popen(
                [sys.executable, "-c", FLOOD, relay.jobs], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as flood:
            try:
                self.assertEqual(flood.stdout.readline(), b"flowing\n")
                for _ in range(20):
                    began = time.monotonic()
                    self.assertEqual(relay.ask("GET", "/r/up/fine").body, b"fine")
                    self.assertLess(time.monotonic() - began, self.within(1))
                self.assertIsNone(flood.poll())
            finally:
                flood.kill()

    # Beginnings and ends.

    def test_the_connection_serves_the_next_request_afterwards(self):
        with self.relay.caller() as caller:
            for body, fields in (lines(job()), ()), (None, CHUNKED):
                caller.send(request("POST", "/v1/stream", fields, body) + (b"" if body else chunked(lines(job()))))
                got = caller.answer()
                self.assertEqual((got["Connection"], len(got.body.splitlines())), (None, 1), got)
            # The next request may come before the stream is over.
            caller.send(request("POST", "/v1/stream", (), lines(job())) + request("GET", "/r/up/fine"))
            self.assertEqual(len(caller.answer().body.splitlines()), 1)
            self.assertEqual(caller.answer().body, b"fine")

    def test_curl_streams_as_a_user_would(self):
        body = lines(job(id="a"), b"{", job(id="c"))
        for words in ["-X", "POST", "-T", "-"], ["-H", "Content-Type: application/x-ndjson", "--data-binary", "@-"]:
            done = subprocess.run(
                ["curl", "-sS", "-q", "--no-buffer", "--max-time", "20", "--unix-socket", self.relay.jobs, *words,
                 "http://relay/v1/stream?order=input"], input=body, capture_output=True, timeout=30)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual([json.loads(line)["ok"] for line in done.stdout.splitlines()], [True, False, True])

    def test_a_caller_that_asks_before_it_sends_is_told_to_go_on(self):
        with self.relay.caller() as caller:
            caller.send(request("POST", "/v1/stream", [*CHUNKED, ("Expect", "100-continue")]))
            self.assertEqual((caller.head().status, caller.head().status), (100, 200))
            caller.send(chunked(lines(job())))
            self.assertTrue(json.loads(caller._until(b"\r\n0\r\n\r\n").split(b"\r\n", 1)[1])["ok"])

    def test_a_caller_that_hangs_up_ends_every_job(self):
        ended = [threading.Event() for _ in range(3)]
        left = iter(ended)
        self.upstream.on("/left", lambda got: got.connection.wait_for_end() and next(left).set())
        stream = Stream(self.relay)
        stream.send(job("/left"), job("/left"), job("/left"))
        self.upstream.wait_for("/left", 3)
        stream.caller.close()
        for event in ended:
            self.assertTrue(event.wait(3), "the upstream sees its connection close")

    def test_a_caller_that_hangs_up_while_it_waits_for_room_or_reads_nothing_is_noticed(self):
        self.upstream.on("/held", lambda got: got.connection.wait_for_end() and None)
        self.upstream.on("/big", answer(200, b"y" * MIB))
        for path in "/held", "/big":
            descriptors = self.relay.descriptors()
            stream = Stream(self.relay, "?max_in_flight=2")
            stream.send(*[job(path) for _ in range(30)])
            self.upstream.wait_for(path, 2)
            stream.caller.close()
            eventually(lambda: self.relay.status()["in_flight"] == 0, "the jobs are over", 5)
            eventually(lambda: self.relay.descriptors() <= descriptors + 2, "the connection is closed", 5)

    def test_a_caller_may_close_its_side_after_the_last_line(self):
        go = threading.Event()
        self.upstream.on("/slow", lambda got: go.wait(60) and answer(200, "slow"))
        with Stream(self.relay) as stream:
            stream.send(job("/slow"), job("/slow"))
            stream.finish()
            stream.caller.finish()
            self.upstream.wait_for("/slow", 2)
            go.set()
            self.assertEqual([one["ok"] for one in stream.all()], [True, True])

    def test_a_broken_body_ends_the_stream_after_its_complete_lines(self):
        def break_chunk(stream):
            stream.caller.send(piece(lines(job(id="a"), job(id="b")) + b'{"rou')[:-2] + b"!!")

        def cut(stream):
            stream.send(job(id="a"), job(id="b"))
            stream.caller.finish()

        def cut_inside(stream):
            stream.caller.send(piece(lines(job(id="a"), job(id="b")) + b'{"route":"up"}'))
            stream.caller.finish()
        for damage in break_chunk, cut, cut_inside:
            for query in "", "?order=input":
                with self.subTest(damage.__name__ + query), Stream(self.relay, query) as stream:
                    damage(stream)
                    got = [stream.next() for _ in range(3)]
                    self.assertEqual(sorted(one["id"] for one in got[:2]), ["a", "b"])
                    self.assertEqual((got[2]["line"], got[2]["ok"], got[2]["error"]["code"]), (3, False, "bad_request"))
                    with self.assertRaises(Ended):
                        stream.next()
        with self.relay.caller() as caller:
            caller.send(request("POST", "/v1/stream", [("Content-Length", 1000)]) + lines(job()))
            caller.finish()
            with self.assertRaises(Ended):
                caller.answer()

    def test_what_is_not_a_stream_is_refused_by_its_head(self):
        for query in "?order=random", "?order", "?max_in_flight=0", "?max_in_flight=65", "?max_in_flight=x", "?order=input&order=input":
            with self.subTest(query):
                self.assert_problem(self.stream(b"{}", query, status=400), 400, "bad_target")
        slip = self.assert_problem(self.stream(b"{}", "?max_inflight=2", status=400), 400, "bad_target")
        self.assertEqual(slip["did_you_mean"], "max_in_flight")
        for kind in "application/json", "text/plain", "application/x-www-form-urlencoded", "":
            got = self.stream(b"{}", "", ("Content-Type", kind), status=415)
            self.assert_problem(got, 415, "unsupported_media_type")
        for kind in "application/x-ndjson", "Application/X-NDJSON; charset=utf-8":
            self.assertEqual(len(self.stream(lines(job()), "", ("Content-Type", kind))), 1)
        for name in "Waystation-Timeout", "Idempotency-Key":
            self.assert_problem(self.stream(b"{}", "", (name, "5s"), status=400), 400, "bad_header")
        got = self.relay.ask("GET", "/v1/stream")
        self.assert_problem(got, 405, "method_not_allowed")
        self.assertEqual(got["Allow"], "POST")
        self.assertEqual(self.upstream.seen("/x"), [])

    def test_a_caller_of_http_1_0_reads_to_the_end(self):
        body = lines(job(), job())
        with self.relay.caller() as caller:
            caller.send(b"POST /v1/stream HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            head = caller.head()
            self.assertEqual((head["Transfer-Encoding"], head["Connection"]), (None, "close"))
            self.assertEqual(len(caller.rest().splitlines()), 2)

    def test_a_stop_finishes_what_is_under_way_and_tells_the_rest(self):
        go = threading.Event()
        self.upstream.on("/slow", lambda got: go.wait(60) and answer(200, "slow"))
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        with Stream(relay) as open_one, Stream(relay) as whole, Stream(relay, "?max_in_flight=1") as full, Stream(relay) as idle:
            open_one.send(job("/slow"))
            whole.send(job("/slow"))
            whole.finish()
            full.send(job("/slow"), job("/slow"), job("/slow"))
            self.upstream.wait_for("/slow", 3)
            # The end of this body stays unread until there is room for another job.
            full.finish()
            relay.process.terminate()
            relay.notices.wait("STOPPING=1")
            open_one.send(job())
            got = open_one.next()
            self.assertEqual((got["line"], got["error"]["code"]), (2, "draining"))
            got = idle.next()
            self.assertEqual((got["line"], got["ok"], got["error"]["code"]), (1, False, "draining"))
            self.assertTrue(got["error"]["retry_after_ms"])
            with self.assertRaises(Ended):
                idle.next()
            go.set()
            self.assertTrue(open_one.next()["ok"], "what was under way is finished")
            self.assertEqual((got := open_one.next())["line"], 3, got)
            with self.assertRaises(Ended):
                open_one.next()
            self.assertEqual([one["ok"] for one in whole.all()], [True], "a whole body ends as it should")
            self.assertEqual(
                [one.get("error", {}).get("code") for one in self.by_line(full.all())], [None, "draining", "draining"])
        self.assertEqual(relay.process.wait(10), 0)


if __name__ == "__main__":
    unittest.main()
