"""Answers no upstream should give: a named failure, bounded, and the next request is fine."""

import gzip
import unittest
import zlib

from relay import RelayTest, route
from upstream import Close, answer

OK = b"HTTP/1.1 200 OK\r\n"
BOMB = gzip.compress(b"[" + b"1," * (16 << 20) + b"1]", 9)

# The name of the case, the bytes before the upstream closes, the failure, the caller's status.
HOSTILE = [
    ("no HTTP at all", b"SSH-2.0-OpenSSH_9.2\r\n", "http_protocol_error", 502),
    ("nothing", b"", "connection_terminated", 502),
    ("half a head", OK + b"Content-", "http_response_incomplete", 502),
    ("a status of two digits", b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", "http_protocol_error", 502),
    ("a status of 999", b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n", "http_protocol_error", 502),
    ("a version of the future", b"HTTP/9.1 200 OK\r\nContent-Length: 0\r\n\r\n", "http_protocol_error", 502),
    ("a protocol switch nobody asked for", b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", "http_protocol_error", 502),
    ("two lengths", OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc", "http_protocol_error", 502),
    ("length and chunked", OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "http_protocol_error", 502),
    ("a negative length", OK + b"Content-Length: -2\r\n\r\nab", "http_protocol_error", 502),
    ("NUL in a field", OK + b"A: b\0c\r\nContent-Length: 0\r\n\r\n", "http_protocol_error", 502),
    ("a folded field", OK + b"A: b\r\n c\r\nContent-Length: 0\r\n\r\n", "http_protocol_error", 502),
    ("line feeds alone", b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", "http_protocol_error", 502),
    ("an endless head", OK + b"A: " + b"b" * 200_000, "http_response_header_section_size", 502),
    ("300 fields", OK + b"A: b\r\n" * 300 + b"\r\n", "http_response_header_section_size", 502),
    ("eleven informational answers", b"HTTP/1.1 103 Hints\r\n\r\n" * 11 + answer(200), "http_protocol_error", 502),
]
# The same on a route that reads the body before it passes it on.
INSPECTED = [
    ("a malformed chunk", OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "http_protocol_error"),
    ("a body cut short", OK + b"Content-Length: 9\r\n\r\nshort", "http_response_incomplete"),
    ("chunks cut short", OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab", "http_response_incomplete"),
    ("a body too large to be read", OK + b"\r\n" + b"[" + b"1," * (2 << 20), "http_response_body_size"),
    ("a bomb", OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB, "http_response_body_size"),
    ("gzip that is none", OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd", "http_response_content_coding"),
    ("gzip cut short", OK + b"Content-Encoding: gzip\r\nContent-Length: 20\r\n\r\n" + BOMB[:20], "http_response_content_coding"),
    ("a coding that is not known", OK + b"Content-Encoding: br\r\nContent-Length: 4\r\n\r\nabcd", "http_response_content_coding"),
    ("no JSON", answer(200, b"<html>"), "decoding"),
    ("JSON nested too deeply", answer(200, b"[" * 100_000), "decoding"),
    ("JSON with a name twice", answer(200, b'{"a":1,"a":2}'), "decoding"),
    ("JSON that is no UTF-8", answer(200, b'{"a":"\xff"}'), "decoding"),
    ("an empty body", answer(200), "empty_response"),
]


class HostileUpstreams(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        cls.relay = cls.shared_relay({
            "up": route(cls.upstream.url, timeouts={"attempt": "5s"}),
            "inspected": route(
                cls.upstream.url, timeouts={"attempt": "5s"}, success={"inspect_limit": "1MiB"},
                response={"expect": "json", "empty": "error"}),
        }).start()
        cls.upstream.on("/fine", answer(200, b"[1]"))

    def test_every_hostile_answer_is_a_named_failure_and_the_next_request_is_fine(self):
        before = self.relay.resident()
        for name, data, kind, status in HOSTILE:
            with self.subTest(name), self.relay.caller() as caller:
                self.upstream.on("/bad", Close(data))
                got = caller.ask("GET", "/r/up/bad")
                self.assertEqual(got.status, status, got)
                self.assertEqual((got["Content-Type"], got["Waystation-Source"]), ("application/problem+json", "relay"))
                self.assertEqual(self.relay.job(got)["attempts"][0]["kind"], kind, got)
                self.assertIn(f"error={kind}", got["Proxy-Status"])
                self.assertEqual(caller.ask("GET", "/r/up/fine").body, b"[1]")
        self.assertLess(self.relay.resident() - before, 20)

    def test_every_hostile_body_on_an_inspecting_route_is_a_named_failure(self):
        before = self.relay.resident()
        for name, data, kind in INSPECTED:
            with self.subTest(name), self.relay.caller() as caller:
                self.upstream.on("/bad", Close(data))
                got = caller.ask("GET", "/r/inspected/bad")
                self.assertEqual(self.relay.job(got)["attempts"][0].get("kind"), kind, got)
                self.assertEqual(caller.ask("GET", "/r/inspected/fine").body, b"[1]")
        self.assertLess(self.relay.resident() - before, 20)

    def test_bytes_behind_an_answer_are_never_the_next_ones_answer(self):
        self.upstream.on("/more", answer(200, b"one") + answer(200, b"forged"))
        for _ in range(3):
            self.assertEqual(self.relay.ask("GET", "/r/up/more").body, b"one")
            self.assertEqual(self.relay.ask("GET", "/r/up/fine").body, b"[1]")

    def test_an_upstream_that_closes_kept_connections_costs_no_request(self):
        self.upstream.on("/once", Close(answer(200, b"once")))
        for _ in range(20):
            self.assertEqual(self.relay.ask("POST", "/r/up/once", body=b"x").body, b"once")
            # A request sent before the end is there has an unknown outcome, and rightly fails.
            self.assertTrue(self.upstream.connections[-1].is_over.wait(10))

    def test_compressed_answers_pass_a_route_that_looks_at_nothing_as_they_are(self):
        packed = gzip.compress(b"[1]")
        self.upstream.on("/packed", answer(200, packed, ("Content-Encoding", "gzip")))
        got = self.relay.ask("GET", "/r/up/packed", [("Accept-Encoding", "gzip")])
        self.assertEqual((got.body, got["Content-Encoding"]), (packed, "gzip"))

    def test_compressed_answers_are_read_where_the_route_looks_into_them(self):
        for coding, packed in ("gzip", gzip.compress(b"[1]")), ("deflate", zlib.compress(b"[1]")):
            self.upstream.on("/packed", answer(200, packed, ("Content-Encoding", coding)))
            got = self.relay.ask("GET", "/r/inspected/packed", [("Accept-Encoding", "br")])
            self.assertEqual((got.status, got.body, got["Content-Encoding"]), (200, b"[1]", None))


if __name__ == "__main__":
    unittest.main()
