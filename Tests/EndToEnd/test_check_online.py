"""`waystationd --check --online` and `waystation check --online`: each fault is named by what the first request meets."""

import json
import pathlib
import ssl
import subprocess
import unittest

from online import OnlineTest
from relay import daemon, route
from upstream import refused_port

COMMAND = pathlib.Path(daemon()).with_name("waystation")


class Online(OnlineTest):
    def pinned(self, enforce=True):
        pins = ["A" * 43 + "=", "B" * 42 + "A="]
        return {**self.trusted, "pins": {"spki_sha256": pins, "enforce": enforce}}

    def faults(self):
        """Each broken set-up: its routes, the step that fails, and words of the cause and of what to do."""
        up, secure = self.plain.url, self.good.url
        port = secure.rsplit(":", 1)[1]
        check = {"check": {"path": "health?key=k3y-in-query"}}
        headers = {"request": {"headers": {"set": {"X-Key": "k3y-in-header"}}}}
        return {
            "unknown name": (
                {"up": route("http://no-such-host.invalid/")}, "name", "cannot look up no-such-host.invalid",
                "correct the name"),
            "refused": (
                {"up": route(f"http://127.0.0.1:{refused_port()}/")}, "connect", "Connection refused",
                "nothing listens there"),
            "blackholed": (
                {"up": route("http://127.0.0.1:{}/".format(self.hole.getsockname()[1]), timeouts={"connect": "300ms"})},
                "connect", "was made within timeouts.connect (300ms)", "nothing answers there"),
            "denied": (
                {"up": {"upstreams": [{"name": "u1", "url": f"http://localhost:{self.plain.port}/"}],
                        "allow_addresses": ["10.0.0.0/8"]}},
                "rules", "is not dialled because it is loopback", None),
            "not TLS": (
                {"up": route(f"https://localhost:{self.nginx.plain}/", tls=self.trusted)}, "tls",
                "where the peer speaks plain HTTP, write http://", None),
            "mute": (
                {"up": route(f"https://localhost:{self.plain.port}/", tls=self.trusted, timeouts={"connect": "300ms"})},
                "tls", "was not done within timeouts.connect (300ms)", "does not speak TLS"),
            "untrusted": (
                {"up": route(secure, tls={"ca_file": self.others.authority})}, "tls",
                "where its authority is your own, tls.ca_file names it", None),
            "wrong host": (
                {"up": route(f"https://127.0.0.1:{port}", tls=self.trusted)}, "tls",
                "IP address mismatch; it has to name the host", None),
            "expired": (
                {"up": route(self.expired.url, tls=self.trusted)}, "tls",
                "certificate has expired; it has to be renewed there", None),
            "pins": (
                {"up": route(secure, tls=self.pinned())}, "pins", "none of the pinned keys is in its certificate chain",
                None),
            "client refused": (
                {"up": route(self.secure(
                    "server.pem", asks=self.certificates.authority, version=ssl.TLSVersion.TLSv1_2).url, tls=self.trusted)},
                "tls", "TLS alert", "tls.client_certificate"),
            "no socket": (
                {"up": {"upstreams": [{"name": "u1", "unix": str(self.directory / "none.sock")}]}}, "connect",
                "No such file or directory", "correct the path"),
            "no token": (
                lambda relay: {"up": route(up, auth=self.tokens(relay, "no-token"), **check)}, "token",
                "answered 401 (invalid_client)", "client_id"),
            "request refused": (
                {"up": route(up, check={"path": "refuses?key=k3y-in-query"}, **headers)}, "request", "401",
                "look at the route's auth"),
            "no answer": (
                {"up": route(up, check={"path": "never"}, timeouts={"attempt": "300ms"})}, "request",
                "no response head came from", "does not answer in time"),
            "upstream unwell": (
                {"up": route(up, check={"path": "down"}, **headers)}, "request", "503", "the upstream is not"),
        }

    def test_each_of_the_broken_set_ups_is_named_with_its_step_its_cause_and_what_to_do(self):
        for name, (routes, step, words, advice) in self.faults().items():
            with self.subTest(name):
                code, said, errors, took = self.look(routes, "-o", "json")
                found = json.loads(said)
                self.assertEqual(code, 1, found)
                cause = found["cause"]
                self.assertEqual(cause["step"], step, found)
                self.assertIn(words, cause["detail"])
                self.assertIn(advice or "", cause.get("advice", ""))
                self.assertIn(cause["detail"], errors)
                self.assertLess(took, self.within(3))
                failed = [each for each in found["endpoints"] if each["result"] == "failed"]
                self.assertEqual(len(failed), found["failed"])
                # The steps before the fault were well.
                done = [each["result"] for each in failed[0]["steps"] if each["result"] != "skipped"]
                self.assertEqual((done[-1], set(done[:-1]) - {"ok", "warning"}), ("failed", set()), found)

    def test_all_of_them_together_are_told_within_the_time_limit(self):
        routes, relay = {}, self.new_relay({})
        for name, (made, *_) in self.faults().items():
            routes[name.replace(" ", "-").lower()] = (made(relay) if callable(made) else made)["up"]
        routes["blackholed"]["timeouts"] = routes["mute"]["timeouts"] = {"connect": "30s", "attempt": "30s"}
        code, said, errors, took = self.look(routes, "--timeout", "1s")
        self.assertEqual(code, 1)
        self.assertLess(took, self.within(4))
        for _, step, words, advice in list(self.faults().values()):
            self.assertIn(words.replace("timeouts.connect (300ms)", "--timeout (1s)"), said)
            self.assertIn(advice or "", said)
        self.assertIn(" endpoints cannot be used; first http://", errors)

    def test_a_secret_that_is_not_there_is_named_before_anything_is_asked(self):
        self.plain.forget()
        auth = {"type": "bearer", "token": {"file": str(self.directory / "none")}}
        code, said, _, _ = self.look({"up": route(self.plain.url, auth=auth, check={"path": "health"})}, "-o", "json")
        self.assertEqual(code, 78)
        self.assertIn(f"{self.directory}/none", json.loads(said)[0]["message"])
        self.assertEqual(self.plain.requests, [])

    def test_where_all_is_well_each_step_is_told_and_nothing_but_token_and_question_is_sent(self):
        self.plain.forget()

        def routes(relay):
            return {
                "api": route(self.plain.url, auth=self.tokens(relay, "token"), check={
                    "path": "health?key=k3y-in-query", "method": "HEAD"}),
                "silent": route(self.good.url, tls=self.trusted),
                "socket": {"upstreams": [{"name": "u1", "unix": str(self.nginx.directory / "nginx.sock")}],
                           "check": {"path": "hello"}},
            }

        self.good.heads.clear()
        code, said, errors, _ = self.look(routes, "-o", "json")
        found = json.loads(said)
        self.assertEqual((code, found["failed"], errors), (0, 0, ""), found)
        steps = {each["endpoint"]: [(step["step"], step["result"]) for step in each["steps"]]
                 for each in found["endpoints"]}
        plain = self.plain.url.rstrip("/")
        self.assertEqual(steps[plain], [
            ("rules", "ok"), ("connect", "ok"), ("token", "ok"), ("request", "ok")], found)
        # The test's certificates hold for a day or two.
        self.assertEqual([step for step in steps[self.good.url.rstrip("/")] if step[0] == "tls"], [("tls", "warning")])
        self.assertEqual(found["warnings"], 1)
        unix = steps[f"unix:{self.nginx.directory}/nginx.sock"]
        self.assertEqual(unix, [("connect", "ok"), ("request", "ok")])
        self.assertEqual([(each.method, each.path) for each in self.plain.requests], [
            ("POST", "/token"), ("HEAD", "/health")])
        self.assertEqual(self.plain.requests[1]["Authorization"], "Bearer t0ken-of-mint")
        self.assertEqual(self.good.heads, [], "no request goes where none is configured")

    def test_a_refresh_token_is_not_spent(self):
        self.plain.forget()

        def routes(relay):
            auth = {**self.tokens(relay, "token"), "type": "oauth2_refresh_token",
                    "refresh_token": relay.secret("refresh", "s3cret-of-client")}
            return {"up": route(self.plain.url, auth=auth, check={"path": "health"})}
        code, said, _, _ = self.look(routes)
        self.assertEqual((code, self.plain.requests), (0, []), said)
        self.assertIn("a refresh token may be good for one time", said)

    def test_a_client_certificate_that_is_asked_for_and_pins_on_trial_are_warned_of(self):
        asking = self.secure("server.pem", asks=self.certificates.authority)
        code, said, _, _ = self.look({
            "asks": route(asking.url, tls=self.trusted), "trial": route(self.good.url, tls=self.pinned(enforce=False))})
        self.assertEqual(code, 0, said)
        self.assertIn("warning: a client certificate was asked for, and there is none", said)
        self.assertIn("warning: no pinned key is in the chain", said)

    def test_a_client_certificate_that_is_configured_is_shown(self):
        asking = self.secure("server.pem", asks=self.certificates.authority)

        def routes(relay):
            files = {key: relay.secret(key, (self.directory / file).read_text())
                     for key, file in (("certificate", "server.pem"), ("key", "server.key"))}
            return {"up": route(asking.url, tls={**self.trusted, "client_certificate": files}, check={"path": "x"})}
        code, said, _, _ = self.look(routes, "-o", "json")
        tls = next(step for step in json.loads(said)["endpoints"][0]["steps"] if step["step"] == "tls")
        self.assertEqual(code, 0, said)
        self.assertIn("and the client certificate was shown", tls["detail"])

    def test_more_endpoints_than_are_looked_at_at_once_are_all_told(self):
        routes = {f"r{number}": route(f"http://127.0.0.{number + 1}:{self.plain.port}/") for number in range(40)}
        code, said, _, took = self.look(routes, "-o", "json", "--timeout", "5s")
        found = json.loads(said)
        self.assertEqual((code, len(found["endpoints"]), found["failed"]), (1, 40, 39))
        self.assertEqual(found["endpoints"][0]["result"], "ok")
        self.assertLess(took, self.within(5))

    def test_the_time_limit_ends_what_waits_for_a_token_and_what_has_had_no_turn(self):
        def mute(relay):
            return {"up": route(self.plain.url, auth=self.tokens(relay, "never"))}
        code, said, _, took = self.look(mute, "--timeout", "400ms")
        self.assertEqual(code, 1)
        self.assertIn("the token of route up was not seen within --timeout (400ms)", said)
        self.assertLess(took, self.within(3))
        # Rules of their own make an endpoint of each.
        url = "http://127.0.0.1:{}/".format(self.hole.getsockname()[1])
        routes = {f"r{number}": {
            "upstreams": [{"name": "u1", "url": url}], "allow_addresses": ["127.0.0.0/8", f"10.{number}.0.0/16"],
            "timeouts": {"connect": "20s", "attempt": "20s"}} for number in range(18)}
        code, said, errors, took = self.look(routes, "--timeout", "400ms")
        self.assertEqual((code, said.count("was made within --timeout (400ms)")), (1, 16), said)
        self.assertEqual(said.count("was not seen within --timeout (400ms)\n    give it more time"), 2, said)
        self.assertEqual(said.count("not seen: http"), 2, said)
        self.assertIn(": 16 of 18 endpoints cannot be used, 2 had no time to be looked at to the end; first", errors)
        self.assertLess(took, self.within(3))

    def test_the_command_goes_to_the_endpoints_of_a_file_and_of_the_daemon_that_runs(self):
        if not COMMAND.exists():
            self.skipTest("the command is not built")
        routes = {"up": route(self.plain.url, check={"path": "health"})}
        code, said, errors, _ = self.look(routes, program=COMMAND)
        self.assertEqual((code, errors), (0, ""), said)
        self.assertIn("ok, 1 endpoint\n", said)
        relay = self.new_relay(routes).start()
        done = subprocess.run(
            [COMMAND, "check", "--online", "--socket", relay.control], capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.assertIn(f"{relay.file}: ok, 1 endpoint\n", done.stdout)
        for words, said in (
                (["-"], "takes a file by its name"), (["--worst", "x"], "--worst says nothing to check --online"),
                (["--timeout", "1"], "--timeout needs a duration")):
            done = subprocess.run([COMMAND, "check", "--online", *words], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
