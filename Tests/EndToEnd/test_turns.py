"""The jobs, connections and streams of one user leave the others their turns, all with the default limits."""

import contextlib
import json
import os
import select
import threading
import time
import unittest

from caller import Ended, ask, request
from relay import RelayTest, eventually, route
from test_access import hold_as
from upstream import answer
from users import caller_as

ONE, TWO, THREE = 54001, 54002, 54003
STREAM = [("Accept", "text/event-stream")]


def ask_as(user, path, method, target, fields=(), body=None):
    with contextlib.closing(caller_as(user, path)) as caller:
        caller.send(request(method, target, fields, body))
        return caller.answer(method)


def readable(callers):
    """Those callers that have an answer to read."""
    return [caller for caller in callers if select.select([caller.socket], [], [], 0)[0]]


class Turns(RelayTest):
    def setUp(self):
        if os.getuid():
            self.skipTest("needs root, to be other users")
        self.upstream = self.new_upstream()
        self.upstream.on("/x", answer(200, "x"))
        self.hold = threading.Event()
        self.addCleanup(self.hold.set)
        self.upstream.on("/hold", lambda got: self.hold.wait(100) and answer(200, "held"))

    def milliseconds(self, relay, user, count=50):
        """The time that nearly all of a user's requests take, one after the other."""
        times = []
        with contextlib.closing(caller_as(user, relay.jobs)) as caller:
            for _ in range(count):
                began = time.monotonic()
                caller.send(request("GET", "/r/up/x"))
                self.assertEqual(caller.answer().status, 200)
                times.append(time.monotonic() - began)
        return sorted(times)[int(0.99 * (count - 1))] * 1000

    def refusals(self, relay, user):
        return next((one.get("refused", {}) for one in relay.status()["callers"] if one.get("user") == user), {})

    # Kept jobs.

    def flood(self, relay, count=1500):
        """So many of the most urgent jobs of one user."""
        for path in "/flood", "/own", "/other":
            self.upstream.on(path, answer(200, "kept"))
        job = {"route": "up", "mode": "async", "request": {"method": "PUT", "path": "flood"}, "options": {"priority": 0}}
        for _ in range(0, count, 500):
            told = ask_as(ONE, relay.jobs, "POST", "/v1/jobs", [("Content-Type", "application/json")],
                          json.dumps([job] * 500).encode())
            self.assertEqual((told.status, told.json()["refused"]), (200, 0))

    def keep(self, relay, user, path):
        began = time.monotonic()
        got = ask_as(user, relay.jobs, "PUT", f"/r/up/{path}", [("Prefer", "respond-async"), ("Priority", "u=3")], b"b")
        self.assertEqual(got.status, 202)
        self.upstream.wait_for(f"/{path}", seconds=60)
        return time.monotonic() - began

    def test_a_flood_of_urgent_kept_jobs_holds_no_other_job_for_long(self):
        relay = self.new_relay({"up": route(
            self.upstream.url, delivery={"mode": "durable"}, rate_limit={"max_requests": 40, "per": "1s"})}).start()
        self.flood(relay)
        others = self.keep(relay, TWO, "other")
        own = self.keep(relay, ONE, "own")
        self.assertLess(others, self.within(1), "another user's")
        self.assertLess(own, 30, "one of its own that is less urgent")
        self.assertLess(len(self.upstream.seen("/flood")), 1400, "the flood is not over")

    def test_the_turns_hold_over_a_restart(self):
        routes = {"up": route(
            self.upstream.url, delivery={"mode": "durable"}, rate_limit={"max_requests": 40, "per": "1s"})}
        relay = self.new_relay(routes).start()
        self.flood(relay)
        relay.stop()
        relay = self.new_relay(routes, directory=relay.directory)
        os.unlink(relay.directory / "notify")
        relay.start()
        self.assertLess(self.keep(relay, TWO, "other"), self.within(1))
        self.assertLess(len(self.upstream.seen("/flood")), 1400, "the flood is not over")

    # Streams.

    def streaming(self):
        """A route of eight permits whose /events never ends."""
        def events(got):
            got.connection.send(answer(200, b"", ("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"),
                                       length=False) + b"6\r\ndata:\n\r\n")
            got.connection.wait_for_end(100)
        self.upstream.on("/events", events)
        return self.new_relay({"up": route(self.upstream.url, concurrency={"max_requests": 8})}).start()

    def stream(self, relay, user, fields=STREAM):
        caller = caller_as(user, relay.jobs)
        self.addCleanup(caller.close)
        caller.send(request("GET", "/r/up/events", fields))
        return caller

    def pending(self, relay):
        return relay.status()["routes"][0]["pending"]

    def test_endless_streams_of_one_user_leave_a_permit_to_others(self):
        relay = self.streaming()
        streams = [self.stream(relay, ONE) for _ in range(7)]
        self.assertEqual({stream.head().status for stream in streams}, {200})
        waiting = self.stream(relay, ONE)
        eventually(lambda: self.pending(relay) == 1, "the next one waits")
        self.assertLess(self.milliseconds(relay, TWO), 1000 * self.within(0.05))
        self.assertLess(self.milliseconds(relay, ONE, 5), 1000 * self.within(0.05), "so do its own that do not stream")
        self.assertEqual(self.pending(relay), 1)
        impatient = self.stream(relay, ONE, STREAM + [("Waystation-Timeout", "300ms")])
        detail = self.assert_problem(impatient.answer(), 504, "deadline_exceeded")["detail"]
        self.assertIn("all but an eighth", detail)
        streams[0].close()
        got = waiting.head()
        self.assertEqual(got.status, 200)
        waiting.close()
        # The record has the wait when the request is over.
        eventually(
            lambda: ask(relay.control, "GET", f"/v1/jobs/{got['Waystation-Job']}").json().get("permit_wait_ms", 0) > 0,
            "its record tells that it waited")
        self.assertEqual(self.refusals(relay, ONE), {})

    def test_streams_that_begin_at_once_give_one_up_when_another_user_comes(self):
        relay = self.streaming()
        streams = [self.stream(relay, ONE, []) for _ in range(8)]
        self.assertEqual({stream.head().status for stream in streams}, {200}, "nobody else wants a permit")
        self.assertLess(self.milliseconds(relay, TWO), 1000 * self.within(0.05))
        eventually(lambda: self.refusals(relay, ONE) == {"concurrency.max_requests": 1}, "one has ended for it")
        ended = 0
        for stream in streams:
            stream.socket.settimeout(0.2)
            try:
                while True:
                    stream.held = b""
                    stream._more()
            except Ended:
                ended += 1
            except TimeoutError:
                pass
        self.assertEqual(ended, 1)
        again = self.stream(relay, ONE, [])
        eventually(lambda: self.pending(relay) == 1, "it waits when it comes again")
        self.assertLess(self.milliseconds(relay, TWO), 1000 * self.within(0.05))
        streams = [stream.close() for stream in streams]
        self.assertEqual(again.head().status, 200)
        self.assertEqual(self.refusals(relay, ONE), {"concurrency.max_requests": 1}, "none more has ended")

    # Connections.

    def test_two_users_with_idle_connections_lock_no_third_out(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        for user in ONE, TWO:
            holder = hold_as(user, relay.jobs, 600)
            self.addCleanup(holder.kill)
            self.assertEqual(holder.stdout.readline(), "connected\n")
        self.assertLess(self.milliseconds(relay, THREE), 1000 * self.within(0.05))

    def test_callers_over_the_limit_are_told_so_whoever_holds_connections(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        holder = hold_as(ONE, relay.jobs, 600)
        self.addCleanup(holder.kill)
        self.assertEqual(holder.stdout.readline(), "connected\n")
        for pause in [0] * 10 + [0.01] * 10 + [0.1] * 3:
            with contextlib.closing(caller_as(ONE, relay.jobs)) as caller:
                time.sleep(pause)
                # It writes all it has to say before it reads.
                caller.send(request("PUT", "/r/up/x", body=b"b" * 4096))
                got = caller.answer()
            self.assert_problem(got, 503, "overloaded")
            self.assertEqual((got["Retry-After"], got["Connection"]), ("1", "close"))
        self.assertEqual(self.upstream.seen("/x"), [])

    def test_who_is_over_the_limit_and_asks_nothing_is_told_in_a_moment(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        holder = hold_as(ONE, relay.jobs, 256)
        self.addCleanup(holder.kill)
        self.assertEqual(holder.stdout.readline(), "connected\n")
        # With the one that asks; two loops may take connections out of their order.
        eventually(lambda: relay.status()["connections"] >= 257, "all of them have their places")
        began = time.monotonic()
        with contextlib.closing(caller_as(ONE, relay.jobs)) as caller:
            self.assert_problem(caller.answer(), 503, "overloaded")
            self.assertLess(time.monotonic() - began, self.within(2))
            caller.socket.settimeout(self.within(5))
            self.assertEqual(caller.socket.recv(1), b"", "and the connection ends")

    # Waiting.

    def test_requests_that_wait_for_one_route_leave_their_user_connections_for_others(self):
        relay = self.new_relay({
            # Longer than anything here waits.
            "slow": route(self.upstream.url, concurrency={"max_requests": 8},
                          timeouts={name: "120s" for name in ("attempt", "idle", "total")}),
            "up": route(self.upstream.url)}).start()
        waiting = []
        for _ in range(250):
            caller = caller_as(ONE, relay.jobs)
            self.addCleanup(caller.close)
            caller.send(request("GET", "/r/slow/hold"))
            waiting.append(caller)
        # Which of them are told at once depends on who was read first, for two loops read them.
        told = set()
        eventually(lambda: told.update(readable(waiting)) or len(told) >= 16, "those over the limit are told at once")
        for caller in told:
            self.assertIn("wait on this route", self.assert_problem(caller.answer(), 503, "overloaded")["detail"])
        eventually(lambda: relay.status()["connections"] < 230, "their connections are free again")
        self.assertLess(self.milliseconds(relay, ONE), 1000 * self.within(0.05), "its other route")
        self.hold.set()
        answers = []
        for caller in (caller for caller in waiting if caller not in told):
            caller.socket.settimeout(30)
            answers.append(caller.answer())
        self.assertGreater(sum(got.status == 200 for got in answers), 100, "the others have waited")
        self.assertEqual({got.json()["code"] for got in answers if got.status != 200} - {"overloaded"}, set())


if __name__ == "__main__":
    unittest.main()
