"""`check --online`: nothing goes where it should not, none begins after the limit, and no set-up that is well is a fault."""

import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

from online import OnlineTest
from relay import daemon, route
from upstream import Close, answer, as_json

COMMAND = pathlib.Path(daemon()).with_name("waystation")
IS_ROOT = os.geteuid() == 0
# Another user's daemon, which names a file of its choice.
STRANGER = """
import os, socket, sys
os.setgroups([]); os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[3]))
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(8)
print("there", flush=True)
body = b'{"config": {"file": "%s"}}' % sys.argv[2].encode()
while True:
    sock, _ = listener.accept()
    if sock.recv(65536):
        sock.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n%s"
                     % (len(body), body))
    sock.close()
"""


def stalls(request):
    """An answer whose content stops in the middle."""
    request.connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nb0dy-of-answer")
    request.connection.wait_for_end()


def slow_token(request):
    time.sleep(0.4)
    return as_json(200, '{"access_token": "t0ken-of-mint", "token_type": "Bearer", "expires_in": 60}')


class Bounds(OnlineTest):
    def found(self, routes, *words, **members):
        code, said, errors, took = self.look(routes, "-o", "json", *words, **members)
        return code, json.loads(said), errors, took

    def test_no_token_is_asked_for_after_the_limit_nor_more_than_sixteen_at_once(self):
        def routes(relay):
            return {f"r{n}": route(self.plain.url, auth=self.tokens(relay, "never", client_id=f"c{n}")) for n in range(20)}
        self.plain.forget()
        code, found, errors, took = self.found(routes, "--timeout", "600ms")
        steps = [step["result"] for step in found["endpoints"][0]["steps"] if step["step"] == "token"]
        self.assertEqual((code, steps.count("failed"), steps.count("not_seen")), (1, 16, 4), found)
        self.assertEqual(len(self.plain.seen("/never")), 16)
        self.assertLess(took, self.within(3))

    def test_twenty_five_slow_tokens_of_one_endpoint_are_fetched_side_by_side(self):
        self.plain.on("/slow", slow_token)

        def routes(relay):
            return {f"r{n}": route(self.plain.url, auth=self.tokens(relay, "slow", client_id=f"c{n}"),
                                   check={"path": "health"}) for n in range(25)}
        code, found, _, _ = self.found(routes, "--timeout", "5s")
        self.assertEqual((code, found["failed"], found.get("not_seen")), (0, 0, 0), found)

    def test_an_attempt_that_the_limit_cuts_off_says_so(self):
        code, found, _, _ = self.found({"up": route(self.plain.url, check={"path": "never"})}, "--timeout", "400ms")
        self.assertEqual((code, found["cause"]["step"]), (1, "request"), found)
        self.assertEqual(found["cause"]["detail"], "the whole answer to route up was not seen within --timeout (400ms)")

    def test_a_redirect_is_followed_where_the_route_follows_it(self):
        self.plain.on("/moved", answer(302, b"", ("Location", "/health")))
        routes = {"up": route(self.plain.url, check={"path": "moved"}, response={"redirects": "follow"})}
        self.assertEqual(self.found(routes)[0], 0)
        self.assertEqual(self.found({"up": route(self.plain.url, check={"path": "moved"})})[0], 1)

    def test_the_shortest_connect_limit_counts_and_its_route_is_named(self):
        url = "http://127.0.0.1:{}/".format(self.hole.getsockname()[1])
        routes = {"slow": route(url, timeouts={"connect": "5s"}), "fast": route(url, timeouts={"connect": "200ms"}),
                  "late": route(url, timeouts={"connect": "6s"})}
        code, found, _, _ = self.found(routes)
        self.assertIn("timeouts.connect (200ms), which is the shortest", found["cause"]["detail"])
        self.assertIn("upstream u1 of route fast", found["cause"]["detail"])

    def test_a_credential_of_no_route_is_not_fetched(self):
        self.plain.forget()

        def routes(relay):
            relay.members["credentials"] = {"spare": {**self.tokens(relay, "token"), "allow_addresses": ["127.0.0.0/8"]}}
            return {"up": route(self.plain.url)}
        code, found, _, _ = self.found(routes)
        self.assertEqual((code, self.plain.requests), (0, []), found)

    def test_an_answer_whose_content_does_not_come_or_is_broken_is_a_fault(self):
        self.plain.on("/stalls", stalls)
        self.plain.on("/broken", Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"))
        for path in "stalls", "broken":
            with self.subTest(path):
                routes = {"up": route(self.plain.url, check={"path": path}, timeouts={"idle": "300ms"})}
                code, found, _, _ = self.found(routes)
                self.assertEqual((code, found.get("cause", {}).get("step")), (1, "request"), found)
        routes = {"up": route(self.plain.url, check={"path": "stalls"})}
        code, found, _, _ = self.found(routes, "--timeout", "400ms")
        self.assertIn("the whole answer to route up was not seen within --timeout (400ms)", found["cause"]["detail"])

    def test_strict_counts_what_is_warned_of(self):
        routes = {"up": route(self.good.url, tls=self.trusted)}
        self.assertEqual(self.found(routes)[0], 0)
        code, found, errors, _ = self.found(routes, "--strict")
        self.assertEqual((code, found["failed"], found["warnings"], found["cause"]["step"]), (1, 0, 1, "tls"), found)
        self.assertIn(": 1 endpoint, 1 with a warning; first https://localhost", errors)

    def test_the_client_certificate_is_looked_at_and_one_that_need_not_be_shown_is_not_missed(self):
        asking = self.secure("server.pem", asks=self.certificates.authority, verify=ssl.CERT_OPTIONAL)
        for certificate, result, words in (
                ("server.pem", "warning", "the client certificate holds for 1 day"),
                ("old.pem", "failed", "the client certificate has expired")):
            def routes(relay):
                files = {key: relay.secret(key, (self.directory / file).read_text())
                         for key, file in (("certificate", certificate), ("key", "server.key"))}
                return {"up": route(asking.url, tls={**self.trusted, "client_certificate": files})}
            _, found, _, _ = self.found(routes)
            told = [(step["result"], step["detail"]) for step in found["endpoints"][0]["steps"]]
            self.assertIn((result, words), told)
        missed = "a client certificate was asked for, and there is none"
        for check, is_missed in (({}, True), ({"check": {"path": "x"}}, False)):
            code, said, _, _ = self.look({"up": route(asking.url, tls=self.trusted, **check)})
            self.assertEqual((code, missed in said), (0, is_missed), said)

    def test_the_advice_fits_the_fault(self):
        self.plain.on("/ill", answer(503, "b0dy-of-answer"))
        self.plain.on("/page", answer(200, "<html>"))
        self.plain.on("/proxy", answer(407))
        self.plain.on("/busy", answer(429))
        deaf = socket.socket(socket.AF_UNIX)
        self.addCleanup(deaf.close)
        deaf.bind(str(self.directory / "deaf.sock"))
        up = self.plain.url

        def token(path, **members):
            return lambda relay: {"up": route(up, auth=self.tokens(relay, path, **members))}
        for routes, advice in (
                (token("ill"), "the token endpoint is not well"), (token("page"), "look at token_url"),
                (token("never", timeout="200ms"), "the token endpoint is not well"),
                ({"up": route(up, check={"path": "proxy"})}, "a proxy answers"),
                ({"up": route(up, check={"path": "busy"})}, "takes no more requests for now"),
                ({"up": {"upstreams": [{"name": "u1", "unix": str(self.directory / "deaf.sock")}]}}, "correct the path"),
                ({"up": route(self.good.url.replace("https:", "http:"), check={"path": "x"})}, "write https://"),
                ({"up": route(f"http://localhost:{self.nginx.secure}/", check={"path": "x"})}, "write https://"),
                ({"up": route(f"https://localhost:{self.plain.port}/", tls=self.trusted, timeouts={"connect": "200ms"})},
                 "it is slow, or does not speak TLS")):
            with self.subTest(advice):
                code, found, _, _ = self.found(routes)
                self.assertEqual(code, 1, found)
                self.assertIn(advice, found["cause"].get("advice", ""), found)
                if advice.startswith("it is slow"):
                    self.assertNotIn("http://", found["cause"]["advice"])
        code, found, _, _ = self.found({"up": route(self.secure("future.pem").url, tls=self.trusted)})
        self.assertIn("not yet valid; its time has not come, unless this machine's clock is wrong", found["cause"]["detail"])

    def test_the_name_of_the_file_does_nothing_to_a_terminal(self):
        relay = self.new_relay({"up": route(self.plain.url)})
        name = relay.directory / "a\x1b[31m\u202e.json"
        for text in relay.file.read_text(), "{":
            name.write_text(text)
            done = subprocess.run([daemon(), "--check", name, "--online"], capture_output=True, text=True, timeout=30)
            self.assertIn("a\\x1b[31m\\u{202e}.json: ", done.stdout + done.stderr)
            self.assertNotIn("\x1b", done.stdout + done.stderr)

    def ask(self, *words, before=(), **members):
        return subprocess.run(
            [*before, COMMAND, "check", "--online", *words], capture_output=True, text=True, timeout=30,
            env={"PATH": os.environ["PATH"]}, **members)

    def test_the_daemon_tells_of_its_file_from_the_root_on(self):
        relay = self.new_relay({"up": route(self.plain.url)})
        script = f'cd {relay.directory}; program=$1; shift 3; exec "$program" --config waystation.json "$@"'
        relay.before = ["sh", "-c", script, "sh"]
        relay.start()
        self.assertEqual(relay.status()["config"]["file"], str(relay.file))

    def test_a_socket_that_is_named_and_leads_nowhere_is_refused(self):
        done = self.ask("--socket", str(self.directory / "none.sock"))
        self.assertEqual((done.returncode, done.stdout), (4, ""), done)

    @unittest.skipUnless(IS_ROOT, "to have another user's daemon takes root")
    def test_nobody_else_chooses_the_file(self):
        relay = self.new_relay({"up": route(self.plain.url)}).start()
        for owner, mode in ((65534, 0o644), (0, 0o664)):
            relay.file.chmod(mode)
            os.chown(relay.file, owner, 0)
            done = self.ask("--socket", relay.control)
            self.assertEqual(done.returncode, 5, done)
            self.assertIn("may be written by others than you and root", done.stderr)
            self.assertIn("waystation check --online FILE", done.stderr)
        os.chown(relay.file, 0, 0)
        relay.file.chmod(0o644)
        with tempfile.TemporaryDirectory(prefix="e2e-stranger-") as folder:
            os.chown(folder, 65534, 65534)
            for path, user, words in (
                    (str(relay.file), 65534, "nobody's"), ("waystation.json", 0, "from a directory that it does not tell")):
                place = f"{folder}/{user}.sock"
                stranger = subprocess.Popen(
                    [sys.executable, "-c", STRANGER, place, path, str(user)], stdout=subprocess.PIPE, cwd="/")
                self.addCleanup(stranger.communicate)
                self.addCleanup(stranger.kill)
                stranger.stdout.readline()
                done = self.ask("--socket", place)
                self.assertEqual(done.returncode, 5, done)
                self.assertIn(words, done.stderr)

    @unittest.skipUnless(IS_ROOT and shutil.which("unshare"), "mounts of its own take root")
    def test_the_secrets_of_the_service_are_for_the_file_of_its_own_socket_alone(self):
        secrets = self.directory / "secrets"
        secrets.mkdir()
        (secrets / "key").write_text("k3y-in-header")
        (secrets / "key").chmod(0o400)
        auth = {"type": "bearer", "token": {"credential": "key"}}
        relay = self.new_relay({"up": route(self.plain.url, auth=auth, check={"path": "health"})},
                               environment={"CREDENTIALS_DIRECTORY": str(secrets)}).start()
        script = (f"mount -t tmpfs none /run; mkdir -p /run/credentials/waystationd.service /run/waystation;"
                  f"cp -p {secrets}/key /run/credentials/waystationd.service;"
                  f'mount --bind {relay.directory} /run/waystation; exec "$@"')
        inside = ["unshare", "-m", "--propagation", "private", "bash", "-ec", script, "bash"]
        if subprocess.run([*inside, "true"], capture_output=True).returncode:
            self.skipTest("no mounts can be made here")
        self.plain.forget()
        done = self.ask("--socket", relay.control, before=inside)
        self.assertEqual((done.returncode, self.plain.requests), (78, []), done)
        done = self.ask(before=inside)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.plain.requests[0]["Authorization"], "Bearer k3y-in-header")
        self.assertNotIn("k3y-in-header", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
