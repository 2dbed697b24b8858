"""Access: which callers may come in, how many, and what happens when descriptors or readers run out."""

import gzip
import json
import os
import subprocess
import sys
import threading
import time
import unittest

from caller import Caller, ask, request
from peers import free_ports
from relay import RelayTest, eventually, route
from upstream import answer

# Nobody, on every Debian machine.
STRANGER = 65534


def ask_as(user, path, target, group=None, method="GET"):
    """The status and body a caller of another account gets; needs root."""
    script = (
        "import os,sys; sys.path.insert(0, sys.argv[1]);\n"
        "user, group = int(sys.argv[2]), int(sys.argv[3])\n"
        "os.setgroups([]); os.setgid(group); os.setuid(user)\n"
        "from caller import Caller, request\n"
        "one = Caller(sys.argv[4]); one.send_quietly(request(sys.argv[6], sys.argv[5]))\n"
        "got = one.answer(); print(got.status); print(got.body.decode())\n")
    here = os.path.dirname(os.path.abspath(__file__))
    # The modules are read before the rights go.
    script = "import sys; sys.path.insert(0, sys.argv[1]); import caller\n" + script
    done = subprocess.run(
        ["/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable, "-B", "-c", script, here,
         str(user), str(group or user), path, target, method],
        capture_output=True, text=True, timeout=30)
    if done.returncode:
        raise AssertionError(done.stderr)
    status, body = done.stdout.split("\n", 1)
    return int(status), body


def hold_as(user, path, count):
    """A process of another account that holds connections open, and says so when all of them were made."""
    script = (
        "import os,socket,sys,time,resource\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (count + 50, count + 50)) if (count := int(sys.argv[3])) else None\n"
        "os.setgroups([]); os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))\n"
        "held = []\n"
        "for _ in range(count):\n"
        "    one = socket.socket(socket.AF_UNIX); one.connect(sys.argv[2]); held.append(one)\n"
        "print('connected', flush=True)\n"
        "time.sleep(60)\n")
    return subprocess.Popen(
        ["/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable, "-c", script, str(user), path,
         str(count)], stdout=subprocess.PIPE, text=True)


