"""How long bodies may take: a pace is the caller's own, a stall is its own 408, and an upstream is blamed for neither."""

import threading
import time
import unittest

from relay import RelayTest, eventually, route
from upstream import answer

BUFFER = 256 << 10
RETRY = {"name": "again", "on": ["connection", "timeout", "protocol", "5xx"], "retry": {"max_attempts": 3, "schedule": ["10ms"]}}


def slowly(upstream, seconds):
    """Takes the body, and answers with its length after a while."""
    def serve(request):
        time.sleep(seconds)
        return answer(200, str(len(request.body)))
    return serve


class Limits(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        cls.upstream.on("/x", answer(200, "x"))
        cls.upstream.on("/size", lambda request: answer(200, str(len(request.body))))
        cls.upstream.on("/late", slowly(cls.upstream, 0.6))
        short = {"connect": "500ms", "attempt": "1s", "idle": "1s", "total": "1500ms"}
        url = cls.upstream.url
        cls.relay = cls.shared_relay({
            "up": route(url, timeouts=short, recovery=[RETRY]),
            "any": route(url, timeouts={**short, "min_rate": "0B"}),
            "kept": route(url, timeouts=short, delivery={"mode": "durable"}),
            "looked-into": route(url, timeouts=short, success={"require": [{"json": "/ok", "equals": True}]}),
            "brisk": route(url, timeouts={"attempt": "1s", "idle": "2s", "total": "5s", "min_rate": "1MiB"}),
        }).start()

    def head(self, route, length, *fields, path="/size"):
        fields = ("Host: x", f"Content-Length: {length}", *fields)
        return f"PUT /r/{route}{path} HTTP/1.1\r\n" .encode() + "\r\n".join(fields).encode() + b"\r\n\r\n"

    def upload(self, caller, route, size, seconds, *fields, path="/size"):
        """Sends a body evenly over that time."""
        caller.send(self.head(route, size, *fields, path=path))
        pieces = max(4, int(seconds * 10))
        for index in range(pieces):
            caller.send(b"x" * (size * (index + 1) // pieces - size * index // pieces))
            time.sleep(seconds / pieces)
        return caller.answer()

    def test_an_upload_that_takes_longer_than_attempt_and_total_passes_in_one_attempt(self):
        for route, size in ("up", 3 * BUFFER), ("up", 1000), ("any", 3 * BUFFER):
            with self.subTest(route=route, size=size), self.relay.caller() as caller:
                got = self.upload(caller, route, size, 3)
                self.assertEqual((got.status, got.body), (200, str(size).encode()), got)
                self.assertEqual(got["Waystation-Attempts"], "1", got)

    def test_the_time_of_the_answer_begins_with_the_last_byte_of_the_request(self):
        with self.relay.caller() as caller:
            got = self.upload(caller, "up", 3 * BUFFER, 2, path="/late")
            self.assertEqual((got.status, got["Waystation-Attempts"]), (200, "1"), got)

    def stalls(self, route, body, total=3 * BUFFER, fields=()):
        """Sends that much of a body, and nothing more."""
        with self.relay.caller() as caller:
            caller.send(self.head(route, total, *fields, path="/stalled") + body)
            began = time.monotonic()
            got = caller.answer()
            return got, time.monotonic() - began

    def test_a_caller_that_stalls_is_told_408_whatever_the_size_of_its_body(self):
        for route, sent in ("up", 0), ("up", 100), ("up", BUFFER + 1000), ("any", BUFFER + 1000), ("kept", BUFFER + 1000):
            with self.subTest(route=route, sent=sent):
                got, took = self.stalls(route, b"x" * sent)
                problem = self.assert_problem(got, 408, "request_timeout")
                self.assertIn("timeouts.idle (1s)", problem["detail"])
                self.assertEqual(got["Connection"], "close")
                self.assertLess(took, self.within(4))
        # Those that never became a job are told of as refused requests.
        self.relay.errors.wait(" refused with 408: ")

    def test_a_stall_is_the_callers_in_its_record_and_counts_against_no_upstream(self):
        relay = self.new_relay({"up": route(self.upstream.url, timeouts={"idle": "500ms"}, recovery=[RETRY])}).start()
        callers = []
        for _ in range(30):
            caller = relay.caller(30)
            self.addCleanup(caller.close)
            caller.send(self.head("up", 3 * BUFFER, path="/stalled") + b"x" * (BUFFER + 1000))
            callers.append(caller)
        for caller in callers:
            got = caller.answer()
            self.assert_problem(got, 408, "request_timeout")
            job = relay.job(got)
            self.assertEqual(job["state"], "cancelled", job)
            self.assertEqual([(one["kind"], one.get("next")) for one in job["attempts"]], [("http_request_error", None)], job)
            self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)
        self.assertEqual(relay.status()["routes"][0]["state"], "ok", relay.status()["routes"])

    def test_stalled_uploads_hold_no_permit_before_their_first_replay_buffer_has_come(self):
        relay = self.new_relay({"up": route(
            self.upstream.url, concurrency={"max_requests": 1, "max_pending_requests": 1}, timeouts={"idle": "5s"})}).start()
        for _ in range(10):
            caller = relay.caller()
            self.addCleanup(caller.close)
            caller.send(self.head("up", 3 * BUFFER, path="/stalled") + b"x" * (BUFFER - 1000))
        for _ in range(5):
            self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)

    def test_a_body_below_min_rate_is_told_408(self):
        # The average is over 30 seconds at the least: of a window's bytes too few have come then.
        def drip(caller, size):
            caller.send(self.head("brisk", 15 << 20, path="/stalled") + b"x" * size)
            for _ in range(60):
                caller.send_quietly(b"x" * 1000)
                time.sleep(1)
        results = []
        for size in 100, BUFFER + 1000:
            caller = self.relay.caller(60)
            self.addCleanup(caller.close)
            threading.Thread(target=drip, args=(caller, size), daemon=True).start()
            results.append(caller)
        for caller in results:
            problem = self.assert_problem(caller.answer(), 408, "request_timeout")
            self.assertIn("timeouts.min_rate (1MiB/s)", problem["detail"])

    def test_a_caller_that_names_its_time_has_all_of_it_bounded(self):
        with self.relay.caller() as caller:
            caller.send(self.head("up", 3 * BUFFER, "Waystation-Timeout: 1s", path="/stalled"))
            began = time.monotonic()
            for _ in range(40):
                caller.send_quietly(b"x" * 20_000)
                time.sleep(0.1)
            problem = self.assert_problem(caller.answer(), 408, "request_timeout")
            self.assertIn("the caller's timeout (1s)", problem["detail"])
            self.assertLess(time.monotonic() - began, self.within(5))

    def test_an_answer_that_is_looked_into_may_take_its_time_as_long_as_it_moves(self):
        def slow(request):
            body = b'{"ok": true, "rest": "' + b"y" * 2000 + b'"}'
            request.connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body))
            for start in range(0, len(body), 50):
                request.connection.send(body[start:start + 50])
                time.sleep(0.05)
        self.upstream.on("/slow", slow)
        got = self.relay.ask("GET", "/r/looked-into/slow")
        self.assertEqual((got.status, got["Waystation-Attempts"]), (200, "1"), got)

    def test_an_oversized_chunked_body_is_no_caller_that_has_gone(self):
        relay = self.new_relay({"up": route(self.upstream.url)}, limits={"max_request_body": "1MiB"}).start()
        with relay.caller() as caller:
            caller.send(b"PUT /r/up/stalled HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            caller.send_quietly((b"10000\r\n" + b"x" * 65536 + b"\r\n") * 20)
            got = caller.answer()
            self.assert_problem(got, 413, "content_too_large")
            job = relay.job(got)
            self.assertEqual([one["kind"] for one in job["attempts"]], ["http_request_error"], job)


if __name__ == "__main__":
    unittest.main()
