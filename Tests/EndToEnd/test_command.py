"""The command beside the daemon: what it prints and how it ends."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from relay import RelayTest, daemon, eventually, route
from upstream import Close, answer, as_json, refused_port

COMMAND = pathlib.Path(daemon()).with_name("waystation")


class CommandTest(RelayTest):
    def setUp(self):
        if not COMMAND.exists():
            self.skipTest("the command is not built")
        self.upstream = self.new_upstream()

    def run_command(self, *words, environment=None, **options):
        done = subprocess.run(
            [COMMAND, *map(str, words)], capture_output=True, text=True, timeout=20,
            env={**os.environ, **(environment or {})}, **options)
        return done.returncode, done.stdout, done.stderr

    def test_send_takes_the_relays_word_for_what_a_success_is(self):
        relay = self.new_relay({"up": route(
            self.upstream.url, success={"status": ["200", "404"]},
            api_error={"require": ["/error"], "statuses": "any", "code": "/error"})}).start()
        forged = ("Waystation-Outcome", "success"), ("Proxy-Status", "other; error=http_protocol_error")
        self.upstream.on("/good", answer(200, "{}", *forged[1:]))
        self.upstream.on("/none", answer(404, "{}"))
        self.upstream.on("/hidden", as_json(200, '{"error":"busy"}'))
        self.upstream.on("/forged", answer(500, "{}", *forged))
        for path, outcome, code in (
                ("good", "success", 0), ("none", "success", 0), ("hidden", "failure", 6), ("forged", "failure", 6)):
            got = relay.ask("GET", f"/r/up/{path}")
            self.assertEqual(got.all("Waystation-Outcome"), [outcome], got)
            self.assertEqual(relay.job(got)["outcome"], outcome)
            ended, _, said = self.run_command("send", "up", path, "--socket", relay.jobs)
            self.assertEqual(ended, code, said)
        self.assertEqual(self.run_command("send", "up", "hidden", "--any", "--socket", relay.jobs)[0], 0)
        said = self.run_command("send", "up", "hidden", "--socket", relay.jobs)[2]
        self.assertRegex(said, r"answered 200, which the route's rules call a failure; why: waystation explain \w{26}")

    def test_send_tells_of_the_relays_own_answers_and_does_not_call_them_a_success(self):
        relay = self.new_relay({"up": route(self.upstream.url), "down": route(f"http://127.0.0.1:{refused_port()}/"),
                                "mine": route(self.upstream.url, allow_users=[os.getuid() + 1])}).start()
        for words, code, told in (
                (["nope", "x"], 3, "route_not_found (404)"), (["mine"], 5, "not_allowed (403)"),
                (["down"], 6, "upstream_failed (502)"), (["up", "x?a", "-X", "TRACE"], 1, "not_implemented (501)")):
            with self.subTest(words):
                ended, said, errors = self.run_command("send", *words, "--socket", relay.jobs)
                self.assertEqual(ended, code, errors)
                self.assertIn(told, errors)
                self.assertIn(json.loads(said)["code"], told)
        # An upstream's own 404 is its answer, for whoever takes any.
        self.upstream.on("/none", answer(404, "none"))
        self.assertEqual(self.run_command("send", "up", "none", "--any", "--socket", relay.jobs), (0, "none", ""))

    def test_send_streams_what_is_too_large_to_be_held(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        body = b"0123456789abcdef" * (64 << 16)
        rest = threading.Event()
        self.addCleanup(rest.set)

        def send(got):
            got.connection.send(answer(200, body)[:-1])
            return rest.wait(60) and body[-1:]
        self.upstream.on("/large", send)
        file = relay.directory / "large"
        done = subprocess.Popen([COMMAND, "send", "up", "large", "-o", file, "--socket", relay.jobs])
        # A debug build once took half a minute for this.
        eventually(lambda: file.exists() and file.stat().st_size == len(body) - 1, "all but the end is there", 20)
        facts = pathlib.Path(f"/proc/{done.pid}/status").read_text()
        self.assertLess(int(facts.split("VmHWM:")[1].split()[0]), 48 * 1024, "KiB of memory for 64 MiB of answer")
        rest.set()
        self.assertEqual((done.wait(20), file.read_bytes() == body), (0, True))
        cut = Close(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhalf")
        self.upstream.on("/cut", cut)
        ended, said, errors = self.run_command("send", "up", "cut", "--socket", relay.jobs)
        self.assertEqual((ended, said), (1, "half"), errors)
        self.assertIn("in the middle of its body", errors)

    def test_options_alone_are_those_of_the_status(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        code, said, _ = self.run_command("-o", "json", "--socket", relay.control)
        self.assertEqual((code, json.loads(said)["state"]), (0, "serving"))
        self.assertEqual(self.run_command("--nonsense")[0], 2)
        self.assertEqual(self.run_command("--version")[0], 0)

    def test_logs_becomes_journalctl_and_asks_no_daemon(self):
        here = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        job = "01K9ZQ3V7N4T0C8R5B2M6XW1HD"
        # The stub prints its arguments, word by word, and the signals that it would ignore.
        (here / "journalctl").write_text(
            '#!/bin/sh\nprintf "%s\\0" "$@"\n/bin/sed -n "s/^SigIgn:.//p" /proc/self/status\nexit 3\n')
        (here / "journalctl").chmod(0o755)
        code, said, errors = self.run_command(
            "logs", job, "-f", "--since", "$(id) '1'\n", environment={"PATH": str(here)})
        words = ["-u", "waystationd", "--follow", "--since=$(id) '1'\n", f"JOB_ID={job}"]
        self.assertEqual((code, errors), (3, ""), "the status is its own")
        *given, signals = said.split("\0")
        self.assertEqual(given, words)
        self.assertEqual(int(signals, 16) & 1 << signal.SIGPIPE - 1, 0)
        code, said, _ = self.run_command(
            "logs", job, "-f", "--since", "$(id) '1'\n", "--print", environment={"PATH": "/nowhere"})
        self.assertEqual((code, said.count("\n")), (0, 1))
        read = subprocess.run(
            ["/bin/bash", "-c", f"{said.strip()} --print-nothing"], capture_output=True, text=True, timeout=20,
            env={"PATH": str(here)})
        self.assertEqual(read.stdout.split("\0")[:-1], [*words, "--print-nothing"])
        code, said, errors = self.run_command("logs", "billing", environment={"PATH": "/nowhere"})
        self.assertEqual((code, said), (1, ""))
        self.assertIn("cannot run journalctl: No such file or directory\n", errors)
        self.assertIn('"log": {"format": "json"}', errors)
        self.assertEqual(self.run_command("logs", "--", "--file=x")[0], 2)

    def test_check_says_what_it_did_not_look_at(self):
        relay = self.new_relay({"up": route(self.upstream.url)})
        code, said, _ = self.run_command("check", relay.file)
        verdict, worst = said.split("\n", 1)
        self.assertEqual((code, verdict), (0, f"{relay.file}: ok, 1 route"))
        self.assertTrue(worst.startswith("\nAt worst of the series that were tried, on an idle route, as the machine of "), worst)
        done = subprocess.run([daemon(), "--check", relay.file], capture_output=True, text=True, timeout=20)
        self.assertEqual((done.returncode, done.stdout), (0, f"{relay.file}: ok, 1 route\n"), done)
        relay.write({"up": route(self.upstream.url, auth={"type": "bearer", "token": {"file": "/none/such"}})})
        code, said, _ = self.run_command("check", relay.file)
        self.assertEqual(code, 0)
        self.assertIn("note: secrets and certificates were not read; waystationd --check reads them\n", said)
        done = subprocess.run([daemon(), "--check", relay.file], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 78)
        code, said, _ = self.run_command("check", relay.file, "-o", "json")
        self.assertEqual((code, json.loads(said)), (0, []))

    @unittest.skipUnless(os.geteuid() == 0, "to become another user takes root")
    def test_what_send_advises_works_for_whoever_may_only_send(self):
        relay = self.new_relay({"up": route(self.upstream.url, recovery=[])}).start()
        self.upstream.on("/bad", *[answer(404, "no")] * 9)
        # The build may lie where others may not look.
        command = shutil.copy(COMMAND, relay.directory / "waystation")
        environment = {"WAYSTATION_SOCKET": relay.jobs, "WAYSTATION_CONTROL_SOCKET": relay.control}

        def run(*words):
            done = subprocess.run(
                [command, *words], capture_output=True, text=True, timeout=20, env={**os.environ, **environment},
                user=65534, group=65534, extra_groups=[])
            return done.returncode, done.stdout, done.stderr
        code, _, said = run("send", "up", "bad", "-d", "x")
        self.assertEqual(code, 6)
        advised = re.search(r"why: waystation (.*)\n", said)[1].split()
        code, said, errors = run(*advised)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("no rule of the route acts on this failure\n", said)
        code, said, errors = run("send", "up", "bad", "--async", "--label", "a=b")
        job = said.strip()
        self.assertEqual((code, errors), (0, ""), "a GET is repeatable")
        self.assertEqual(run("jobs", "watch", job, "--timeout", "15s")[0], 6)
        relay.ask("POST", "/r/up/bad", [("Prefer", "respond-async")])
        code, said, errors = run("send", "up", "bad", "--async", "-d", "x", "--delay", "1h")
        self.assertIn("not repeatable", errors)
        once = said.strip()
        self.assertIn("not repeatable", run("explain", once)[1])
        self.assertEqual(run("send", "up", "bad", "--async", "-d", "x", "--key", "k", "--delay", "1h")[2], "")
        code, said, errors = run("jobs", "-q", "--state", "dead")
        self.assertEqual((code, said.split()), (0, [job]))
        code, said, errors = run("dead")
        self.assertIn("http_status 404", said)
        self.assertIn("Retry:  sudo waystation jobs retry ", said)
        self.assertIn("your own jobs", errors)
        code, said, errors = run("explain", job)
        self.assertRegex(said, r"\nDo: [^\n]*: sudo waystation jobs retry ")
        code, _, errors = run("status")
        self.assertEqual(code, 5)
        self.assertIn('you are "nobody"; the socket belongs to user "root"', errors)

    def test_what_cannot_be_written_is_no_success(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        self.upstream.on("/x", *[answer(200, "x")] * 2)
        with open("/dev/full", "w") as full:
            for words in (["status"], ["send", "up", "x", "--socket", relay.jobs], ["explain", "failing"]):
                done = subprocess.run(
                    [COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=20,
                    env={**os.environ, "WAYSTATION_CONTROL_SOCKET": relay.control})
                self.assertEqual(done.returncode, 74, words)
                self.assertIn("cannot write standard output: No space left on device", done.stderr)
        code, _, said = self.run_command("send", "up", "x", "-o", "/dev/full", "--socket", relay.jobs)
        self.assertEqual(code, 74, said)

    def test_send_looks_at_the_file_of_its_answer_before_it_sends_anything(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        for path, code, words in ((tempfile.gettempdir(), 74, "is a directory; nothing was sent"), ("", 2, "-o takes"),
                                  ("/no/such/place", 74, "No such file or directory; nothing was sent")):
            got, _, said = self.run_command("send", "up", "x", "-d", "x", "-o", path, "--socket", relay.jobs)
            self.assertEqual(got, code, said)
            self.assertIn(words, said)
        self.assertEqual(self.upstream.requests, [])

    def test_explain_tells_a_kind_that_only_the_configuration_has(self):
        relay = self.new_relay({"up": route(
            self.upstream.url, error_types=[{"on": ["409"], "kind": "sold_out"}])}).start()
        code, said, _ = self.run_command("explain", "sold_out", "--socket", relay.control)
        self.assertEqual(code, 0)
        self.assertIn("A kind that the configuration names, on the route up.", said)
        code, _, said = self.run_command("explain", "sold_ou", "--socket", relay.control)
        self.assertEqual(code, 2)
        self.assertNotIn("could not be asked", said)

    def test_explain_quotes_the_upstreams_own_words_where_the_route_names_them(self):
        named = {"require": ["/error"], "code": "/error/code", "title": "/error/message", "statuses": "any"}
        relay = self.new_relay({
            "up": route(self.upstream.url, api_error=named), "mute": route(self.upstream.url)}).start()
        body = '{"error": {"code": "sold_out", "message": "None left of sk_live_0123456789abcdef\\u001b[2J"}}'
        self.upstream.on("/x", *[as_json(409, body)] * 2)
        for name, isQuoted in (("up", True), ("mute", False)):
            got = relay.ask("POST", f"/r/{name}/x")
            code, said, _ = self.run_command("explain", got.all("Waystation-Job")[0], "--socket", relay.control)
            self.assertEqual(code, 0)
            self.assertEqual('the upstream says sold_out: "None left of ***"' in said, isQuoted, said)
            self.assertNotIn("sk_live", said)

    def test_explain_knows_what_cannot_be_a_job(self):
        code, _, said = self.run_command("explain", "nonsense", "--socket", "/none")
        self.assertEqual(code, 2)
        self.assertIn('"nonsense" is not a job id', said)

    def test_status_tells_how_a_route_is_doing(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        self.upstream.on("/bad", answer(500, ""))
        self.upstream.on("/x", answer(200, "x"))

        def told():
            entry = relay.status()["routes"][0]
            return entry["state"], entry["consecutive_failures"]
        self.assertEqual(told(), ("ok", 0))
        relay.ask("GET", "/r/up/bad")
        self.assertEqual(told(), ("failing", 1))
        code, said, _ = self.run_command("status", "--socket", relay.control)
        self.assertEqual(code, 0)
        self.assertRegex(said, r"ROUTE +STATE +REQUESTS +OK +STAND-IN +FAILED +QUEUED +DEAD\n")
        self.assertRegex(said, r"up +failing .* 0\.0% ")
        # Its cause, since when, for which route, the latest failure, the relay's part, and advice.
        self.assertRegex(said, r"\nfailing since \d\d:\d\d:\d\d: http://\S+ The (status|upstream)")
        self.assertRegex(said, r"\n  Route up")
        self.assertRegex(said, r"\n  The latest failure, \ds ago: the upstream answered 500 \(http_status\)\n")
        self.assertRegex(said, r"\n  Relay: It tries again [^.]+\.\n  Do: Mend the upstream")
        # The configuration's path is as long as it is.
        self.assertLessEqual(max(len(line) for line in said.splitlines() if not line.startswith("config ")), 80, said)
        said = self.run_command("--socket", relay.control, "status", environment={"COLUMNS": "200"})[1]
        self.assertRegex(said, r" OK +RECOVERED +STAND-IN +FAILED +CANCELLED +QUEUED +DEAD +LAST FAILURE\n")
        self.assertRegex(said, r"up +failing .* http_status 500, \ds ago\n")
        relay.ask("GET", "/r/up/x")
        self.assertEqual(told(), ("failing", 0), "half of the latest")
        for _ in range(3):
            relay.ask("GET", "/r/up/x")
        self.assertEqual(told(), ("degraded", 0))
        for _ in range(60):
            relay.ask("GET", "/r/up/x")
        self.assertEqual(told(), ("ok", 0))

    def test_a_refused_configuration_reads_in_the_foreground_as_in_a_check(self):
        relay = self.new_relay({"up": route(self.upstream.url, nonsense=1), "down": {}})
        relay.launch()
        self.assertEqual(relay.process.wait(15), 78)
        relay.errors.wait("(end)")
        done = subprocess.run(
            [daemon(), "--check", relay.file], capture_output=True, text=True, timeout=20, env=os.environ)
        self.assertEqual([line for line in relay.errors.items if line != "(end)"], done.stderr.splitlines()[:-1])
        self.assertEqual(done.stderr.count(": error: "), 2)


if __name__ == "__main__":
    unittest.main()