class Access(RelayTest):
    def setUp(self):
        self.upstream = self.new_upstream()
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

    def test_the_page_is_served_to_who_may_read_and_on_no_port(self):
        relay = self.new_relay({})
        port, = free_ports(1)
        read = str(relay.directory / "read.sock")
        relay.members["listeners"] = [
            {"name": "jobs", "unix": relay.jobs, "mode": "0666"}, {"name": "read", "unix": read, "mode": "0600", "role": "read"},
            {"name": "control", "unix": relay.control, "mode": "0600", "role": "admin"},
            {"name": "local", "tcp": f"127.0.0.1:{port}", "role": "read"}]
        relay.write({"up": route(self.upstream.url)})
        relay.start()
        for path in "/ui/", "/ui/page.js", "/ui/page.css", "/ui/words.json", "/ui/icon.svg":
            with self.subTest(path=path):
                got = ask(read, "GET", path)
                self.assertEqual((got.status, got["Cache-Control"]), (200, "no-cache"), got)
                self.assertIn("default-src 'none'; script-src 'self'", got["Content-Security-Policy"])
                again = ask(read, "GET", path, [("If-None-Match", got["ETag"])])
                self.assertEqual((again.status, again.body, again["ETag"]), (304, b"", got["ETag"]))
                self.assertEqual(ask(read, "HEAD", path)["Content-Length"], str(len(got.body)))
                small = ask(read, "GET", path, [("Accept-Encoding", "gzip, br")])
                self.assertEqual((small["Content-Encoding"], small["Vary"]), ("gzip", "Accept-Encoding"))
                self.assertEqual((gzip.decompress(small.body), got["Content-Encoding"]), (got.body, None))
                self.assert_problem(relay.ask("GET", path), 403, "not_allowed")
                with Caller(("127.0.0.1", port)) as caller:
                    caller.send(request("GET", path).replace(b"Host: relay.of.tests", b"Host: localhost"))
                    self.assert_problem(caller.answer(), 404, "path_not_found")
        moved = ask(relay.control, "GET", "/ui")
        self.assertEqual((moved.status, moved["Location"]), (308, "/ui/"))
        for socket, role in (relay.jobs, "submit"), (read, "read"), (relay.control, "admin"):
            self.assertEqual(ask(socket, "GET", "/v1/version").json()["role"], role)

    def test_a_connection_too_many_is_told_so(self):
        relay = self.new_relay({"up": route(self.upstream.url)}, limits={
            "max_connections": 4, "per_user": {"max_connections": 4}}).start()
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

    def test_one_user_locks_neither_the_operator_nor_another_user_out(self):
        if os.getuid():
            self.skipTest("needs root, to be two other users")
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        holder = hold_as(54001, relay.jobs, 2000)
        self.addCleanup(holder.kill)
        self.assertEqual(holder.stdout.readline(), "connected\n")

        def refused(problem):
            return problem["code"] == "overloaded" and "limits.per_user.max_connections" in problem["detail"]
        status, body = ask_as(54001, relay.jobs, "/r/up/x")
        self.assertEqual(status, 503, body)
        self.assertTrue(refused(json.loads(body)) and "uid 54001" in body, body)
        self.assertEqual(ask_as(54002, relay.jobs, "/r/up/x"), (200, "x\n"))
        waits = []
        for _ in range(10):
            began = time.monotonic()
            told = relay.status()
            waits.append(time.monotonic() - began)
        self.assertLess(sorted(waits)[5], self.within(0.25), "the status comes at once")
        self.assertGreaterEqual(told["connections_refused"], 2000 - 256)
        holder.kill()
        eventually(lambda: ask_as(54001, relay.jobs, "/r/up/x")[0] == 200, "the places are free again")

    def test_the_places_of_a_control_listener_are_its_own(self):
        relay = self.new_relay({"up": route(self.upstream.url)}, limits={
            "max_connections": 2, "per_user": {"max_connections": 2}}).start()
        callers = [relay.caller() for _ in range(2)] + [Caller(relay.control) for _ in range(32)]
        for caller in callers:
            self.assertEqual(caller.ask("GET", "/v1/version").status, 200)
        with Caller(relay.control) as one_more:
            self.assert_problem(one_more.answer(), 503, "overloaded")
        for caller in callers[2:]:
            caller.close()
        with relay.caller() as one_more:
            self.assert_problem(one_more.answer(), 503, "overloaded")
        relay.members["limits"] = {"max_connections": 6}
        relay.write({"up": route(self.upstream.url)})
        eventually(lambda: ask(relay.control, "POST", "/v1/reload").status == 200, "the operator is let in again")
        self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)
        for caller in callers[:2]:
            caller.close()

    def test_a_route_that_is_full_says_so_and_counts_it_once(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.upstream.on("/hold", lambda got: hold.wait(100) and answer(200, "held"))
        relay = self.new_relay({"up": route(
            self.upstream.url, concurrency={"max_requests": 1, "max_pending_requests": 1},
            # Longer than anything here waits: one that times out meanwhile would be counted as well.
            timeouts={name: "120s" for name in ("attempt", "idle", "total")})}).start()
        with relay.caller() as first, relay.caller() as second:
            first.send(request("GET", "/r/up/hold"))
            self.upstream.wait_for("/hold")
            second.send(request("GET", "/r/up/x"))
            eventually(lambda: relay.status()["routes"][0]["pending"] == 1, "one request waits")
            got = relay.ask("GET", "/r/up/x")
            self.assert_problem(got, 503, "overloaded")
            self.assertEqual(got["Retry-After"], "1")
            status = relay.status()["routes"][0]
            self.assertEqual(status["failed"], 1, status)
            hold.set()
            self.assertEqual((first.answer().body, second.answer().body), (b"held", b"x"))
        eventually(lambda: relay.status()["in_flight"] == 0, "every place is given back")

    def test_a_request_that_waited_too_long_for_a_place_is_told_its_deadline(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.upstream.on("/hold", lambda got: hold.wait(60) and answer(200, "held"))
        relay = self.new_relay({"up": route(self.upstream.url, concurrency={"max_requests": 1})}).start()
        with relay.caller() as first:
            first.send(request("GET", "/r/up/hold"))
            self.upstream.wait_for("/hold")
            got = relay.ask("GET", "/r/up/x", [("Waystation-Timeout", "200ms")])
            self.assert_problem(got, 504, "deadline_exceeded")
            self.assertTrue(190 <= relay.job(got)["permit_wait_ms"] <= 5_000, relay.job(got))
            line = relay.errors.wait(f"job {got['Waystation-Job']}: GET on route up failed: ")
            self.assertRegex(line, r"; waited \w+ for a permit of the route \(concurrency.max_requests\)$")
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
        self.upstream.on("/hold", lambda got: hold.wait(60) and answer(200, "held"))
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

    def test_running_out_of_descriptors_neither_spins_nor_lasts_nor_locks_the_operator_out(self):
        relay = self.new_relay({"up": route(self.upstream.url)}, before=["prlimit", "--nofile=64:64"]).start()
        callers = [Caller(relay.jobs) for _ in range(80)]

        def is_full():
            # A caller that was refused because a look-up held a descriptor at that moment has left a gap.
            if all(relay.descriptors() >= 48 for _ in range(5)):
                return True
            callers.append(Caller(relay.jobs))
            return False

        eventually(is_full, "all descriptors but the reserve are taken")
        callers.append(Caller(relay.jobs))
        self.assert_problem(callers[-1].answer(), 503, "overloaded")
        before, began = relay.processor_seconds(), time.monotonic()
        for _ in range(20):
            self.assertGreater(relay.status()["connections_refused"], 0)
            time.sleep(0.05)
        self.assertLess((relay.processor_seconds() - before) / (time.monotonic() - began), 0.3)
        # A look-up that has ended since has left a gap, too.
        eventually(is_full, "all descriptors but the reserve are still taken")
        # A caller that got in cannot take the operator's descriptors for an upstream either.
        self.assert_problem(callers[0].ask("GET", "/r/up/x"), 502, "upstream_failed")
        for caller in callers:
            caller.close()
        eventually(lambda: relay.status()["connections"] == 1, "their ends are noticed")
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
        self.assertLess(time.monotonic() - began, self.within(20))


if __name__ == "__main__":
    unittest.main()
