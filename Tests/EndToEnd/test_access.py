"""Who may come in, how many, and what happens when descriptors or readers run out."""

import os
import socket
import subprocess
import sys
import threading
import time
import unittest

from caller import Caller, ask, request
from peers import free_ports
from relay import RelayTest, eventually, route
from upstream import Upstream, answer

# Nobody, on every Debian machine.
STRANGER = 65534


def ask_as(user, path, target, group=None):
    """The status and body a caller of another account gets; needs root."""
    script = (
        "import os,sys; sys.path.insert(0, sys.argv[1]);\n"
        "user, group = int(sys.argv[2]), int(sys.argv[3])\n"
        "os.setgroups([]); os.setgid(group); os.setuid(user)\n"
        "from caller import ask\n"
        "got = ask(sys.argv[4], 'GET', sys.argv[5]); print(got.status); print(got.body.decode())\n")
    here = os.path.dirname(os.path.abspath(__file__))
    # The modules are read before the rights go.
    script = "import sys; sys.path.insert(0, sys.argv[1]); import caller\n" + script
    done = subprocess.run(
        ["/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable, "-B", "-c", script, here,
         str(user), str(group or user), path, target],
        capture_output=True, text=True, timeout=30)
    if done.returncode:
        raise AssertionError(done.stderr)
    status, body = done.stdout.split("\n", 1)
    return int(status), body


