"""`check --online`: nothing goes where it should not, none begins after the limit, and no set-up that is well is a fault."""

import json
import socket
import ssl
import subprocess
import time
import unittest

from online import OnlineTest
from relay import daemon, route
from upstream import Close, answer, as_json


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


if __name__ == "__main__":
    unittest.main()
