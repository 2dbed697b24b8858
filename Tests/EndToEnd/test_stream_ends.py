"""A streamed answer is over when its content is: one that is cut off or stalls is a failed attempt, one that its caller
leaves is the caller's."""

import time
import unittest

from caller import Ended
from relay import RelayTest, ask, eventually, route
from upstream import Close, answer

LARGE = 2_000_000
CUT = 900_000
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def event(text):
    data = b"data: " + text + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


def cut(request):
    request.connection.send(HEAD + b"Content-Length: %d\r\n\r\n" % LARGE + b"x" * CUT)
    return Close()


def cut_events(request):
    request.connection.send(EVENTS + event(b"one"))
    return Close()


def stall(request):
    request.connection.send(EVENTS + event(b"one"))
    request.connection.wait_for_end()


def stall_large(request):
    request.connection.send(HEAD + b"Content-Length: %d\r\n\r\n" % LARGE + b"x" * CUT)
    request.connection.wait_for_end()


class StreamEnds(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        cls.upstream.on("/x", answer(200, "x"))
        cls.upstream.on("/whole", answer(200, "x" * LARGE))
        cls.upstream.on("/cut", cut)
        cls.upstream.on("/events", cut_events)
        cls.upstream.on("/stall", stall)
        cls.upstream.on("/stall-large", stall_large)
        url = cls.upstream.url
        cls.relay = cls.shared_relay({
            "up": route(url, timeouts={"idle": "1s"}),
            "gone": route(url, timeouts={"idle": "1s"}),
            "breaker": route(url, circuit_breaker={"minimum_throughput": 10, "failure_ratio": 0.5}),
        }).start()

    def broken(self, path, relay=None, name="up"):
        """An answer that is cut off, and its job."""
        relay = relay or self.relay
        # On a kept connection, so that it may be passed through.
        self.assertEqual(relay.ask("GET", f"/r/{name}/x").status, 200)
        with relay.caller() as caller:
            caller.send(f"GET /r/{name}{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            try:
                got = caller.head()
                self.assertEqual(got.status, 200)
                with self.assertRaises(Ended):
                    while True:
                        caller._more()
            finally:
                caller.close()
        job = relay.ask("GET", f"/v1/jobs/{got['Waystation-Job']}")
        self.assertEqual(job.status, 200, job)
        self.assertEqual(got["Waystation-Outcome"], "success", "that had left")
        return job.json()

    def test_an_answer_that_is_cut_off_is_a_failed_attempt_with_the_bytes_that_came(self):
        for path, words in ("/cut", f"{CUT} of {LARGE} bytes"), ("/events", "11 bytes"):
            with self.subTest(path=path):
                job = self.broken(path)
                self.assertEqual((job["state"], job["status"]), ("dead", 200), job)
                attempt = job["attempts"][0]
                self.assertEqual((attempt["kind"], attempt["status"]), ("http_response_incomplete", 200), job)
                self.assertIn(words, attempt["detail"], job)
                self.relay.errors.wait(job["id"], "http_response_incomplete", words)

    def test_one_that_stalls_is_a_failed_attempt(self):
        for path, words in ("/stall-large", f"{CUT} of {LARGE} bytes"), ("/stall", "11 bytes"):
            with self.subTest(path=path):
                job = self.broken(path)
                attempt = job["attempts"][0]
                self.assertEqual((job["state"], attempt["kind"]), ("dead", "connection_read_timeout"), job)
                self.assertIn(words, attempt["detail"], job)
                self.assertIn("timeouts.idle (1s)", attempt["detail"], job)

    def test_one_that_comes_whole_is_a_success_as_soon_as_its_caller_has_it(self):
        for _ in range(10):
            got = self.relay.ask("GET", "/r/up/whole")
            self.assertEqual((got.status, len(got.body)), (200, LARGE))
            job = self.relay.job(got)
            self.assertEqual((job["state"], job["attempts"][0].get("kind")), ("succeeded", None), job)

    def test_a_caller_that_goes_away_in_the_middle_is_no_failure_of_the_upstream(self):
        for path in "/stall", "/stall-large":
            self.assertEqual(self.relay.ask("GET", "/r/gone/x").status, 200)
            with self.relay.caller() as caller:
                caller.send(f"GET /r/gone{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                got = caller.head()
            def found():
                job = self.relay.ask("GET", f"/v1/jobs/{got['Waystation-Job']}")
                return job.status == 200 and job.json()
            eventually(found, "the job is over")
            job = found()
            self.assertEqual((job["state"], job["attempts"][0]["kind"]), ("cancelled", "cancelled"), job)
        state = next(one for one in self.relay.status()["routes"] if one["name"] == "gone")
        self.assertEqual(state["state"], "ok", state)

    def test_metrics_state_and_breaker_know_of_it(self):
        for _ in range(10):
            self.broken_or_refused()
        page = ask(self.relay.control, "GET", "/metrics").body.decode()
        line = next((line for line in page.splitlines() if line.startswith("waystation_attempts_total{")
                     and 'route="breaker"' in line and "http_response_incomplete" in line), None)
        self.assertIsNotNone(line, page)
        self.assertGreaterEqual(float(line.split()[-1]), 9)
        self.assert_problem(self.relay.ask("GET", "/r/breaker/cut"), 503, "breaker_open")
        state = next(one for one in self.relay.status()["routes"] if one["name"] == "breaker")
        self.assertEqual(state["state"], "failing", state)

    def broken_or_refused(self):
        with self.relay.caller() as caller:
            caller.send(b"GET /r/breaker/cut HTTP/1.1\r\nHost: x\r\n\r\n")
            with self.assertRaises(Ended):
                while True:
                    caller._more()


if __name__ == "__main__":
    unittest.main()
