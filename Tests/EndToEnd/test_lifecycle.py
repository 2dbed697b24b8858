"""Starting, reloading and stopping, as a service manager sees it."""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from caller import Caller, Ended, ask, request
from relay import Relay, RelayTest, UNBOUNDED, daemon, eventually, route
from upstream import answer


class Lifecycle(RelayTest):
    def setUp(self):
        self.upstream = self.new_upstream()
        self.upstream.on("/x", answer(200, "x"))

    def refused(self, relay, code, *words):
        relay.launch()
        self.assertEqual(relay.process.wait(15), code, relay.errors.text())
        relay.errors.wait("(end)")
        text = relay.errors.text()
        for word in words:
            self.assertIn(word, text)
        self.assertEqual(relay.notices.having("READY"), [])
        self.assertNotIn("ERRNO", relay.notices.wait("STATUS="), "an exit status is no errno")
        return text

    # The journal.

    def test_a_stuck_journal_ends_nothing_and_shows_in_the_status(self):
        unread, stuck = os.pipe()
        self.addCleanup(os.close, unread)
        self.addCleanup(os.close, stuck)
        fcntl.fcntl(stuck, fcntl.F_SETPIPE_SZ, 4096)
        self.upstream.on("/bad", answer(500))
        # So many of a route are told in full.
        routes = {f"r{number}": route(self.upstream.url) for number in range(8)}
        relay = self.new_relay(routes, environment={"WATCHDOG_USEC": "2000000"}).start(stderr=stuck)

        def fed():
            return len(relay.notices.having("WATCHDOG=1"))

        def blocked():
            return relay.status()["journal"]["blocked_seconds"]
        with relay.caller() as caller:
            for number in range(80):
                caller.ask("GET", f"/r/r{number % 8}/bad")
        # Longer than the watchdog would have waited for it.
        eventually(lambda: blocked() >= 4, "the status tells of it")
        before = fed()
        eventually(lambda: fed() > before + 2, "the watchdog is fed")
        relay.notices.wait("STATUS=", "the journal takes no records")
        self.assertEqual(relay.ask("GET", "/r/r0/x").body, b"x")
        lines = threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(unread, 65536), b"")], daemon=True)
        lines.start()
        eventually(lambda: blocked() == 0, "the journal is back")

    # Configuration.

    def test_a_broken_configuration_ends_with_78_and_names_every_place(self):
        relay = self.new_relay({})
        relay.write(None, '{\n  "routes": {\n    "up": { "upstreams": [ { "name": "a", "url": "ftp://x/" } ],\n'
                          '      "timeouts": { "totl": "1s", "attempt": "5" } }\n  }\n}\n')
        text = self.refused(relay, 78)
        for place in r"waystation\.json:3:\d+: error: ", r"waystation\.json:4:21: error: ", r"waystation\.json:4:\d+: error: ":
            self.assertRegex(text, place)
        self.assertIn('did you mean "total"?', text)
        starts = [line for line in text.splitlines() if "error: " in line]
        self.assertEqual([line for line in starts if not line.startswith(f"{relay.file}:")], [])
        self.assertIn("/routes/up/timeouts", text)

    def test_a_configuration_that_is_no_json_or_not_there_ends_with_78(self):
        relay = self.new_relay({})
        relay.write(None, '{ "routes": {},, }')
        self.refused(relay, 78, "waystation.json:1:16: error:")
        other = self.new_relay({})
        other.file.unlink()
        self.refused(other, 78, "cannot be read")

    def test_a_configuration_everyone_may_write_is_refused(self):
        relay = self.new_relay({"up": route(self.upstream.url)})
        relay.file.chmod(0o666)
        self.refused(relay, 78, "may be written by everyone", "chmod o-w")

    def test_a_secret_others_may_read_is_refused_and_never_shown(self):
        relay = self.new_relay({})
        secret = relay.secret("token", "h0rse-battery", mode=0o644)
        relay.write({"up": route(self.upstream.url, auth={"type": "bearer", "token": secret})})
        self.assertNotIn("h0rse-battery", self.refused(relay, 78, "may be read by others", "chmod 600"))

    def test_a_secret_in_the_configuration_is_refused_and_never_shown(self):
        relay = self.new_relay({"up": route(self.upstream.url, auth={"type": "bearer", "token": "h0rse-battery"})})
        self.assertNotIn("h0rse-battery", self.refused(relay, 78, "a secret may not stand in the configuration"))
        done = subprocess.run([daemon(), "--check", str(relay.file), "-o", "json"], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 78)
        self.assertNotIn("h0rse-battery", done.stdout + done.stderr)
        self.assertTrue(json.loads(done.stdout))

    def test_no_secret_shows_in_any_output_of_a_running_daemon(self):
        relay = self.new_relay({})
        relay.write({"up": route(self.upstream.url, auth={"type": "bearer", "token": relay.secret("token", "h0rse-battery")})})
        relay.start()
        self.upstream.on("/x", answer(401, "no"))
        said = [relay.ask("GET", "/r/up/x"), ask(relay.control, "GET", "/v1/status"), ask(relay.control, "POST", "/v1/reload")]
        effective = subprocess.run([daemon(), "--effective", str(relay.file)], capture_output=True, timeout=20).stdout
        relay.stop()
        text = relay.errors.text() + "".join(map(repr, said)) + effective.decode() + "".join(relay.notices.items)
        self.assertNotIn("h0rse-battery", text)
        self.assertEqual(self.upstream.seen("/x")[0]["Authorization"], "Bearer h0rse-battery")

    def test_tls_files_that_cannot_be_used_are_refused_before_any_request(self):
        relay = self.new_relay({"up": route("https://127.0.0.1:1/", tls={"ca_file": "/nonexistent.pem"})})
        done = subprocess.run([daemon(), "--check", str(relay.file)], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 78, done)
        self.assertIn("[/routes/up/tls]", done.stderr)
        self.refused(relay, 78, "/nonexistent.pem")
        pair = {"certificate": relay.secret("client.pem", "no certificate"), "key": relay.secret("client.key", "no key")}
        other = self.new_relay({"up": route(self.upstream.url)}).start()
        for tls in {"ca_file": str(relay.file)}, {"client_certificate": pair}:
            other.write({"up": route("https://127.0.0.1:1/", tls=tls)})
            got = ask(other.control, "POST", "/v1/reload")
            self.assertEqual(got.status, 422, got)
            self.assertIn("/routes/up/tls", got.json()["text"])
        self.assertEqual(other.ask("GET", "/r/up/x").body, b"x")
        other.write({}, json.dumps({
            "routes": {"up": route(self.upstream.url)}, "credentials": {"shared": {
                "type": "oauth2", "token_url": "https://127.0.0.1:1/token", "client_id": "x",
                "client_secret": relay.secret("secret", "x"), "ca_file": "/nonexistent.pem"}}}))
        got = ask(other.control, "POST", "/v1/reload")
        self.assertEqual(got.status, 422, got)
        self.assertIn("/credentials/shared", got.json()["text"])

    def test_a_variable_of_the_service_manager_alone_does_not_change_how_records_look(self):
        relay = self.new_relay({"up": route(self.upstream.url)})
        relay.environment |= {"INVOCATION_ID": "0" * 32, "JOURNAL_STREAM": "1:1"}
        with tempfile.TemporaryFile() as file:
            relay.start(stderr=file)
            relay.stop()
            file.seek(0)
            lines = file.read().decode().splitlines()
        for line in lines:
            self.assertRegex(line, r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ \w+: ")
        self.assertTrue(lines)

    def test_records_are_json_where_the_configuration_says_so_and_the_journal_does_not_take_them(self):
        relay = self.new_relay({"up": route(self.upstream.url)}, log={"format": "json"})
        self.upstream.on("/no", answer(503, "no"))
        with tempfile.TemporaryFile() as file:
            relay.start(stderr=file)
            job = relay.ask("GET", "/r/up/no")["Waystation-Job"]
            relay.stop()
            file.seek(0)
            records = [json.loads(line) for line in file.read().splitlines()]
        for record in records:
            self.assertRegex(record["TIMESTAMP"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertTrue(record["MESSAGE"] and record["PRIORITY"] in "01234567", record)
        (failed,) = [record for record in records if record.get("JOB_ID") == job]
        self.assertIn("\n", failed["MESSAGE"], "a record of several lines is one object")
        self.assertEqual(
            (failed["PRIORITY"], failed["ROUTE"], failed["HTTP_STATUS"], failed["FAILURE_KIND"], failed["ATTEMPT"]),
            ("3", "up", "503", "http_status", "1"))
        relay = self.new_relay({"up": route(self.upstream.url)}, log={"format": "json"})
        with tempfile.TemporaryFile() as file:
            place = os.fstat(file.fileno())
            relay.environment["JOURNAL_STREAM"] = f"{place.st_dev}:{place.st_ino}"
            relay.start(stderr=file)
            relay.stop()
            file.seek(0)
            self.assertNotIn(b"TIMESTAMP", file.read())

    def test_what_keeps_the_relay_out_of_an_upstream_is_a_warning(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        for status in 401, 403, 407, 429:
            self.upstream.on(f"/{status}", answer(status, "no"))
            self.assertEqual(relay.ask("GET", f"/r/up/{status}").status, status)
            relay.errors.wait("<4>job ", f"answered {status}")
        self.upstream.on("/404", answer(404, "no"))
        relay.ask("GET", "/r/up/404")
        relay.errors.wait("<6>job ", "answered 404")

    # Reloading.

    def test_reloads_with_requests_under_way_leave_no_connection_behind(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        doors = [threading.Event() for _ in range(6)]
        relay.ask("GET", "/r/up/x")
        start = relay.descriptors()
        for turn, door in enumerate(doors):
            self.upstream.on(f"/slow{turn}", lambda got, door=door: door.wait(60) and answer(200, "slow"))
            with relay.caller() as caller:
                caller.send(request("GET", f"/r/up/slow{turn}"))
                self.upstream.wait_for(f"/slow{turn}")
                self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
                door.set()
                self.assertEqual(caller.answer().body, b"slow")
        eventually(lambda: relay.descriptors() <= start, "the descriptors are as many as before")

    def test_a_reload_tells_what_it_changed_and_what_waits_for_a_restart(self):
        routes = {"one": route(self.upstream.url), "two": route(self.upstream.url), "three": route(self.upstream.url)}
        relay = self.new_relay(routes).start()

        def reload():
            got = ask(relay.control, "POST", "/v1/reload").json()
            return got["changed"], got["added"], got["removed"], got["modified"], got["needs_restart"]
        self.assertEqual(reload(), (False, [], [], [], []))
        del routes["three"]
        routes = {"zero": route(self.upstream.url), **routes}
        routes["two"] = route(self.upstream.url, timeouts={"total": "70s"})
        relay.write(routes)
        self.assertEqual(reload(), (True, ["zero"], ["three"], ["two"], []))
        relay.members = {
            "limits": {"max_queued_jobs": 99}, "storage": {"directory": str(relay.directory / "other")},
            "defaults": {"timeouts": {"idle": "3s"}}, "log": {"format": "json"}}
        relay.write(routes)
        waiting = ["storage.directory", "log.format"]
        self.assertEqual(reload(), (True, [], [], ["one", "two", "zero"], waiting))
        self.assertEqual(reload(), (False, [], [], [], waiting))
        # So tells the event, whose keys stand in the file: none is inherited, and none has its value beside it.
        told = []
        with Caller(relay.control) as caller:
            caller.send(request("GET", "/v1/events?after=0&type=waystation.config.reloaded", [("Accept", "application/x-ndjson")]))
            self.assertEqual(caller.head().status, 200)
            while len(told) < 4:
                lines = caller._exactly(int(caller._until(b"\r\n"), 16))
                caller._exactly(2)
                told += [json.loads(line)["data"].get("detail") for line in lines.splitlines() if line]
        self.assertEqual((told[0], told[3]), (None, None))
        self.assertIn("/routes/two/timeouts/total", told[1])
        self.assertIn("/routes/three/", told[1])
        self.assertNotIn("/routes/one", told[1])
        self.assertEqual(told[2], "/defaults/timeouts/idle, /limits/max_queued_jobs, /log/format, /storage/directory")

    def test_a_reload_by_signal_and_by_the_api_takes_the_new_routes(self):
        relay = self.new_relay({"one": route(self.upstream.url)}).start()
        relay.write({"one": route(self.upstream.url), "two": route(self.upstream.url)})
        got = ask(relay.control, "POST", "/v1/reload")
        self.assertEqual((got.status, got.json()["added"], got.json()["removed"]), (200, ["two"], []))
        self.assertEqual(relay.ask("GET", "/r/two/x").body, b"x")
        relay.write({"three": route(self.upstream.url)})
        relay.process.send_signal(signal.SIGHUP)
        eventually(lambda: relay.ask("GET", "/r/three/x").status == 200, "the third route is there")
        self.assertEqual(relay.ask("GET", "/r/one/x").status, 404)

    def test_a_bad_reload_keeps_the_old_configuration_and_says_so(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        digest = relay.status()["config"]["digest"]
        relay.write(None, '{ "routes": { "up": { "upstreamz": [] } } }')
        got = ask(relay.control, "POST", "/v1/reload")
        self.assertEqual((got.status, got["Content-Type"]), (422, "application/problem+json"))
        problem = got.json()
        self.assertEqual(problem["code"], "config_rejected")
        self.assertIn("upstreamz", problem["text"])
        self.assertTrue(problem["diagnostics"])
        status = relay.status()
        self.assertEqual((status["state"], status["config"]["digest"]), ("reload_failed", digest))
        relay.errors.wait("<3>configuration refused, the old one stays in force")
        relay.notices.wait("READY=1", "reload failed")
        self.assertEqual(relay.ask("GET", "/r/up/x").body, b"x")
        relay.write({"up": route(self.upstream.url)})
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        self.assertEqual(relay.status()["state"], "serving")

    def test_twenty_reloads_under_load_fail_no_request(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        stop, statuses = threading.Event(), []

        def load():
            with relay.caller() as caller:
                while not stop.is_set():
                    statuses.append(caller.ask("GET", "/r/up/x").status)
        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for turn in range(20):
            if turn % 2:
                relay.write(None, "{ broken")
            else:
                relay.write({"up": route(self.upstream.url), f"r{turn}": route(self.upstream.url)})
            ask(relay.control, "POST", "/v1/reload")
        stop.set()
        for thread in threads:
            thread.join(10)
        self.assertGreater(len(statuses), 40)
        self.assertEqual(set(statuses), {200})

    def test_a_request_under_way_ends_with_the_configuration_it_began_with(self):
        go = threading.Event()
        self.upstream.on("/slow", lambda got: go.wait(60) and answer(200, "slow"))
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        with relay.caller() as caller:
            caller.send(request("GET", "/r/up/slow"))
            self.upstream.wait_for("/slow")
            relay.write({"other": route(self.upstream.url)})
            self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
            go.set()
            self.assertEqual(caller.answer().body, b"slow")
            self.assertEqual(caller.ask("GET", "/r/up/x").status, 404)

    def test_the_service_manager_is_told_everything_in_order(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        relay.ask("GET", "/r/up/x")
        relay.notices.wait("STATUS=", "ok 1")
        relay.process.send_signal(signal.SIGHUP)
        relay.notices.wait("RELOADING=1", "MONOTONIC_USEC=")
        eventually(lambda: len(relay.notices.having("READY=1")) == 2, "it is ready again")
        self.assertEqual(relay.stop(), 0)
        words = [notice.split("\n")[0].split("=")[0] for notice in relay.notices.items]
        told = [word for word in words if word in ("READY", "RELOADING", "STOPPING")]
        self.assertEqual(told, ["READY", "RELOADING", "READY", "STOPPING"])

    # Stopping.

    def test_a_stop_lets_a_request_finish_and_asks_for_the_time(self):
        self.upstream.on("/slow", lambda got: time.sleep(3) or answer(200, "at last"))
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        idle = relay.caller()
        self.addCleanup(idle.close)
        self.assertEqual(idle.ask("GET", "/r/up/x").status, 200)
        with relay.caller() as caller:
            caller.send(request("GET", "/r/up/slow"))
            self.upstream.wait_for("/slow")
            relay.process.send_signal(signal.SIGTERM)
            relay.notices.wait("STOPPING=1")
            self.assertTrue(idle.is_over(), "an idle connection goes at once")

            def is_refused():
                try:
                    Caller(relay.jobs).close()
                    return False
                except ConnectionRefusedError:
                    return True
            eventually(is_refused, "new callers are refused at once", 2)
            got = caller.answer()
            self.assertEqual((got.body, got["Connection"]), (b"at last", "close"))
        self.assertEqual(relay.process.wait(10), 0)
        relay.notices.wait("EXTEND_TIMEOUT_USEC=")
        relay.errors.wait("<6>stopped")
        self.assertFalse(os.path.exists(relay.jobs), "the socket's path is gone")

    def test_a_stop_costs_no_processor_time_while_somebody_waits_at_a_listener_that_was_passed_in(self):
        self.upstream.on("/slow", lambda got: time.sleep(3) or answer(200, "at last"))
        relay = self.new_relay({"up": route(self.upstream.url)})
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as passed:
            passed.bind(folder + "/jobs")
            passed.listen(8)
            # As the service manager does it: the descriptor is 3, and the manager keeps its own.
            relay.pass_fds = [passed.fileno()]
            relay.environment |= {"LISTEN_FDS": "1", "LISTEN_FDNAMES": "jobs"}
            relay.before = ["bash", "-c", f'exec 3<&{passed.fileno()}; export LISTEN_PID=$$; exec "$@"', "pass"]
            relay.start()
            with Caller(folder + "/jobs") as caller, Caller(folder + "/jobs") as waiting:
                caller.send(request("GET", "/r/up/slow"))
                self.upstream.wait_for("/slow")
                relay.process.send_signal(signal.SIGTERM)
                relay.notices.wait("STOPPING=1")
                before = relay.processor_seconds()
                with Caller(folder + "/jobs") as late:
                    late.send(request("GET", "/r/up/x"))
                    self.assertEqual(caller.answer().body, b"at last")
                    self.assertLess(relay.processor_seconds() - before, 0.5)
                    waiting.close()
            self.assertEqual(relay.process.wait(10), 0)

    def test_a_socket_that_was_passed_in_and_has_no_listener_is_a_mistake_of_the_configuration(self):
        relay = self.new_relay({"up": route(self.upstream.url)})
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as passed:
            passed.bind(folder + "/web")
            passed.listen(8)
            relay.pass_fds = [passed.fileno()]
            relay.environment |= {"LISTEN_FDS": "1", "LISTEN_FDNAMES": "web"}
            relay.before = ["bash", "-c", f'exec 3<&{passed.fileno()}; export LISTEN_PID=$$; exec "$@"', "pass"]
            with Caller(folder + "/web") as waiting:
                waiting.send(request("GET", "/r/up/x"))
                relay.launch()
                got = waiting.answer()
            self.assertEqual((got.status, got.json()["code"]), (503, "not_started"))
            self.assertIn('a socket named "web", and no listener has that name', got.json()["detail"])
            self.assertEqual(relay.process.wait(10), 78)

    def test_a_stop_tells_of_the_records_that_were_only_counted(self):
        self.upstream.on("/bad", answer(500, "no"))
        relay = self.new_relay({"up": route(self.upstream.url, **UNBOUNDED)}).start()
        for _ in range(15):
            self.assertEqual(relay.ask("POST", "/r/up/bad").status, 500)
        self.assertEqual(relay.stop(), 0)
        relay.errors.wait("and 5 more", "on route up")

    def test_a_second_signal_ends_at_once(self):
        self.upstream.on("/slow", lambda got: got.connection.wait_for_end(20) and None)
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        with relay.caller() as caller:
            caller.send(request("GET", "/r/up/slow"))
            self.upstream.wait_for("/slow")
            relay.process.send_signal(signal.SIGTERM)
            relay.notices.wait("STOPPING=1")
            began = time.monotonic()
            relay.process.send_signal(signal.SIGTERM)
            self.assertEqual(relay.process.wait(10), 0)
            self.assertLess(time.monotonic() - began, self.within(3))
            with self.assertRaises(Ended):
                caller.answer()
        relay.errors.wait("<4>stopped with 1 request unfinished; may have been carried out: 1")

    # Sockets and instances.

    def test_a_second_instance_on_the_same_state_is_refused_and_the_first_goes_on(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        other = Relay({"up": route(self.upstream.url)}, storage={"directory": str(relay.directory / "state")})
        self.addCleanup(other.clean)
        text = self.refused(other, 69, "has it open")
        self.assertIn(str(relay.directory / "state"), text)
        self.assertEqual(relay.ask("GET", "/r/up/x").body, b"x")

    def test_a_socket_that_answers_is_not_taken_over(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        other = self.new_relay({"up": route(self.upstream.url)}, listeners=[
            {"name": "jobs", "unix": relay.jobs, "mode": "0666"}])
        self.refused(other, 69, "cannot open the listener jobs", relay.jobs)
        self.assertEqual(relay.ask("GET", "/r/up/x").body, b"x")

    def test_a_stale_socket_is_replaced_and_a_file_is_not(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        relay.process.kill()
        relay.process.wait()
        relay.notices.wait("(gone)")
        self.assertTrue(os.path.exists(relay.jobs))
        relay.notify.close()
        os.unlink(relay.directory / "notify")
        relay.notices.items.clear()
        relay.start()
        self.assertEqual(relay.ask("GET", "/r/up/x").body, b"x")
        other = self.new_relay({"up": route(self.upstream.url)})
        with open(other.jobs, "w") as file:
            file.write("precious")
        self.refused(other, 69, "cannot open the listener jobs")
        with open(other.jobs) as file:
            self.assertEqual(file.read(), "precious")

    def test_sockets_of_the_service_manager_are_taken_by_name(self):
        activate = shutil.which("systemd-socket-activate")
        if not activate:
            return
        relay = self.new_relay({"up": route(self.upstream.url)})
        # Names in the order of the sockets; the variables come to the daemon by -E alone.
        relay.before = [activate, "--fdname=control:jobs", "-l", relay.control, "-l", relay.jobs, "-E", "INVOCATION_ID=e2e"]
        path = str(relay.directory / "notify")
        relay.before += ["-E", f"NOTIFY_SOCKET={path}"]
        relay.launch()

        def connects():
            try:
                with Caller(relay.jobs):
                    return True
            except OSError:
                return False
        eventually(connects, "the sockets are there")
        relay.notices.wait("READY=1")
        self.assertEqual(relay.ask("GET", "/r/up/x").body, b"x")
        self.assert_problem(relay.ask("GET", "/v1/status"), 403, "not_allowed")
        self.assertEqual(relay.status()["state"], "serving")
        relay.stop()
        self.assertTrue(os.path.exists(relay.jobs), "the manager's path is not ours to remove")

    def test_the_sockets_have_the_rights_the_configuration_gives_them(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        self.assertEqual([os.stat(path).st_mode & 0o777 for path in (relay.jobs, relay.control)], [0o666, 0o600])

    def test_a_socket_in_a_directory_that_is_not_there_is_refused_with_what_to_do(self):
        relay = self.new_relay({"up": route(self.upstream.url)})
        missing = relay.directory / "none"
        relay.members["listeners"] = [{"name": "jobs", "unix": f"{missing}/jobs.sock"}]
        relay.write({"up": route(self.upstream.url)})
        text = self.refused(relay, 69, f"the directory {missing} does not exist: make it, or let systemd", "RuntimeDirectory=")
        self.assertNotIn(".lock", text)
        self.assertFalse((relay.directory / "state").exists(), "a start that cannot be leaves nothing behind")
        done = subprocess.run([daemon(), "--check", str(relay.file)], capture_output=True, text=True, timeout=20)
        self.assertRegex(done.stderr, rf":5:1: warning: the listener jobs cannot be opened: the directory {missing} does not")
        self.assertEqual(done.returncode, 0)

    def test_a_socket_path_too_long_is_refused(self):
        relay = self.new_relay({"up": route(self.upstream.url)}, listeners=[
            {"name": "jobs", "unix": "/tmp/" + "a" * 120, "mode": "0666"}])
        self.refused(relay, 78, "107")

    def test_the_command_line_is_read_strictly(self):
        for words, code in (["--version"], 0), (["--help"], 0), (["--nonsense"], 64), (["--loops", "0"], 64), (["--config"], 64):
            done = subprocess.run([daemon(), *words], capture_output=True, timeout=20, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, words)


if __name__ == "__main__":
    unittest.main()
