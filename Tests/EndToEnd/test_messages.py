"""Malformed and unusual messages over the jobs socket."""

import json
import os
import socket
import unittest

from caller import Caller, ask, chunked, request
from malformed import MALFORMED
from relay import RelayTest, route
from upstream import answer


class Served(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        cls.relay = cls.shared_relay({"up": route(cls.upstream.url), "upper": route(cls.upstream.url)}).start()

    def setUp(self):
        self.upstream.forget()
        self.upstream.on("/fine", answer(200, "fine"))
        for path in "/1", "/2", "/3":
            self.upstream.on(path, answer(200, path))
        self.upstream.on("/echo", lambda got: answer(200, got.body))


class MalformedMessages(Served):
    def test_every_malformed_message_is_refused_and_reaches_no_upstream(self):
        self.assertGreaterEqual(len(MALFORMED), 60)
        for name, message, status, code, ends in MALFORMED:
            with self.subTest(name), self.relay.caller() as caller:
                caller.send_quietly(message.encode("latin-1"))
                got = caller.answer()
                self.assert_problem(got, status, code)
                if ends:
                    self.assertEqual(got["Connection"], "close")
                    self.assertTrue(caller.is_over(), "nothing follows and the connection ends")
                else:
                    self.assertEqual(caller.ask("GET", "/r/up/fine").body, b"fine", "the connection goes on")
        self.assertEqual({seen.path for seen in self.upstream.requests}, {"/fine"})
        self.assertEqual(self.relay.ask("GET", "/r/up/fine").body, b"fine", "the daemon goes on")

    def test_malformed_messages_in_single_bytes_are_refused_alike(self):
        for name, message, status, code, _ in MALFORMED:
            if len(message) > 400:
                continue
            with self.subTest(name), self.relay.caller() as caller:
                for byte in message.encode("latin-1"):
                    caller.send_quietly(bytes([byte]))
                self.assert_problem(caller.answer(), status, code)
        self.assertEqual(self.upstream.requests, [])

    def test_a_problem_never_repeats_what_was_sent(self):
        for message in "GET /r/up/hush%zz HTTP/1.1\r\nHost: relay.of.tests\r\n\r\n", "GET /r/up/ HTTP/1.1\r\nhush\r\n\r\n":
            with self.relay.caller() as caller:
                caller.send(message.encode())
                self.assertNotIn(b"hush", caller.answer().body)

    def test_an_unknown_route_is_answered_with_the_nearest_name(self):
        problem = self.assert_problem(self.relay.ask("GET", "/r/uper/x"), 404, "route_not_found")
        self.assertEqual(problem["did_you_mean"], "upper")

    def test_an_unknown_field_is_answered_with_the_nearest_name(self):
        got = self.relay.ask("GET", "/r/up/x", [("Waystation-Tmieout", "1s")])
        self.assertEqual(self.assert_problem(got, 400, "bad_header")["did_you_mean"], "waystation-timeout")

    def test_a_method_a_resource_does_not_have_is_refused_with_those_it_has(self):
        got = self.relay.ask("DELETE", "/v1/version")
        self.assert_problem(got, 405, "method_not_allowed")
        self.assertEqual(got["Allow"], "GET, HEAD")


class UnusualMessages(Served):
    def test_a_request_fed_byte_by_byte_is_answered(self):
        with self.relay.caller() as caller:
            for byte in request("POST", "/r/up/echo", body=b"slowly"):
                caller.send(bytes([byte]))
            self.assertEqual(caller.answer().body, b"slowly")

    def test_a_chunked_request_fed_byte_by_byte_is_answered(self):
        with self.relay.caller() as caller:
            head = b"POST /r/up/echo HTTP/1.1\r\nHost: relay.of.tests\r\nTransfer-Encoding: chunked\r\n\r\n"
            for byte in head + b"3;x=y\r\nslo\r\n4\r\nwly!\r\n0\r\nTrailer-Field: a\r\n\r\n":
                caller.send(bytes([byte]))
            self.assertEqual(caller.answer().body, b"slowly!")

    def test_pipelined_requests_are_answered_in_order(self):
        with self.relay.caller() as caller:
            caller.send(b"".join(request("GET", f"/r/up/{n}") for n in (1, 2, 3, 1, 2, 3)))
            self.assertEqual([caller.answer().body for _ in range(6)], [b"/1", b"/2", b"/3"] * 2)

    def test_a_refused_request_does_not_swallow_those_behind_it(self):
        with self.relay.caller() as caller:
            caller.send(b"".join(request("GET", t) for t in ("/r/none/x", "/r/up/1", "/nothing", "/x//y", "/r/up/2")))
            self.assertEqual(
                [(a.status, a.body[:2]) for a in (caller.answer() for _ in range(5))],
                [(404, b'{"'), (200, b"/1"), (404, b'{"'), (400, b'{"'), (200, b"/2")])

    def test_a_body_and_the_next_request_in_one_piece_are_told_apart(self):
        with self.relay.caller() as caller:
            caller.send(request("POST", "/r/up/echo", body=b"one") + request("GET", "/r/up/2"))
            caller.send(
                b"POST /r/up/echo HTTP/1.1\r\nHost: relay.of.tests\r\nTransfer-Encoding: chunked\r\n\r\n"
                + chunked(b"a", b"b") + request("GET", "/r/up/3"))
            self.assertEqual([caller.answer().body for _ in range(4)], [b"one", b"/2", b"ab", b"/3"])

    def test_many_pipelined_refusals_to_a_caller_that_does_not_read_cost_bounded_memory(self):
        before = self.relay.resident()
        with self.relay.caller(patience=1) as caller:
            flood = request("GET", "/r/none/x") * 2000
            try:
                for _ in range(400):
                    caller.send(flood)
            except (TimeoutError, BrokenPipeError, ConnectionResetError):
                pass
            self.assertLess(self.relay.resident() - before, 30)
        self.assertEqual(self.relay.ask("GET", "/r/up/fine").body, b"fine")

    def test_a_connection_serves_one_request_after_the_other(self):
        with self.relay.caller() as caller:
            for _ in range(50):
                self.assertEqual(caller.ask("POST", "/r/up/echo", body=b"x" * 1000).body, b"x" * 1000)

    def test_a_caller_that_asks_for_close_is_answered_and_closed(self):
        with self.relay.caller() as caller:
            got = caller.ask("GET", "/r/up/fine", [("Connection", "close")])
            self.assertEqual((got.body, got["Connection"]), (b"fine", "close"))
            self.assertTrue(caller.is_over())

    def test_100_continue_is_sent_when_the_body_is_wanted(self):
        with self.relay.caller() as caller:
            caller.send(request("POST", "/r/up/echo", [("Expect", "100-continue"), ("Content-Length", "5")]))
            self.assertEqual(caller.head().status, 100)
            caller.send(b"hello")
            self.assertEqual(caller.answer().body, b"hello")

    def test_a_refusal_comes_before_the_body_and_without_100(self):
        huge = ("Content-Length", str(1 << 30))
        for target, fields, status, code in [
            ("/r/up/echo", [huge], 413, "content_too_large"), ("/r/none/x", [("Content-Length", "5")], 404, "route_not_found"),
            ("/v1/jobs", [huge], 413, "content_too_large"),
        ]:
            with self.subTest(target), self.relay.caller() as caller:
                caller.send(request("POST", target, [("Expect", "100-continue"), *fields]))
                got = caller.answer()
                self.assert_problem(got, status, code)
                self.assertEqual(got.interim, [])
                self.assertTrue(caller.is_over())

    def test_a_head_request_gets_the_length_and_no_body(self):
        self.upstream.on("/head", b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n")
        with self.relay.caller() as caller:
            self.assertEqual(caller.ask("HEAD", "/r/up/head")["Content-Length"], "1234")
            refused = caller.ask("HEAD", "/r/none/x")
            self.assertEqual((refused.status, refused["Content-Type"]), (404, "application/problem+json"))
            self.assertEqual(caller.ask("HEAD", "/v1/version").status, 200)
            self.assertEqual(caller.ask("GET", "/r/up/fine").body, b"fine")

    def test_204_and_304_have_no_body_and_the_connection_goes_on(self):
        self.upstream.on("/204", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n")
        self.upstream.on("/304", b"HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 99\r\n\r\n")
        with self.relay.caller() as caller:
            none = caller.ask("GET", "/r/up/204")
            self.assertEqual((none.status, none["Content-Length"], none["Transfer-Encoding"]), (204, None, None))
            same = caller.ask("GET", "/r/up/304")
            self.assertEqual((same.status, same["ETag"]), (304, '"a"'))
            self.assertEqual(caller.ask("GET", "/r/up/fine").body, b"fine")

    def test_a_caller_that_has_closed_its_sending_half_is_answered_and_then_closed(self):
        with self.relay.caller(patience=5) as caller:
            caller.send(request("GET", "/r/up/1") + request("GET", "/r/up/2"))
            caller.finish()
            self.assertEqual([caller.answer().body for _ in range(2)], [b"/1", b"/2"])
            self.assertTrue(caller.is_over())

    def test_a_caller_that_half_closes_while_its_request_waits_is_answered_and_then_closed(self):
        def later(got):
            released.recv(1)
            return answer(200, "late")

        released, release = socket.socketpair()
        self.upstream.on("/late", later)
        with self.relay.caller(patience=5) as caller, released, release:
            caller.send(request("GET", "/r/up/late"))
            self.upstream.wait_for("/late")
            caller.finish()
            release.send(b"x")
            self.assertEqual(caller.answer().body, b"late")
            self.assertTrue(caller.is_over())

    def test_a_refused_caller_that_half_closed_is_closed(self):
        for message in request("GET", "/r/none/x"), b"bad\r\n\r\n", request("POST", "/r/none/x", body=b"a" * 100):
            with self.relay.caller(patience=1.5) as caller:
                caller.send(message)
                caller.finish()
                self.assertGreaterEqual(caller.answer().status, 400)
                self.assertTrue(caller.is_over())

    def test_http_1_0_is_answered_and_closed(self):
        with self.relay.caller() as caller:
            caller.send(b"GET /r/up/fine HTTP/1.0\r\n\r\n")
            got = caller.answer()
            self.assertEqual((got.body, got["Transfer-Encoding"]), (b"fine", None))
            self.assertTrue(caller.is_over())

    def test_http_1_0_gets_a_streamed_body_up_to_the_end_of_the_connection(self):
        self.upstream.on("/stream", lambda got: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"a" * 9, b"b"))
        with self.relay.caller() as caller:
            caller.send(b"GET /r/up/stream HTTP/1.0\r\n\r\n")
            got = caller.answer()
            self.assertEqual((got.body, got["Transfer-Encoding"]), (b"a" * 9 + b"b", None))

    def test_what_is_refused_as_it_is_is_told_of_with_the_route_its_path_names(self):
        upgrade = [("Upgrade", "websocket"), ("Connection", "upgrade")]
        refused = [
            ("GET", "/r/up/%zz", [], None, 400, "bad_target", "up"),
            ("GET", "/r/nobody-has-it/x?secret=CANARY", [], None, 404, "route_not_found", ""),
            ("GET", "/r/up/x", upgrade, None, 501, "not_implemented", "up"),
            ("POST", "/v1/jobs", [("Content-Type", "text/plain")], b"{}", 415, "unsupported_media_type", ""),
            ("POST", "/v1/jobs", [("Content-Type", "application/json")], b'{"nap": 1}', 422, "invalid_job", ""),
        ]
        for method, path, fields, body, status, code, _ in refused:
            self.assert_problem(self.relay.ask(method, path, fields, body), status, code)
        with self.relay.caller() as caller:
            caller.send_quietly(b"GET / HTTP/9.9\r\n\r\n")
            self.assertGreaterEqual(caller.answer().status, 400)
        metrics = ask(self.relay.control, "GET", "/metrics").body.decode()
        for *_, status, code, name in refused:
            self.assertIn(f'waystation_requests_rejected_total{{route="{name}",code="{code}"}}', metrics)
            self.relay.errors.wait(f" refused with {status}: ")
        self.relay.errors.wait("GET on route up refused with 501")
        self.relay.errors.wait("a request refused with ")
        self.assertNotIn("nobody-has-it", metrics)
        self.assertNotIn("CANARY", self.relay.errors.text())
        with Caller(self.relay.control) as caller:
            caller.send(request("GET", "/v1/events?after=0&type=waystation.request.refused", [
                ("Accept", "application/x-ndjson")]))
            caller.head()
            told = []
            # Five of one user are told in a minute, which may be over in between.
            while len(told) < 5:
                size = int(caller._until(b"\r\n"), 16)
                told += [json.loads(line)["data"] for line in caller._exactly(size).splitlines()]
                caller._exactly(2)
        self.assertTrue(all(event["uid"] == os.getuid() for event in told), told)
        self.assertTrue({event.get("route") for event in told} <= {"up", None}, told)

    def test_trailers_of_a_request_are_dropped(self):
        with self.relay.caller() as caller:
            caller.send(
                b"POST /r/up/echo HTTP/1.1\r\nHost: relay.of.tests\r\nTransfer-Encoding: chunked\r\n\r\n"
                b"1\r\na\r\n0\r\nX-Late: 1\r\nContent-Length: 9\r\n\r\n" + request("GET", "/r/up/1"))
            self.assertEqual([caller.answer().body, caller.answer().body], [b"a", b"/1"])
        self.assertIsNone(self.upstream.seen("/echo")[0]["X-Late"])

    def test_a_connection_that_ends_inside_a_request_reaches_no_upstream(self):
        for message in b"GET /r/up/1 HT", request("POST", "/r/up/1", [("Content-Length", "9")]) + b"half":
            with self.relay.caller() as caller:
                caller.send(message)
                caller.finish()
                self.assert_problem(caller.answer(), 400, "bad_request")
        self.assertEqual(self.upstream.requests, [])


if __name__ == "__main__":
    unittest.main()
