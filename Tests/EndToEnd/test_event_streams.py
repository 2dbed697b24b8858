"""The head of a streamed answer waits for its first event, its caller is kept from giving up, and a break is told in the
stream itself (response.stream)."""

import json
import signal
import threading
import time
import unittest

from caller import Ended, ask, request
from relay import RelayTest, UNBOUNDED, eventually, route
from upstream import Close, answer

SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
OPEN = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
LINES = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [("Accept", "text/event-stream")]
BY_EVENT = {"commit_after": {}}
COMMENT = b": the answer is not there yet\n\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def pieces(head, *parts, end=b"0\r\n\r\n", pause=0.02):
    """Sends the parts one after the other, each as a chunk of its own where the head says so; `end` of None stalls."""
    def step(got):
        got.connection.send(head)
        for part in parts:
            time.sleep(pause)
            got.connection.send(chunk(part) if b"chunked" in head else part)
        if end is None:
            got.connection.wait_for_end()
            return None
        return Close(end)
    return step


def late(step, pause=0.25):
    """The same after the first comments."""
    def wait(got):
        time.sleep(pause)
        return step(got) if callable(step) else step
    return wait


class EventStreams(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        cls.second = cls.shared_upstream()
        cls.second.on("/x", pieces(SSE, b"data: second\n\n"))
        url = cls.upstream.url
        times = {"attempt": "900ms", "idle": "250ms", "total": "5s"}
        again = [{"name": "again", "on": ["any"], "retry": {"max_attempts": 2, "schedule": ["10ms"]}}]

        def make(stream, *more, **members):
            stream = {"response": {"stream": stream}} if stream else {}
            return route(url, *more, **{"timeouts": times, "recovery": again, **UNBOUNDED, **stream, **members})

        cls.relay = cls.shared_relay({
            "held": make(BY_EVENT), "plain": make(None),
            "away": make(BY_EVENT, {"name": "u2", "url": cls.second.url, "use": "failover_only"}, recovery=[
                {"name": "away", "on": ["timeout", "protocol"], "failover": {"upstream": "u2"}}]),
            "stand-in": make(BY_EVENT, recovery=[{"name": "none", "on": ["any"], "respond": {
                "as": "placeholder", "status": 200, "json": []}}]),
            "short": make({"commit_after": {"time": "100ms"}}),
            "small": make({"commit_after": {"bytes": "100B"}}),
            "third": make({"commit_after": {"events": 3}}),
            "live": make({"commit_after": {}, "keep_alive": "150ms"}, timeouts={**times, "idle": "500ms"}),
            "live-away": make({"commit_after": {}, "keep_alive": "100ms"}, recovery=[
                {"name": "none", "on": ["any"], "respond": {"as": "placeholder", "status": 200, "json": []}}]),
            "live-kept": make({"commit_after": {}, "keep_alive": "100ms"}, idempotency={"generate": True}, recovery=[
                {"name": "none", "on": ["any"], "respond": {
                    "as": "placeholder", "status": 202, "json": {"queued": True}, "and": "keep"}}]),
        }).start()

    def get(self, name, *steps, method="GET", fields=(), body=None):
        self.upstream.forget()
        self.upstream.on("/x", *steps)
        with self.relay.caller() as caller:
            return caller.ask(method, f"/r/{name}/x", fields, body)

    def broken(self, name, *steps, fields=()):
        """The head of an answer that is cut short, and all that came of its content, without the chunks."""
        self.upstream.forget()
        self.upstream.on("/x", *steps)
        with self.relay.caller() as caller:
            caller.send(request("GET", f"/r/{name}/x", fields))
            got = caller.head()
            content = b""
            try:
                while True:
                    size = int(caller._until(b"\r\n"), 16)
                    self.assertGreater(size, 0, "no last chunk says that it is whole")
                    content += caller._exactly(size)
                    caller._exactly(2)
            except Ended:
                return got, content

    def last(self, content):
        """The data of the last event, which has to be the relay's."""
        before, _, event = content.rpartition(b"event: waystation-error\ndata: ")
        self.assertTrue(event.endswith(b"\n\n"), content)
        return before, json.loads(event)

    def kinds(self, got):
        job = self.relay.job(got)
        return [attempt.get("kind") or attempt["status"] for attempt in job["attempts"]], job

    def test_a_stall_behind_the_head_is_a_failed_attempt(self):
        got = self.get("held", pieces(SSE, end=None), pieces(SSE, b"data: 2\n\n"))
        self.assertEqual((got.status, got.body, got["Waystation-Attempts"]), (200, b"data: 2\n\n", "2"))
        kinds, job = self.kinds(got)
        self.assertEqual(kinds, ["connection_read_timeout", 200])
        self.assertIn("response.stream.commit_after", job["attempts"][0]["detail"])

    def test_without_the_option_the_head_is_passed_on(self):
        got, content = self.broken("plain", pieces(SSE, end=None))
        self.assertEqual((got.status, content, len(self.upstream.seen("/x"))), (200, b"", 1))

    def test_a_death_before_the_first_event_is_a_failed_attempt_however_the_stream_is_framed(self):
        for head in SSE, OPEN:
            with self.subTest(head):
                got = self.get("held", pieces(head, b": hello\n\nid: 7\n", end=b""), pieces(SSE, b"data: 2\n\n"))
                self.assertEqual((got.status, got.body), (200, b"data: 2\n\n"))
                self.assertEqual(self.kinds(got)[0], ["http_response_incomplete", 200])

    def test_comments_are_no_event_and_cost_the_attempt_its_time(self):
        got = self.get("held", pieces(SSE, *[b": still here\n\n"] * 30, pause=0.05), pieces(SSE, b"data: 2\n\n"))
        self.assertEqual((got.status, got.body), (200, b"data: 2\n\n"))
        self.assertEqual(self.kinds(got)[0], ["http_response_timeout", 200])

    def test_another_upstream_or_a_stand_in_takes_the_place_of_a_stream_that_stalls(self):
        got = self.get("away", pieces(SSE, b": hello\n", end=None))
        self.assertEqual((got.body, got["Waystation-Attempts"]), (b"data: second\n\n", "2"))
        got = self.get("stand-in", pieces(SSE, end=None))
        self.assertEqual((got.status, got.body, got["Waystation-Source"]), (200, b"[]", "placeholder"))

    def test_a_post_without_a_key_is_not_sent_again(self):
        got = self.get("held", pieces(SSE, end=None), pieces(SSE, b"data: 2\n\n"), method="POST", body=b"{}")
        self.assert_problem(got, 504, "upstream_timeout")
        self.assertEqual(len(self.upstream.seen("/x")), 1)
        self.assertEqual(self.relay.job(got)["last_failure"]["sent"], "unknown")

    def test_events_are_seen_however_they_are_cut_and_whatever_ends_their_lines(self):
        for text in (b"data: a\n\n", b"data: a\r\n\r\n", b"data: a\r\r", b"\xef\xbb\xbfdata: a\n\n", b"data\n\n",
                     b": c\r\nevent: e\r\ndata:\r\n\r\n"):
            with self.subTest(text):
                parts = [text[at:at + 1] for at in range(len(text))]
                got, content = self.broken("held", pieces(SSE, *parts, end=b"", pause=0.001))
                self.assertEqual((self.last(content)[0], got["Waystation-Attempts"]), (text, "1"))
                self.assertEqual(self.get("held", pieces(OPEN, *parts, end=b"", pause=0.001)).body, text)

    def test_the_rest_of_the_stream_follows_as_it_comes(self):
        go = threading.Event()

        def step(got):
            got.connection.send(SSE + chunk(b"data: 1\n\n"))
            go.wait(5)
            return chunk(b"data: 2\n\n") + b"0\r\n\r\n"
        self.upstream.on("/x", step)
        with self.relay.caller() as caller:
            caller.send(request("GET", "/r/held/x"))
            self.assertEqual(caller.head().status, 200)
            self.assertEqual(caller._until(b"\r\n") + caller._exactly(11), b"9data: 1\n\n\r\n")
            go.set()
            self.assertEqual(caller._exactly(19), b"9\r\ndata: 2\n\n\r\n0\r\n\r\n")
            self.upstream.on("/x", answer(200, "on"))
            self.assertEqual(caller.ask("GET", "/r/held/x").body, b"on", "on the same connection")

    def test_no_more_is_held_than_the_option_says(self):
        for name, size in ("small", 100), ("held", 65_536):
            got, content = self.broken(name, pieces(SSE, b"data: " + b"x" * size, end=None))
            self.assertEqual(got["Waystation-Attempts"], "1", name)
            before, problem = self.last(content)
            # The last event takes the place of the one that was cut off.
            self.assertEqual(before, b"data: " + b"x" * size + b"\n")
            self.assertEqual((problem["kind"], problem["code"]), ("connection_read_timeout", "upstream_timeout"))

    def test_a_giant_event_passes_through_in_bounded_memory(self):
        mib = 1 << 20
        self.upstream.on("/x", pieces(SSE, b"data: ", *[b"x" * mib] * 20, b"\n\n", pause=0))
        before = self.relay.resident()
        with self.relay.caller(20) as caller:
            caller.send(request("GET", "/r/held/x"))
            caller.head()
            time.sleep(0.3)
            self.assertLess(self.relay.resident() - before, 12, "a caller that reads nothing holds the upstream back")
            size = 0
            while (length := int(caller._until(b"\r\n"), 16)):
                size += len(caller._exactly(length + 2)) - 2
        self.assertEqual(size, 20 * mib + 8)

    def test_the_head_goes_after_the_time_and_a_stall_then_is_no_failure_before_it(self):
        began = time.monotonic()
        got, content = self.broken("short", pieces(SSE, b": hello\n", end=None))
        self.assertEqual((got.status, got["Waystation-Attempts"]), (200, "1"))
        self.assertGreaterEqual(time.monotonic() - began, 0.25)
        before, problem = self.last(content)
        self.assertEqual((before, problem["kind"]), (b": hello\n", "connection_read_timeout"))
        self.assertEqual(self.relay.job(got)["attempts"][0]["kind"], "connection_read_timeout")
        got = self.get("short", pieces(SSE, b"data: late\n\n", pause=0.2))
        self.assertEqual((got.body, got["Transfer-Encoding"]), (b"data: late\n\n", "chunked"))

    def test_more_events_than_one_are_waited_for(self):
        got = self.get("third", pieces(SSE, b"data: 1\n\ndata: 2\n\n", end=b""), pieces(SSE, b"data: 1\n\n"))
        self.assertEqual((got.body, got["Waystation-Attempts"]), (b"data: 1\n\n", "2"), "whole, and so all there is")

    def test_lines_and_other_content_count_in_their_own_way(self):
        got = self.get("held", pieces(LINES, b"\n", b'{"half": ', end=b""), pieces(LINES, b'{}\n'))
        self.assertEqual((got.body, got["Waystation-Attempts"]), (b"{}\n", "2"))
        for head, part in (LINES, b"{}\n"), (PLAIN, b"x"):
            got, content = self.broken("held", pieces(head, part, end=None))
            self.assertEqual((got["Waystation-Attempts"], content), ("1", part), "no event is made up where none are")

    def test_a_length_is_kept_and_nothing_is_added_to_it(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 400000\r\n\r\n"
        self.upstream.on("/x", pieces(head, b"data: 1\n\n", end=b""))
        with self.relay.caller() as caller:
            caller.send(request("GET", "/r/held/x"))
            self.assertEqual(caller.head()["Content-Length"], "400000")
            self.assertEqual(caller.rest(), b"data: 1\n\n")

    def test_an_event_with_an_id_that_is_cut_off_is_left_to_its_reader(self):
        for part, told in ((b"id: 8\ndata: 2", False), (b"retry: 1", False), (b"event: y\ndata: 2", True)):
            got, content = self.broken("held", pieces(SSE, b"id: 7\ndata: 1\n\n", part, end=b""))
            self.assertEqual(b"waystation-error" in content, told, content)
            if told:
                self.assertEqual(self.last(content)[0], b"id: 7\ndata: 1\n\n" + part + b"\n")
            self.assertEqual(self.relay.job(got)["attempts"][0]["kind"], "http_response_incomplete")

    def test_a_relay_that_stops_says_so_behind_all_that_came(self):
        for part in b"", b"data: 2":
            with self.subTest(part):
                relay = self.new_relay({"held": route(
                    self.upstream.url, response={"stream": BY_EVENT}, timeouts={"idle": "30s"})}).start()
                self.upstream.forget()
                self.upstream.on("/x", pieces(SSE, b"data: 1\n\n", *filter(None, [part]), end=None))
                with relay.caller() as caller:
                    caller.send(request("GET", "/r/held/x"))
                    self.assertEqual(caller.head().status, 200)
                    self.assertEqual(caller._exactly(14), b"9\r\ndata: 1\n\n\r\n")
                    if part:
                        self.assertEqual(caller._exactly(12), b"7\r\ndata: 2\r\n")
                    relay.process.send_signal(signal.SIGTERM)
                    relay.notices.wait("STOPPING=1")
                    relay.stop()
                    content = b""
                    with self.assertRaises(Ended):
                        while True:
                            size = int(caller._until(b"\r\n"), 16)
                            self.assertGreater(size, 0, "no last chunk says that it is whole")
                            content += caller._exactly(size)
                            caller._exactly(2)
                    before, problem = self.last(content)
                    self.assertEqual((before, problem["code"]), (part and b"\n", "draining"))

    def test_a_caller_that_leaves_ends_the_attempt_at_once(self):
        for name in "held", "short", "live":
            ended = threading.Event()

            def step(got):
                got.connection.send(SSE)
                if got.connection.wait_for_end():
                    ended.set()
            self.upstream.forget()
            self.upstream.on("/x", step)
            caller = self.relay.caller()
            caller.send(request("GET", f"/r/{name}/x", EVENTS))
            self.upstream.wait_for("/x")
            time.sleep(0.15)
            caller.close()
            self.assertTrue(ended.wait(self.within(0.3)), name)
        eventually(lambda: self.relay.status()["in_flight"] == 0, "no request is in flight")

    def test_who_waits_for_an_event_stream_is_sent_comments(self):
        self.upstream.on("/x", pieces(SSE, end=None), pieces(SSE, b"\xef\xbb\xbfdata: 2\n\n"), answer(200, "on"))
        with self.relay.caller() as caller:
            got = caller.ask("GET", "/r/live/x", EVENTS)
            self.assertEqual(caller.ask("GET", "/r/live/x").body, b"on", "on the same connection")
        self.assertEqual((got.status, got["Content-Type"], got["Waystation-Source"]), (200, "text/event-stream", None))
        comments, end = got.body[:-9], got.body[-9:]
        self.assertEqual(end, b"data: 2\n\n", "no byte order mark in the middle")
        self.assertGreater(comments.count(COMMENT), 1)
        self.assertEqual(comments.replace(COMMENT, b""), b"")
        self.assertEqual(self.kinds(got)[0], ["connection_read_timeout", 200])

    def test_who_asks_for_no_event_stream_is_sent_none(self):
        got = self.get("live", pieces(SSE, end=None), pieces(SSE, b"data: 2\n\n"), fields=[("Accept", "*/*")])
        self.assertEqual((got.body, got["Waystation-Attempts"]), (b"data: 2\n\n", "2"))
        # Nor is who would take something else as well, as a client of MCP does.
        wishes = [("Accept", "application/json, text/event-stream")]
        got = self.get("live", late(answer(200, b'{"charged":1}', ("Content-Type", "application/json"))), fields=wishes)
        self.assertEqual((got["Content-Type"], got.body), ("application/json", b'{"charged":1}'))
        # Nor is who need not wait.
        got = self.get("live", answer(503), answer(503), fields=EVENTS)
        self.assertEqual(got.status, 503)

    def test_a_failure_behind_the_head_is_told_by_the_last_event(self):
        got, content = self.broken("live", pieces(SSE, end=None), fields=EVENTS)
        before, problem = self.last(content)
        self.assertEqual(before.replace(COMMENT, b""), b"")
        self.assertEqual((problem["code"], problem["kind"]), ("upstream_timeout", "connection_read_timeout"))
        self.assertEqual(problem["job"], got["Waystation-Job"])
        self.assertEqual(self.relay.job(got)["outcome"], "failure")

    def test_an_event_stream_without_content_behind_comments_is_one_without_an_event(self):
        for content, left in (b"", b""), (b"\xef\xbb\xbf", b""), (b"\xef\xbb", b"\xef\xbb"):
            def step(got):
                got.connection.send(SSE)
                time.sleep(0.3)
                return Close((chunk(content) if content else b"") + b"0\r\n\r\n")
            got = self.get("live", step, fields=EVENTS)
            self.assertIn(COMMENT, got.body)
            self.assertEqual(got.body.replace(COMMENT, b""), left)
        self.assertEqual(self.get("live", answer(200, "on")).body, b"on", "the relay is still there")

    def answered(self, got):
        """The outcome in the one event of the relay, where it is all there is but comments."""
        event = got.body.replace(COMMENT, b"")
        self.assertTrue(event.startswith(b"event: waystation-answer\ndata: ") and event.endswith(b"\n\n"), event)
        self.assertEqual(event.count(b"\n"), 3)
        self.assertEqual((got.status, got["Content-Type"]), (200, "text/event-stream"))
        told = json.loads(event[31:])
        self.assertTrue(told["ok"])
        return told

    def test_a_success_that_is_no_event_stream_is_told_by_an_event_and_stays_one(self):
        large = b"x" * 70_000
        for step, status, body in (
                (answer(200, b'{"charged":\n1}', ("Content-Type", "application/json")), 200, {"json": {"charged": 1}}),
                (pieces(PLAIN, b"a\n\n", b"b\n"), 200, {"text": "a\n\nb\n"}),
                (answer(200, b"\x1f\x8b", ("Content-Encoding", "gzip"), ("Content-Type", "text/event-stream")), 200,
                 {"base64": "H4s="}),
                (b"HTTP/1.1 204 No Content\r\nContent-Type: text/event-stream\r\n\r\n", 204, {"text": ""}),
                (answer(200, large), 200, None), (pieces(PLAIN, large), 200, None)):
            with self.subTest(step):
                got = self.get("live", late(step), method="POST", body=b"{}", fields=EVENTS)
                told = self.answered(got)
                self.assertEqual((told["status"], told["source"]), (status, "upstream"))
                if body is None:
                    self.assertNotIn("body", told)
                else:
                    self.assertEqual({k: v for k, v in told["body"].items() if k != "size"}, body)
                job = self.relay.job(got)
                self.assertEqual((job["outcome"], job["attempts"][0]["status"]), ("success", status))
                self.assertNotIn("kind", job["attempts"][0])
        self.assertEqual(self.answered(self.get("live-away", pieces(SSE, end=None), fields=EVENTS))["source"], "placeholder")

    def test_one_that_breaks_off_is_a_failure(self):
        cut = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
        got, content = self.broken("live", late(Close(cut)), fields=EVENTS)
        self.assertEqual(self.last(content)[1]["kind"], "http_response_incomplete")
        self.assertEqual(self.relay.job(got)["attempts"][0]["kind"], "http_response_incomplete")

    def test_a_request_that_is_kept_behind_comments_is_told_to_be_kept(self):
        got = self.get("live-kept", late(answer(503)), answer(200), method="POST", body=b"{}", fields=EVENTS)
        told = self.answered(got)
        self.assertEqual((told["status"], told["source"], told["body"]["json"]), (202, "placeholder", {"queued": True}))
        self.assertEqual(told["kept"]["location"], "/v1/jobs/" + told["kept"]["job"])
        eventually(lambda: ask(self.relay.control, "GET", told["kept"]["location"]).json()["state"] == "succeeded",
                   "the job is delivered")
        first, second = self.upstream.seen("/x")
        self.assertEqual(first["Idempotency-Key"], second["Idempotency-Key"], "and there is no other")

    def test_the_heads_that_were_held_are_counted_where_the_option_stands(self):
        def counts():
            text = ask(self.relay.control, "GET", "/metrics").body.decode()
            lines = [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("waystation_stream_heads_total")]
            return {name: int(value) for name, value in lines}
        before = counts()
        self.get("held", pieces(SSE, b"data: 1\n\n"))
        self.get("held", pieces(SSE, end=None), pieces(SSE, b": c\n\n"))

        def grown():
            return {name.split('"')[-2] for name, value in counts().items() if value > before[name]}
        # The daemon gives the same text out for a while, the longer the longer it took to make.
        eventually(lambda: grown() == {"event", "failed", "whole"}, "each release is counted")
        self.assertFalse([name for name in before if '"plain"' in name])


if __name__ == "__main__":
    unittest.main()
