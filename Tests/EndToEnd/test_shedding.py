"""New work is refused while memory is short, the least urgent first, and nothing that was accepted is lost."""

import base64
import os
import threading
import time
import unittest

from caller import ask, request
from durable import DurableTest, kept
from relay import eventually, route
from upstream import answer


class Shedding(DurableTest):
    def setUp(self):
        super().setUp()
        self.upstream.on("/x", answer(200, "x"))

    def pressed(self, routes=None, **members):
        """A daemon whose pressure is told through a pipe in place of the kernel's file."""
        relay = self.new_relay(routes or {"up": route(self.upstream.url)}, **members)
        self.pipe = str(relay.directory / "pressure")
        os.mkfifo(self.pipe)
        relay.environment["MEMORY_PRESSURE_WATCH"] = self.pipe
        return relay.start()

    def press(self, seconds=0):
        """Says that memory is short, twice a second for so long."""
        end = time.monotonic() + seconds
        while True:
            with open(self.pipe, "wb", buffering=0) as pipe:
                pipe.write(b"pressure\n")
            if time.monotonic() >= end:
                return
            time.sleep(0.5)

    def urgent(self, relay, urgency, method="GET"):
        return relay.ask(method, "/r/up/x", [("Priority", f"u={urgency}")])

    def level(self, relay):
        return relay.status()["shedding"]["level"]

    def test_the_least_urgent_first_then_all_and_back_again(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.upstream.on("/hold", lambda got: hold.wait(100) and answer(200, "held"))
        relay = self.pressed()
        self.assertEqual(self.urgent(relay, 7).status, 200)
        with relay.caller(100) as under_way:
            under_way.send(request("GET", "/r/up/hold"))
            eventually(lambda: relay.status()["in_flight"] == 1, "a request is under way")
            self.press()
            eventually(lambda: self.level(relay) == 1, "the daemon has heard of it")
            got = self.urgent(relay, 4)
            self.assertIn("memory is short", self.assert_problem(got, 503, "overloaded")["detail"])
            self.assertTrue(1 <= int(got["Retry-After"]) <= 8, got)
            self.assertEqual(self.urgent(relay, 3).status, 200)
            self.press(3)
            eventually(lambda: self.level(relay) >= 2, "it goes on")
            self.assertEqual(relay.ask("GET", "/r/up/x").status, 503)
            self.press(4)
            eventually(lambda: self.level(relay) == 3, "and on")
            self.assertEqual(self.urgent(relay, 0).status, 503)
            self.assertEqual(ask(relay.control, "GET", "/r/up/x").status, 200, "an operator is not refused")
            self.assertIn("memory pressure", relay.status()["shedding"]["reason"])
            self.assertIn("memory is short", relay.notices.wait("memory is short"))
            hold.set()
            self.assertEqual(under_way.answer().status, 200, "what was under way goes on")
        eventually(lambda: self.level(relay) == 0, "it is over")
        self.assertEqual(self.urgent(relay, 7).status, 200)
        self.assertEqual(len(relay.errors.having("memory is short: ")), 1)
        relay.errors.wait("memory is no longer short")

    def test_kept_jobs_that_were_accepted_are_delivered_and_answers_kept_for_hard_times_go(self):
        stale = {"response": {"cache_last_good": {"max_age": "1h"}},
                 "recovery": [{"name": "stale", "on": ["any"], "respond": {"as": "stale"}}]}
        relay = self.pressed({"up": route(self.upstream.url, **stale), "later": kept(self.upstream.url)})
        self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)
        self.upstream.on("/x", answer(500))
        self.assertEqual(relay.ask("GET", "/r/up/x")["Waystation-Source"], "stale")
        id = self.hand_over(relay, "/r/later/y", method="PUT")
        self.press()
        eventually(lambda: self.level(relay) == 1, "the daemon has heard of it")
        self.assertEqual(relay.ask("GET", "/r/up/x").status, 500)
        got = relay.ask("PUT", "/r/later/y", [("Priority", "u=5"), ("Prefer", "respond-async")])
        self.assert_problem(got, 503, "overloaded")
        self.upstream.on("/y", answer(200))
        self.wait_for_end(relay, id)

    def test_a_bound_of_our_own_tells_it_everywhere(self):
        relay = self.new_relay(
            {"up": route(self.upstream.url)}, limits={"shedding": {"max_resident": "16MiB"}}).start()
        eventually(lambda: self.level(relay) == 3, "the process takes more than that")
        self.assertIn("limits.shedding.max_resident", self.assert_problem(
            relay.ask("GET", "/r/up/x"), 503, "overloaded")["detail"])
        relay.members["limits"] = {"shedding": {"max_resident": "16GiB"}}
        relay.write({"up": route(self.upstream.url)})
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        eventually(lambda: relay.ask("GET", "/r/up/x").status == 200, "new work is taken again")
        off = self.pressed(limits={"shedding": {"enabled": False, "max_resident": "16MiB"}})
        self.press(3)
        self.assertEqual((self.level(off), self.urgent(off, 7).status), (0, 200))

    def test_what_cannot_be_watched_is_said_and_keeps_nobody_from_serving(self):
        plain = self.new_relay({"up": route(self.upstream.url)})
        (plain.directory / "plain").write_text("")
        plain.environment["MEMORY_PRESSURE_WATCH"] = str(plain.directory / "plain")
        plain.environment["MEMORY_PRESSURE_WRITE"] = base64.b64encode(b"some 200000 2000000\0").decode()
        plain.start()
        plain.errors.wait("memory pressure is not watched", "plain")
        self.assertEqual((plain.directory / "plain").read_bytes(), b"some 200000 2000000\0")
        self.assertEqual(plain.ask("GET", "/r/up/x").status, 200)
        kernel = "/proc/pressure/memory"
        paths = [("/dev/null", False), ("/nowhere", True), ("", False)]
        if os.access(kernel, os.W_OK):
            paths.append((kernel, False))
        for path, told in paths:
            words = {"MEMORY_PRESSURE_WRITE": base64.b64encode(b"some 200000 2000000\0").decode()}
            relay = self.new_relay(
                {"up": route(self.upstream.url)}, environment={"MEMORY_PRESSURE_WATCH": path, **words}).start()
            self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)
            if told:
                relay.errors.wait("memory pressure is not watched", path)
            else:
                relay.stop()
                relay.errors.wait("(end)")
                self.assertEqual(relay.errors.having("memory pressure is not watched"), [], path)


if __name__ == "__main__":
    unittest.main()
