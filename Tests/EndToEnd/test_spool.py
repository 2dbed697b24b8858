"""Bodies that are too large for memory recover like any other, as long as there is room for their copies."""

import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from caller import chunked, request
from disk import may_mount, on_small_disk
from relay import RelayTest, daemon, eventually, route
from upstream import Close, answer, unread

COMMAND = pathlib.Path(daemon()).with_name("waystation")
HOLD = pathlib.Path(__file__).resolve().parent / "hold.c"
BODY = bytes(range(256)) * 1200
AGAIN = [{"name": "again", "on": ["connection", "401", "503"], "retry": {"max_attempts": 3, "backoff": {"type": "constant", "base_interval": "1ms"}}}]


class Spool(RelayTest):
    def setUp(self):
        self.upstream = self.new_upstream()

    def relay(self, **members):
        return self.new_relay({"up": route(self.upstream.url, recovery=AGAIN)}, **members)

    def bodies(self, path):
        return [got.body for got in self.upstream.seen(path)]

    def explained(self, relay, got):
        return subprocess.run(
            [COMMAND, "explain", got["Waystation-Job"]], capture_output=True, text=True, timeout=10,
            env={**os.environ, "WAYSTATION_CONTROL_SOCKET": relay.control}).stdout

    def test_a_large_body_is_sent_again_as_it_was(self):
        relay = self.relay().start()
        for name, body, framing in (
                ("length", BODY, None), ("chunks", BODY, chunked(BODY[:1000], BODY[1000:200_000], BODY[200_000:]))):
            with self.subTest(name):
                self.upstream.on(f"/{name}", answer(401), answer(503), answer(200, "done"))
                with relay.caller() as caller:
                    caller.send(request("PUT", f"/r/up/{name}", [("Transfer-Encoding", "chunked")]) + framing
                                if framing else request("PUT", f"/r/up/{name}", body=body))
                    got = caller.answer()
                    self.assert_timeline(relay, got, (401, "retry"), (503, "retry"), (200, None))
                    self.assertEqual(self.bodies(f"/{name}"), [body] * 3)
                    self.assertEqual(caller.ask("GET", "/v1/version").status, 200, "the connection goes on")
                self.assertNotIn("is sent once", self.explained(relay, got))
        eventually(lambda: relay.status()["spool"]["used_bytes"] == 0, "the room is given back")
        self.assertEqual(list((relay.directory / "state" / "spool").iterdir()), [])

    def test_an_upstream_that_hangs_up_in_the_middle_gets_all_of_it_again(self):
        relay = self.relay().start()

        def hang_up(got):
            got.connection.exactly(100_000)
            return Close()

        def take(got):
            got.body = got.connection.body(got)
            return answer(200, "done")
        self.upstream.on("/x", unread(hang_up), unread(take))
        with relay.caller() as caller:
            caller.send(request("PUT", "/r/up/x", [("Content-Length", str(len(BODY)))]) + BODY[:280_000])
            self.upstream.wait_for("/x", 2)
            caller.send(BODY[280_000:])
            self.assertEqual(caller.answer().body, b"done")
        self.assertEqual(self.bodies("/x")[-1], BODY)

    def test_an_early_answer_that_is_final_ends_the_connection_and_not_the_daemon(self):
        relay = self.relay().start()

        def refuse(got):
            return answer(403, "no")
        self.upstream.on("/x", unread(refuse))
        with relay.caller() as caller:
            caller.send_quietly(request("PUT", "/r/up/x", body=BODY * 10))
            self.assertEqual(caller.answer().status, 403)
        eventually(lambda: relay.status()["spool"]["used_bytes"] == 0, "the room is given back")
        eventually(lambda: relay.status()["connections"] <= 1, "the connection is over")

    def test_a_body_without_room_is_sent_once_and_the_timeline_says_so(self):
        relay = self.relay(limits={"spool": "256KiB"}).start()
        self.upstream.on("/x", answer(503), answer(200))
        self.upstream.on("/good", answer(200, "done"))
        for framing in "length", "chunks":
            with self.subTest(framing), relay.caller() as caller:
                caller.send(request("PUT", "/r/up/x", body=BODY) if framing == "length" else
                            request("PUT", "/r/up/x", [("Transfer-Encoding", "chunked")]) + chunked(BODY, BODY))
                got = caller.answer()
                self.assertEqual((got.status, got["Waystation-Attempts"]), (503, "1"))
                why = relay.job(got)["request"]["sent_once_because"]
                self.assertIn("limits.spool", why)
                told = self.explained(relay, got)
                self.assertIn("the body is not kept: it is sent once", told)
                self.assertIn("not repeated: the request body was streamed and is gone", told)
                self.upstream.on("/x", answer(503), answer(200))
        got = relay.ask("PUT", "/r/up/good", body=BODY)
        self.assertEqual((got.status, self.bodies("/good")), (200, [BODY]))
        eventually(lambda: relay.status()["spool"]["used_bytes"] == 0, "the room is given back")

    @unittest.skipUnless(may_mount(), "needs root, for a small disk")
    def test_a_full_disk_costs_the_copy_and_nothing_else(self):
        relay = self.relay(limits={"max_request_body": "64MiB"})
        on_small_disk(relay, "32m")
        relay.start()
        body = BODY * 120
        self.upstream.on("/good", answer(200, "done"))
        self.upstream.on("/bad", answer(503), answer(200))
        got = relay.ask("PUT", "/r/up/good", body=body)
        self.assertEqual((got.status, self.bodies("/good") == [body]), (200, True))
        self.assertIn("nearly full", relay.job(got)["request"]["sent_once_because"])
        got = relay.ask("PUT", "/r/up/bad", body=body)
        self.assertEqual((got.status, got["Waystation-Attempts"]), (503, "1"))
        self.assertEqual(relay.status()["storage"]["state"], "ok")
        self.upstream.on("/bad", answer(503), answer(200, "done"))
        self.assertEqual(relay.ask("PUT", "/r/up/bad", body=BODY).body, b"done")

    def stalling(self):
        """A relay whose copies stand still while `held` is there."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        library = pathlib.Path(folder.name) / "hold.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, HOLD], check=True, timeout=60)
        relay = self.relay()
        held = relay.directory / "held"
        relay.environment |= {"LD_PRELOAD": str(library), "HOLD": str(held), "HOLD_COPIES": "1"}
        self.addCleanup(held.unlink, missing_ok=True)
        return relay.start(), held

    def test_a_disk_that_stalls_costs_the_copy_and_a_moment(self):
        relay, held = self.stalling()
        self.upstream.on("/x", answer(200, "done"))
        held.touch()
        # A request that comes later does not wait at all.
        for limit in 5, 1.5:
            began = time.monotonic()
            got = relay.ask("PUT", "/r/up/x", body=BODY)
            self.assertEqual(got.status, 200)
            self.assertLess(time.monotonic() - began, self.within(limit))
            self.assertIn("does not move", relay.job(got)["request"]["sent_once_because"])
        self.assertEqual(self.bodies("/x"), [BODY] * 2)
        held.unlink()
        eventually(lambda: relay.status()["spool"]["used_bytes"] == 0, "the room is given back")
        got = relay.ask("PUT", "/r/up/x", body=BODY)
        self.assertNotIn("sent_once_because", relay.job(got)["request"])

    def test_a_copy_that_cannot_be_read_after_a_cut_leaves_the_outcome_unknown(self):
        relay, held = self.stalling()

        def cut(got):
            held.touch()
            return Close()
        self.upstream.on("/x", cut, answer(200))
        got = relay.ask("PUT", "/r/up/x", body=BODY)
        problem = self.assert_problem(got, 502, "upstream_failed")
        self.assertEqual((problem["kind"], problem["sent"]), ("stored_body_unread", "unknown"))
        self.assertIsNone(got["Retry-After"])

    def test_a_caller_that_leaves_in_the_middle_leaves_nothing_behind(self):
        relay = self.relay().start()
        self.upstream.on("/x", answer(200))
        with relay.caller() as caller:
            caller.send(request("PUT", "/r/up/x", [("Content-Length", str(len(BODY)))]) + BODY[:280_000])
            eventually(lambda: relay.status()["spool"]["used_bytes"] > 0, "the copy takes room as it grows")
        eventually(lambda: relay.status()["spool"]["used_bytes"] == 0, "the room is given back")
        eventually(lambda: relay.status()["in_flight"] == 0, "the request is over")


if __name__ == "__main__":
    unittest.main()
