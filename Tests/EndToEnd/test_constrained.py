"""A constrained network: what says so, and what it changes."""

import json
import pathlib
import subprocess

from caller import ask
from relay import RelayTest, daemon, eventually, route
from upstream import Upstream, answer

JSON = [("Content-Type", "application/json")]
# The longest the relay may take to see a file come or go, and then some for a busy machine.
SIGHT = 2


class Constrained(RelayTest):
    def setUp(self):
        self.full, self.light = Upstream(), Upstream()
        for upstream, name in (self.full, "full"), (self.light, "light"):
            self.addCleanup(upstream.close)
            upstream.on("/x", answer(200, name))

    def images(self):
        return {"images": route(
            {"name": "full", "url": self.full.url},
            {"name": "light", "url": self.light.url, "use": "when_constrained"})}

    def relay(self, *sources, routes=None):
        """`sources` may be the name of a file or an object."""
        relay = self.new_relay({})
        self.file = relay.directory / "constrained"
        relay.members["constrained"] = {"when": [
            {"file_exists": str(relay.directory / source)} if isinstance(source, str) else source
            for source in sources]}
        self.routes = self.images() if routes is None else routes
        relay.write(self.routes)
        return relay.start()

    def state(self, relay):
        got = ask(relay.control, "GET", "/v1/constrained")
        self.assertEqual((got.status, got["Content-Type"]), (200, "application/json"), got)
        return got.json()

    def order(self, relay, state):
        return ask(relay.control, "PUT", "/v1/constrained", JSON, json.dumps({"state": state}).encode())

    def eventually_constrained(self, relay, wanted):
        eventually(lambda: self.state(relay)["constrained"] is wanted, f"constrained is {wanted}", SIGHT)
        self.assertIs(relay.status()["constrained"], wanted)

    # The sources that say that the network is constrained.

    def test_a_file_that_comes_and_goes_is_seen(self):
        relay = self.relay("constrained", "other")
        self.assertEqual(self.state(relay), {
            "constrained": False, "state": "auto", "reason": "no source says otherwise", "sources": [
                {"file_exists": str(self.file), "met": False},
                {"file_exists": str(relay.directory / "other"), "met": False}]})
        self.file.touch()
        self.eventually_constrained(relay, True)
        line = relay.errors.wait("the network counts as constrained")
        self.assertEqual(line, f"<5>the network counts as constrained: {self.file} exists")
        self.assertEqual([source["met"] for source in self.state(relay)["sources"]], [True, False])
        relay.notices.wait("STATUS=", "network constrained")
        self.file.unlink()
        self.eventually_constrained(relay, False)
        relay.errors.wait("<5>the network does not count as constrained: no source says otherwise")

    def test_a_file_that_is_there_at_the_start_counts_from_the_first_request(self):
        relay = self.new_relay({})
        relay.members["constrained"] = {"when": [{"file_exists": str(relay.directory)}]}
        relay.write(self.images())
        relay.start()
        self.assertTrue(self.state(relay)["constrained"])
        self.assertEqual(len(relay.errors.having("counts as constrained")), 1)

    def test_an_operator_overrides_the_files_and_leaves_it_to_them_again(self):
        relay = self.relay("constrained", {"control": True})
        got = self.order(relay, "on")
        self.assertEqual((got.status, got.json()), (200, {
            "constrained": True, "state": "on", "reason": "an operator said so", "sources": [
                {"file_exists": str(self.file), "met": False}, {"control": True, "met": True}]}))
        self.assertEqual(got.json(), self.state(relay))
        relay.errors.wait("<5>the network counts as constrained: an operator said so")
        self.file.touch()
        self.assertFalse(self.order(relay, "off").json()["constrained"])
        eventually(lambda: self.state(relay)["sources"][0]["met"], "the file is seen", SIGHT)
        self.assertFalse(self.state(relay)["constrained"])
        self.assertFalse(relay.status()["constrained"])
        self.assertTrue(self.order(relay, "auto").json()["constrained"])

    def test_a_reload_keeps_an_operators_word_until_it_takes_the_say_away(self):
        relay = self.relay({"control": True})
        self.order(relay, "on")
        relay.members["constrained"]["when"].append({"file_exists": str(self.file)})
        relay.write(self.routes)
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        state = self.state(relay)
        self.assertEqual((state["constrained"], state["state"], len(state["sources"])), (True, "on", 2))
        relay.write(None, "{ broken")
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 422)
        self.assertTrue(self.state(relay)["constrained"])
        del relay.members["constrained"]["when"][0]
        relay.write(self.routes)
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        state = self.state(relay)
        self.assertEqual((state["constrained"], state["state"]), (False, "auto"))

    def test_a_restart_forgets_an_operators_word(self):
        relay = self.relay({"control": True})
        self.order(relay, "on")
        self.assertEqual(relay.stop(), 0)
        (relay.directory / "notify").unlink()
        again = self.new_relay({}, directory=relay.directory, constrained=relay.members["constrained"])
        again.write(self.routes)
        again.start()
        self.assertEqual(self.state(again)["state"], "auto")

    def test_a_reload_looks_at_its_new_files_before_it_answers(self):
        relay = self.relay({"control": True})
        self.file.touch()
        relay.members["constrained"] = {"when": [{"file_exists": str(self.file)}]}
        relay.write(self.routes)
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        self.assertTrue(self.state(relay)["constrained"])

    def test_without_the_key_it_never_is_and_nobody_can_say_so(self):
        relay = self.new_relay({"up": route(self.full.url)}).start()
        self.assertEqual(self.state(relay)["sources"], [])
        self.assert_problem(self.order(relay, "on"), 403, "not_allowed")
        self.assertIs(relay.status()["constrained"], False)

    # The callers that may say so, and how.

    def test_operators_have_no_say_unless_the_configuration_gives_it(self):
        relay = self.relay("constrained")
        problem = self.assert_problem(self.order(relay, "on"), 403, "not_allowed")
        self.assertIn("constrained.when", problem["detail"])
        self.assertFalse(self.state(relay)["constrained"])

    def test_readers_may_look_and_only_operators_may_say(self):
        relay = self.new_relay({})
        relay.members["constrained"] = {"when": [{"control": True}]}
        paths = {role: str(relay.directory / f"{role}.sock") for role in ("read", "operate")}
        relay.write(None, json.dumps({
            "listeners": [{"name": "jobs", "unix": relay.jobs, "mode": "0600", "role": "submit"}] + [
                {"name": role, "unix": path, "mode": "0600", "role": role} for role, path in paths.items()],
            "storage": {"directory": str(relay.directory / "state")}, "routes": {}, **relay.members}))
        relay.start()
        body = b'{"state":"on"}'
        self.assert_problem(ask(relay.jobs, "GET", "/v1/constrained"), 403, "not_allowed")
        self.assertEqual(ask(paths["read"], "GET", "/v1/constrained").status, 200)
        self.assertEqual(ask(paths["read"], "HEAD", "/v1/constrained").status, 200)
        problem = self.assert_problem(ask(paths["read"], "PUT", "/v1/constrained", JSON, body), 403, "not_allowed")
        self.assertIn("operate", problem["detail"])
        self.assertEqual(ask(paths["operate"], "PUT", "/v1/constrained", JSON, body).status, 200)
        self.assertTrue(ask(paths["read"], "GET", "/v1/constrained").json()["constrained"])

    def test_a_state_is_read_strictly(self):
        relay = self.relay({"control": True})
        for body in b"", b"on", b"[]", b'"on"', b"{}", b'{"state":"ON"}', b'{"state":1}', b'{"state":null}', \
                b'{"state":"on","for":"1h"}', b'{"state":"on","state":"on"}', b'{"State":"on"}', b"\xff", b"[" * 1000:
            with self.subTest(body=body):
                got = ask(relay.control, "PUT", "/v1/constrained", JSON, body)
                self.assert_problem(got, 400, "bad_request")
        self.assert_problem(
            ask(relay.control, "PUT", "/v1/constrained", [("Content-Type", "text/plain")], b'{"state":"on"}'),
            415, "unsupported_media_type")
        self.assertFalse(self.state(relay)["constrained"])
        got = ask(relay.control, "POST", "/v1/constrained", JSON, b'{"state":"on"}')
        self.assert_problem(got, 405, "method_not_allowed")
        self.assertEqual(got["Allow"], "GET, PUT, HEAD")

    def test_the_command_asks_and_says(self):
        command = pathlib.Path(daemon()).with_name("waystation")
        if not command.exists():
            self.skipTest("the command is not built")
        relay = self.relay("constrained", {"control": True})

        def run(*words):
            done = subprocess.run(
                [command, "constrained", *words, "--socket", relay.control], capture_output=True, text=True, timeout=20)
            return done.returncode, done.stdout + done.stderr
        code, text = run()
        self.assertEqual((code, text.splitlines()[0]), (
            0, "The network does not count as constrained: no source says otherwise (auto)"))
        self.assertIn(f"file {self.file}", text)
        code, text = run("on", "-o", "json")
        self.assertEqual((code, json.loads(text)), (0, self.state(relay)))
        self.assertTrue(self.state(relay)["constrained"])
        self.assertEqual(run("maybe")[0], 2)
        relay.members["constrained"]["when"].pop()
        relay.write(self.routes)
        ask(relay.control, "POST", "/v1/reload")
        code, text = run("on")
        self.assertEqual(code, 5)
        self.assertIn("the daemon answered 403", text)

    # The change that a constrained network makes.

    def body(self, relay):
        got = relay.ask("GET", "/r/images/x")
        self.assertEqual(got.status, 200, got)
        return got.body

    def test_the_light_upstream_serves_while_the_file_is_there(self):
        relay = self.relay("constrained")
        self.assertEqual(self.body(relay), b"full")
        self.file.touch()
        eventually(lambda: self.body(relay) == b"light", "the light upstream serves", SIGHT)
        self.file.unlink()
        eventually(lambda: self.body(relay) == b"full", "the full upstream serves again", SIGHT)

    def test_the_light_upstream_serves_from_an_operators_word_on(self):
        relay = self.relay({"control": True})
        self.order(relay, "on")
        self.assertEqual([self.body(relay) for _ in range(4)], [b"light"] * 4)
        self.order(relay, "off")
        self.assertEqual([self.body(relay) for _ in range(4)], [b"full"] * 4)
