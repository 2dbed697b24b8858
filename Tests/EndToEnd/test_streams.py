"""Large bodies, slow peers and callers that hang up."""

import threading
import time
import unittest

from caller import Ended, chunked, request
from relay import RelayTest, UNBOUNDED, eventually, route
from upstream import Close, answer, unread

MIB = 1 << 20


class Streams(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        placeholder = {"name": "stand-in", "on": ["any"], "respond": {"as": "placeholder", "status": 200, "text": "none"}}
        cls.relay = cls.shared_relay({
            "up": route(cls.upstream.url, timeouts={"attempt": "20s", "total": "30s"}, **UNBOUNDED, recovery=[
                {"name": "again", "on": ["any"], "retry": {"max_attempts": 3, "methods": "any", "backoff": {
                    "type": "constant", "base_interval": "10ms"}}}]),
            "hasty": route(cls.upstream.url, timeouts={"attempt": "300ms", "total": "2s"}, recovery=[placeholder]),
            "bare": route(cls.upstream.url, timeouts={"attempt": "500ms", "idle": "300ms", "total": "2s"}),
            "wide": route(cls.upstream.url, timeouts={"attempt": "20s", "idle": "20s", "total": "30s"}),
        }, limits={"max_request_body": "64MiB", "replay_buffer": "256KiB"}).start()

    def setUp(self):
        self.upstream.forget()
        self.upstream.on("/fine", answer(200, "fine"))

    def tearDown(self):
        self.assertEqual(self.relay.ask("GET", "/r/up/fine").body, b"fine", "the daemon goes on")

    def count_body(self, sizes):
        @unread
        def step(got):
            rest = int(got["Content-Length"] or 0)
            size = 0
            if got["Transfer-Encoding"] == "chunked":
                size = len(got.connection.body(got))
            while size < rest:
                size += len(got.connection.exactly(min(rest - size, MIB)))
            sizes.append(size)
            return answer(200, str(size))
        return step

    def test_20_mib_upwards_are_streamed_in_bounded_memory(self):
        sizes = []
        self.upstream.on("/big", self.count_body(sizes))
        before = self.relay.resident()
        with self.relay.caller(30) as caller:
            caller.send(request("POST", "/r/up/big", [("Content-Length", 20 * MIB)]))
            for _ in range(20):
                caller.send(b"x" * MIB)
            self.assertEqual(caller.answer().body, str(20 * MIB).encode())
            self.assertEqual(caller.ask("GET", "/r/up/fine").body, b"fine", "on the same connection")
        self.assertLess(self.relay.resident() - before, 12)

    def test_20_mib_in_chunks_are_streamed(self):
        sizes = []
        self.upstream.on("/chunks", self.count_body(sizes))
        with self.relay.caller(30) as caller:
            caller.send(request("POST", "/r/up/chunks", [("Transfer-Encoding", "chunked")]))
            caller.send(chunked(*[b"x" * (MIB // 4)] * 80) + request("GET", "/r/up/fine"))
            self.assertEqual(caller.answer().body, str(20 * MIB).encode())
            self.assertEqual(caller.answer().body, b"fine")

    def test_a_body_beyond_the_spool_is_not_sent_twice(self):
        again = {"name": "again", "on": ["any"], "retry": {
            "max_attempts": 3, "methods": "any", "backoff": {"type": "constant", "base_interval": "10ms"}}}
        small = self.new_relay({"up": route(self.upstream.url, recovery=[again])}, limits={"spool": "256KiB"}).start()
        self.upstream.on("/once", Close(), answer(200, "twice"))
        with small.caller(30) as caller:
            got = caller.ask("POST", "/r/up/once", body=b"x" * MIB)
        self.assert_problem(got, 502, "upstream_failed")
        self.assertEqual(len(self.upstream.seen("/once")), 1)
        self.assertIn("streamed", small.job(got)["attempts"][0]["held_back"][0]["reason"])

    def test_a_body_within_the_replay_buffer_is_sent_again(self):
        self.upstream.on("/held", Close(), answer(200, "twice"))
        self.assertEqual(self.relay.ask("POST", "/r/up/held", body=b"x" * 200_000).body, b"twice")
        self.assertEqual([len(seen.body) for seen in self.upstream.seen("/held")], [200_000] * 2)

    def test_a_body_announced_too_large_is_refused_before_it_is_sent(self):
        with self.relay.caller() as caller:
            caller.send(request("POST", "/r/up/x", [("Content-Length", 65 * MIB)]))
            self.assert_problem(caller.answer(), 413, "content_too_large")
        self.assertEqual(self.upstream.seen("/x"), [])
        self.relay.errors.wait("<4>POST on route up refused with 413: ", "limits.max_request_body")

    def test_a_chunked_body_that_grows_too_large_is_refused_with_413(self):
        self.upstream.on("/grows", unread(lambda got: got.connection.wait_for_end() and None))
        with self.relay.caller(30) as caller:
            caller.send(request("POST", "/r/wide/grows", [("Transfer-Encoding", "chunked")]))
            for _ in range(66):
                caller.send_quietly(b"100000\r\n" + b"x" * MIB + b"\r\n")
            self.assert_problem(caller.answer(), 413, "content_too_large")
        self.relay.errors.wait("<4>POST on route wide refused with 413: ", "limits.max_request_body")

    def test_a_flood_of_bodies_that_are_too_large_leaves_ten_records_of_a_route(self):
        relay = self.new_relay({"up": route(self.upstream.url)}, limits={"max_request_body": "1KiB"}).start()
        for turn in range(40):
            self.assertEqual(relay.ask("PUT", f"/r/up/{turn}?secret", [("Content-Length", "1025")]).status, 413)
            self.assertEqual(relay.ask("POST", "/v1/jobs", [("Content-Length", "9000000")]).status, 413)
        self.assertEqual(relay.stop(), 0)
        relay.errors.wait("(end)")
        self.assertEqual(len(relay.errors.having("<4>PUT on route up refused with 413: ")), 10)
        self.assertEqual(len(relay.errors.having("<4>POST for the API refused with 413: ")), 10)
        self.assertTrue(relay.errors.having("and 30 more request_refused records of content_too_large on route up"))
        self.assertNotIn("secret", relay.errors.text())

    def test_a_streamed_body_that_turns_out_malformed_is_refused_with_400(self):
        self.upstream.on("/turns", unread(lambda got: got.connection.wait_for_end() and None))
        with self.relay.caller(30) as caller:
            caller.send(request("POST", "/r/wide/turns", [("Transfer-Encoding", "chunked")]))
            caller.send(b"100000\r\n" + b"x" * MIB + b"\r\nxyz\r\n")
            self.assert_problem(caller.answer(), 400, "bad_request")

    def test_50_mib_downwards_are_streamed_in_bounded_memory(self):
        def step(got):
            got.connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (50 * MIB))
            for _ in range(50):
                got.connection.send(b"y" * MIB)
        self.upstream.on("/down", step)
        before = self.relay.resident()
        with self.relay.caller(30) as caller:
            caller.send(request("GET", "/r/up/down"))
            head = caller.head()
            self.assertEqual(head["Content-Length"], str(50 * MIB))
            left = 50 * MIB
            while left:
                caller.held = caller.held or caller.socket.recv(MIB)
                left -= len(caller.held)
                caller.held = b""
        self.assertLess(self.relay.resident() - before, 12)

    def test_chunks_of_the_upstream_reach_the_caller_as_they_come(self):
        go = threading.Event()

        def step(got):
            got.connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            go.wait(10)
            return b"3\r\ntwo\r\n0\r\n\r\n"
        self.upstream.on("/live", step)
        with self.relay.caller() as caller:
            caller.send(request("GET", "/r/up/live"))
            self.assertEqual(caller.head()["Transfer-Encoding"], "chunked")
            self.assertEqual(caller._until(b"\r\n") + caller._exactly(5), b"3one\r\n")
            go.set()
            self.assertEqual(caller._exactly(13), b"3\r\ntwo\r\n0\r\n\r\n")

    def test_a_slow_reader_holds_the_upstream_back(self):
        sent = [0]

        def step(got):
            got.connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (100 * MIB))
            got.connection.socket.settimeout(1)
            try:
                for _ in range(400):
                    got.connection.send(b"z" * (MIB // 4))
                    sent[0] += 1
            except TimeoutError:
                pass
            stalled.set()
            got.connection.wait_for_end()
        stalled = threading.Event()
        self.upstream.on("/slow", step)
        before = self.relay.resident()
        with self.relay.caller() as caller:
            caller.send(request("GET", "/r/wide/slow"))
            self.assertTrue(stalled.wait(15))
            # The bytes that the kernel keeps for both ends of the connection are not the relay's.
            kernel = sum(int(open(f"/proc/sys/net/ipv4/tcp_{side}mem").read().split()[2]) for side in "rw")
            self.assertLess(sent[0] * MIB // 4, 4 * MIB + kernel, "most of the answer is still with the upstream")
            self.assertLess(self.relay.resident() - before, 20)

    def test_a_caller_that_hangs_up_ends_the_attempt_at_once(self):
        for phase in "waiting", "streaming", "uploading":
            ended = threading.Event()
            began = threading.Event()

            @unread
            def step(got):
                if phase == "streaming":
                    got.connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
                began.set()
                if got.connection.wait_for_end():
                    ended.set()
            self.upstream.on("/left", step)
            with self.subTest(phase):
                caller = self.relay.caller()
                if phase == "uploading":
                    caller.send(request("POST", "/r/wide/left", [("Content-Length", 2 * MIB)]) + b"x" * MIB)
                else:
                    caller.send(request("GET", "/r/wide/left"))
                self.assertTrue(began.wait(5))
                if phase == "streaming":
                    caller.head()
                caller.close()
                self.assertTrue(ended.wait(2), "the upstream sees its connection close")
        eventually(lambda: self.relay.status()["in_flight"] == 0, "no request is in flight")

    def test_a_caller_that_hangs_up_while_a_retry_waits_ends_the_job(self):
        self.upstream.on("/later", answer(503, "", ("Retry-After", "20")))
        caller = self.relay.caller()
        caller.send(request("GET", "/r/up/later"))
        self.upstream.wait_for("/later")
        caller.close()
        eventually(lambda: self.relay.status()["in_flight"] == 0, "no request is in flight", 3)

    def test_a_break_in_a_streamed_answer_shows_as_a_break(self):
        self.upstream.on("/cut", Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n"))
        with self.relay.caller() as caller:
            caller.send(request("GET", "/r/up/cut"))
            with self.assertRaises(Ended):
                caller.answer()

    def test_an_upload_that_stalls_is_its_callers(self):
        self.upstream.on("/stall", unread(lambda got: got.connection.wait_for_end() and None))
        with self.relay.caller(5) as caller:
            caller.send(request("POST", "/r/bare/stall", [("Content-Length", 2 * MIB)]) + b"x" * MIB)
            self.assert_problem(caller.answer(), 408, "request_timeout")
            self.assertTrue(caller.is_over())

    def test_an_upstream_may_answer_before_it_has_the_whole_body(self):
        self.upstream.on("/early", unread(lambda got: Close(answer(200, "enough"))))
        with self.relay.caller(5) as caller:
            caller.send_quietly(request("POST", "/r/up/early", [("Content-Length", 3 * MIB)]) + b"x" * MIB)
            got = caller.answer()
            self.assertEqual((got.status, got.body), (200, b"enough"))

    def test_a_drip_that_never_ends_is_cut_by_the_time_that_its_caller_names(self):
        def drip(got):
            got.connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            try:
                for _ in range(200):
                    got.connection.send(b"d")
                    time.sleep(0.02)
            except OSError:
                return None
        self.upstream.on("/drip", drip)
        began = time.monotonic()
        got = self.relay.ask("GET", "/r/hasty/drip", [("Waystation-Timeout", "600ms")])
        self.assertLess(time.monotonic() - began, self.within(2))
        self.assertEqual((got.body, got["Waystation-Source"]), (b"none", "placeholder"))
        self.assertEqual(self.relay.job(got)["attempts"][0]["kind"], "http_response_timeout")

    def test_an_upstream_that_says_nothing_is_504(self):
        self.upstream.on("/mute", lambda got: got.connection.wait_for_end() and None)
        got = self.relay.ask("GET", "/r/bare/mute")
        self.assert_problem(got, 504, "upstream_timeout")
        self.assertIn(self.relay.job(got)["attempts"][0]["kind"], ("connection_read_timeout", "http_response_timeout"))


if __name__ == "__main__":
    unittest.main()