class Access(RelayTest):
    def setUp(self):
        self.upstream = Upstream()
        self.addCleanup(self.upstream.close)
        self.upstream.on("/x", answer(200, "x"))

    def test_a_route_serves_only_the_users_and_groups_it_names(self):
        me = os.getuid()
        relay = self.new_relay({
            "mine": route(self.upstream.url, allow_users=[me]), "others": route(self.upstream.url, allow_users=[me + 1]),
            "group": route(self.upstream.url, allow_groups=[os.getgid()]),
            "other-group": route(self.upstream.url, allow_groups=[54321])}).start()
        self.assertEqual([relay.ask("GET", f"/r/{name}/x").status for name in ("mine", "group")], [200, 200])
        for name in "others", "other-group":
            self.assert_problem(relay.ask("GET", f"/r/{name}/x"), 403, "not_allowed")
        if me == 0:
            self.assertEqual(ask_as(STRANGER, relay.jobs, "/r/mine/x")[0], 403)
            self.assertEqual(ask_as(STRANGER, relay.jobs, "/r/other-group/x", group=54321)[0], 200)

    def test_a_stranger_neither_opens_the_control_socket_nor_sees_anothers_job(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        self.assertEqual(os.stat(relay.control).st_mode & 0o777, 0o600)
        got = relay.ask("GET", "/r/up/x")
        if os.getuid() == 0:
            self.assertEqual(ask_as(STRANGER, relay.jobs, "/r/up/x")[0], 200)
            self.assertEqual(ask_as(STRANGER, relay.jobs, f"/v1/jobs/{got['Waystation-Job']}")[0], 404)
            with self.assertRaisesRegex(AssertionError, "PermissionError"):
                ask_as(STRANGER, relay.control, "/v1/status")

    def test_a_listener_serves_only_the_users_it_names(self):
        relay = self.new_relay({})
        relay.members["listeners"] = [{
            "name": "jobs", "unix": relay.jobs, "mode": "0666", "allow_users": [os.getuid() + 1]}]
        relay.write({"up": route(self.upstream.url)})
        relay.start()
        self.assert_problem(relay.ask("GET", "/r/up/x"), 403, "not_allowed")
        self.assertEqual(self.upstream.requests, [])

    def test_a_tcp_listener_that_names_users_is_refused(self):
        relay = self.new_relay({})
        port, = free_ports(1)
        relay.members["listeners"] = [
            {"name": "jobs", "unix": relay.jobs, "mode": "0666"},
            {"name": "local", "tcp": f"127.0.0.1:{port}", "allow_users": [os.getuid()]}]
        relay.write({"up": route(self.upstream.url)})
        with self.assertRaisesRegex(AssertionError, "cannot be enforced on a port"):
            relay.start()

    def test_a_tcp_listener_serves_programs_and_no_browser(self):
        relay = self.new_relay({})
        port, = free_ports(1)
        relay.members["listeners"] = [
            {"name": "jobs", "unix": relay.jobs, "mode": "0666"}, {"name": "local", "tcp": f"127.0.0.1:{port}"}]
        relay.write({"up": route(self.upstream.url), "named": route(self.upstream.url, allow_users=[os.getuid()])})
        relay.start()

        def get(host, *lines):
            with Caller(("127.0.0.1", port)) as caller:
                caller.send("\r\n".join(["GET /r/up/x HTTP/1.1", f"Host: {host}", *lines, "", ""]).encode())
                return caller.answer()
        for host in "127.0.0.1", f"127.0.0.1:{port}", "localhost", f"LOCALHOST:{port}", "[::1]:8311":
            self.assertEqual(get(host).status, 200, host)
        self.assert_problem(get(f"evil.example:{port}"), 403, "not_allowed")
        self.assert_problem(get("localhost", "Origin: https://evil.example"), 403, "not_allowed")
        self.assert_problem(ask(("127.0.0.1", port), "GET", "/r/up/x"), 403, "not_allowed")
        with Caller(("127.0.0.1", port)) as caller:
            caller.send(b"GET /r/named/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assert_problem(caller.answer(), 403, "not_allowed")

    def test_a_connection_too_many_is_told_so(self):
        relay = self.new_relay({"up": route(self.upstream.url)}, limits={"max_connections": 4}).start()
        callers = [relay.caller() for _ in range(4)]
        for caller in callers:
            self.assertEqual(caller.ask("GET", "/r/up/x").status, 200)
        with relay.caller() as one_more:
            got = one_more.answer()
            self.assert_problem(got, 503, "overloaded")
            self.assertEqual(got["Retry-After"], "1")
        callers.pop().close()

        def is_served():
            with relay.caller() as caller:
                caller.send_quietly(request("GET", "/r/up/x"))
                return caller.answer().status == 200
        eventually(is_served, "a place is free again")
        for _ in range(50):
            with relay.caller() as caller:
                caller.send_quietly(request("GET", "/r/none/x"))
                caller.answer()
        eventually(is_served, "no place has been lost")
        for caller in callers:
            caller.close()

    def test_a_route_that_is_full_says_so_and_counts_it_once(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.upstream.on("/hold", lambda got: hold.wait(10) and answer(200, "held"))
        relay = self.new_relay({"up": route(
            self.upstream.url, concurrency={"max_requests": 1, "max_pending_requests": 1}, timeouts={"total": "10s"})}).start()
        with relay.caller() as first, relay.caller() as second:
            first.send(request("GET", "/r/up/hold"))
            self.upstream.wait_for("/hold")
            second.send(request("GET", "/r/up/x"))
            eventually(lambda: relay.status()["routes"][0]["pending"] == 1, "one request waits")
            got = relay.ask("GET", "/r/up/x")
            self.assert_problem(got, 503, "overloaded")
            self.assertEqual(got["Retry-After"], "1")
            self.assertEqual(relay.status()["routes"][0]["failed"], 1)
            hold.set()
            self.assertEqual((first.answer().body, second.answer().body), (b"held", b"x"))
        eventually(lambda: relay.status()["in_flight"] == 0, "every place is given back")

    def test_a_request_that_waited_too_long_for_a_place_is_told_its_deadline(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.upstream.on("/hold", lambda got: hold.wait(10) and answer(200, "held"))
        relay = self.new_relay({"up": route(self.upstream.url, concurrency={"max_requests": 1})}).start()
        with relay.caller() as first:
            first.send(request("GET", "/r/up/hold"))
            self.upstream.wait_for("/hold")
            got = relay.ask("GET", "/r/up/x", [("Waystation-Timeout", "200ms")])
            self.assert_problem(got, 504, "deadline_exceeded")
            gone = relay.caller()
            gone.send(request("GET", "/r/up/x"))
            eventually(lambda: relay.status()["routes"][0]["pending"] == 1, "one request waits")
            gone.close()
            eventually(lambda: relay.status()["routes"][0]["pending"] == 0, "a caller that left waits no more")
            hold.set()
            self.assertEqual(first.answer().body, b"held")
        self.assertEqual(self.upstream.seen("/x"), [])

    def test_requests_that_wait_for_a_place_cost_no_processor_time(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.upstream.on("/hold", lambda got: hold.wait(10) and answer(200, "held"))
        relay = self.new_relay({"up": route(self.upstream.url, concurrency={"max_requests": 1})}).start()
        with relay.caller() as first, relay.caller() as second:
            first.send(request("GET", "/r/up/hold"))
            self.upstream.wait_for("/hold")
            second.send(request("GET", "/r/up/x"))
            eventually(lambda: relay.status()["routes"][0]["pending"] == 1, "one request waits")
            before, began = relay.processor_seconds(), time.monotonic()
            time.sleep(1)
            self.assertLess((relay.processor_seconds() - before) / (time.monotonic() - began), 0.2)
            hold.set()
            self.assertEqual(second.answer().body, b"x")

    def test_running_out_of_descriptors_neither_spins_nor_lasts(self):
        relay = self.new_relay({"up": route(self.upstream.url)}, before=["prlimit", "--nofile=40:40"]).start()
        callers = []
        for _ in range(60):
            caller = socket.socket(socket.AF_UNIX)
            caller.connect(relay.jobs)
            callers.append(caller)
        eventually(lambda: relay.descriptors() >= 39, "all descriptors are taken")
        before, began = relay.processor_seconds(), time.monotonic()
        time.sleep(1)
        self.assertLess((relay.processor_seconds() - before) / (time.monotonic() - began), 0.2)
        for caller in callers:
            caller.close()
        self.assertEqual(relay.ask("GET", "/r/up/x").body, b"x")

    def test_a_journal_that_nobody_reads_holds_no_request_up(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        relay = self.new_relay({f"r{n}": route(self.upstream.url, recovery=[
            {"name": "stand-in", "on": ["any"], "respond": {"as": "fallback", "status": 200, "text": "y"}}]) for n in range(40)})
        relay.start(stderr=writer)
        os.close(writer)
        self.upstream.on("/bad", answer(500))
        began = time.monotonic()
        # Records are held back per route and kind, so that many routes are needed to fill the pipe.
        with relay.caller() as caller:
            for turn in range(25):
                for n in range(40):
                    self.assertEqual(caller.ask("GET", f"/r/r{n}/bad?{turn}").body, b"y")
        self.assertLess(time.monotonic() - began, 20)


if __name__ == "__main__":
    unittest.main()
