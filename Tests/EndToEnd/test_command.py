"""The command beside the daemon: what it prints and how it ends."""

import json
import os
import pathlib
import subprocess
import unittest

from relay import RelayTest, daemon, route
from upstream import Upstream, answer, as_json

COMMAND = pathlib.Path(daemon()).with_name("waystation")


class CommandTest(RelayTest):
    def setUp(self):
        if not COMMAND.exists():
            self.skipTest("the command is not built")
        self.upstream = Upstream()
        self.addCleanup(self.upstream.close)

    def run_command(self, *words):
        done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=20)
        return done.returncode, done.stdout, done.stderr

    def test_send_fail_takes_the_relays_word_for_what_a_success_is(self):
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
            ended, _, said = self.run_command("send", "up", path, "--fail", "--socket", relay.jobs)
            self.assertEqual(ended, code, said)
        self.assertEqual(self.run_command("send", "up", "hidden", "--socket", relay.jobs)[0], 0)
        said = self.run_command("send", "up", "hidden", "--fail", "--socket", relay.jobs)[2]
        self.assertRegex(said, r"answered 200, which the route's rules call a failure; why: waystation explain \w{26}")

    def test_options_alone_are_those_of_the_status(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        code, said, _ = self.run_command("-o", "json", "--socket", relay.control)
        self.assertEqual((code, json.loads(said)["state"]), (0, "serving"))
        self.assertEqual(self.run_command("--nonsense")[0], 2)
        self.assertEqual(self.run_command("--version")[0], 0)

    def test_check_says_what_it_did_not_look_at(self):
        relay = self.new_relay({"up": route(self.upstream.url)})
        code, said, _ = self.run_command("check", relay.file)
        self.assertEqual((code, said), (0, f"{relay.file}: ok, 1 route\n"))
        relay.write({"up": route(self.upstream.url, auth={"type": "bearer", "token": {"file": "/none/such"}})})
        code, said, _ = self.run_command("check", relay.file)
        self.assertEqual(code, 0)
        self.assertIn("note: secrets and certificates were not read; waystationd --check reads them\n", said)
        done = subprocess.run([daemon(), "--check", relay.file], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 78)
        code, said, _ = self.run_command("check", relay.file, "-o", "json")
        self.assertEqual((code, json.loads(said)), (0, []))

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
        self.assertRegex(said, r"ROUTE +STATE .* OK +RECOVERED +STAND-IN +FAILED +CANCELLED +QUEUED +DEAD +LAST FAILURE +NOTE")
        self.assertRegex(said, r"up +failing .* 0\.0% ")
        relay.ask("GET", "/r/up/x")
        self.assertEqual(told(), ("ok", 0))

    def test_in_the_foreground_lines_carry_the_time_and_a_word(self):
        relay = self.new_relay({"up": route(self.upstream.url)})
        del relay.environment["INVOCATION_ID"]
        relay.start()
        relay.stop()
        relay.errors.wait("(end)")
        lines = [line for line in relay.errors.items if line != "(end)"]
        for line in lines:
            self.assertRegex(line, r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ (info|notice|warning): ")
        self.assertRegex(lines[-1], r"Z info: stopped$")

    def test_a_refused_configuration_reads_in_the_foreground_as_in_a_check(self):
        relay = self.new_relay({"up": route(self.upstream.url, nonsense=1), "down": {}})
        del relay.environment["INVOCATION_ID"]
        relay.launch()
        self.assertEqual(relay.process.wait(15), 78)
        relay.errors.wait("(end)")
        done = subprocess.run(
            [daemon(), "--check", relay.file], capture_output=True, text=True, timeout=20, env=os.environ)
        self.assertEqual([line for line in relay.errors.items if line != "(end)"], done.stderr.splitlines())
        self.assertEqual(done.stderr.count(": error: "), 2)


if __name__ == "__main__":
    unittest.main()
