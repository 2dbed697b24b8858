"""`waystation check --online` without a file: the daemon looks at its own endpoints, with its own tokens, once at a time."""

import json
import pathlib
import signal
import subprocess
import threading
import time
import unittest

from caller import Caller, ask
from online import SECRETS, OnlineTest
from relay import daemon, eventually, route
from upstream import as_json

COMMAND = pathlib.Path(daemon()).with_name("waystation")


class OfTheDaemon(OnlineTest):
    def ask(self, relay, *words, status=0):
        done = subprocess.run(
            [COMMAND, "check", "--online", "--socket", relay.control, *words], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done)
        for secret in SECRETS:
            self.assertNotIn(secret, done.stdout + done.stderr)
        return done

    def test_a_token_that_is_good_is_not_asked_for_again_and_one_that_is_fetched_is_everybody_s(self):
        relay = self.new_relay({})
        relay.write({"up": route(self.plain.url, auth=self.tokens(relay, "token"), check={"path": "health"})})
        relay.start()
        self.plain.forget()
        for _ in range(2):
            self.assertIn("ok, 1 endpoint\n", self.ask(relay).stdout)
        self.assertEqual(relay.ask("GET", "/r/up/health").status, 200)
        self.assertEqual([each.path for each in self.plain.requests], ["/token", "/health", "/health", "/health"])
        self.assertEqual({each["Authorization"] for each in self.plain.requests[1:]}, {"Bearer t0ken-of-mint"})
        said = ask(relay.control, "GET", "/metrics").body.decode()
        self.assertIn('waystation_requests_total{route="up",outcome="success"} 1\n', said, "a look is no request of a caller")

    def test_a_refresh_token_is_used_once_and_what_takes_its_place_is_kept(self):
        given = []

        def rotate(request):
            given.append(dict(pair.split("=") for pair in request.body.decode().split("&"))["refresh_token"])
            return as_json(200, json.dumps({"access_token": "t0ken-of-mint", "token_type": "Bearer", "expires_in": 1,
                                            "refresh_token": f"next-{len(given)}"}))
        self.plain.on("/rotate", rotate)
        relay = self.new_relay({})
        auth = {**self.tokens(relay, "rotate"), "type": "oauth2_refresh_token",
                "refresh_token": relay.secret("refresh", "s3cret-of-client")}
        relay.write({"up": route(self.plain.url, auth=auth, check={"path": "health"})})
        relay.start()
        self.ask(relay)
        self.assertEqual(given[0], "s3cret-of-client")
        eventually(lambda: relay.ask("GET", "/r/up/health").status == 200 and len(given) > 1, "the token is fetched anew")
        self.assertEqual(given[1], "next-1")

    def test_a_stop_waits_for_a_refresh_token_that_an_endpoint_may_have_taken(self):
        held, given = threading.Event(), []

        def rotate(request):
            given.append(dict(pair.split("=") for pair in request.body.decode().split("&"))["refresh_token"])
            held.wait(20)
            return as_json(200, json.dumps({"access_token": "t0ken-of-mint", "token_type": "Bearer", "expires_in": 1,
                                            "refresh_token": f"next-{len(given)}"}))
        self.plain.on("/slow", rotate)
        relay = self.new_relay({})
        auth = {**self.tokens(relay, "slow", timeout="20s"), "type": "oauth2_refresh_token",
                "refresh_token": relay.secret("refresh", "s3cret-of-client")}
        relay.write({"up": route(self.plain.url, auth=auth)})
        relay.start()
        self.ask(relay, "--timeout", "300ms", status=1)
        relay.process.send_signal(signal.SIGTERM)
        relay.notices.wait("STOPPING=1")
        held.set()
        self.assertEqual(relay.process.wait(20), 0, relay.errors.text())
        relay.notices.wait("(gone)")
        relay.notices.items.clear()
        (relay.directory / "notify").unlink(missing_ok=True)
        relay.start()
        self.ask(relay)
        self.assertEqual(given[:2], ["s3cret-of-client", "next-1"])

    def test_a_look_after_mending_asks_the_endpoint_that_has_failed_a_moment_ago(self):
        self.plain.on("/mended", as_json(400, '{"error": "invalid_client"}'))
        relay = self.new_relay({})
        relay.write({"up": route(self.plain.url, auth=self.tokens(relay, "mended"))})
        relay.start()
        self.assertIn("invalid_client", self.ask(relay, status=1).stderr)
        self.plain.on("/mended", as_json(200, '{"access_token": "t0ken-of-mint", "token_type": "Bearer"}'))
        self.assertIn("a token was given to", json.dumps(json.loads(self.ask(relay, "-o", "json").stdout)))
        self.assertIn("has a token, for as long as it is taken, and none was asked for", self.ask(relay, "-o", "json").stdout)

    def test_a_look_ends_with_its_caller_and_with_the_relay(self):
        line = b"POST /v1/endpoints/check?timeout=25s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
        patient = {"attempt": "25s", "total": "30s"}
        relay = self.new_relay({"up": route(self.plain.url, check={"path": "never"}, timeouts=patient)}).start()
        self.plain.forget()
        with Caller(relay.control) as caller:
            caller.send(line)
            self.plain.wait_for("/never")
        eventually(lambda: ask(relay.control, "POST", "/v1/endpoints/check?timeout=50ms").status == 200, "another begins")
        seen = len(self.plain.seen("/never"))
        with Caller(relay.control) as caller:
            caller.send(line)
            self.plain.wait_for("/never", seen + 1)
            began = time.monotonic()
            self.assertEqual(relay.stop(), 0)
            self.assertLess(time.monotonic() - began, 8)
            self.assertEqual(caller.answer().json()["code"], "draining")

    def test_a_second_look_is_refused_while_one_is_under_way_and_none_lasts_longer_than_half_a_minute(self):
        relay = self.new_relay({})
        relay.write({"up": route(self.plain.url, auth=self.tokens(relay, "never", timeout="3s"), check={"path": "health"})})
        relay.start()
        self.plain.forget()
        first = []
        thread = threading.Thread(target=lambda: first.append(self.ask(relay, "--timeout", "1500ms", status=1)))
        thread.start()
        eventually(lambda: self.plain.requests, "the token is asked for")
        self.assertIn("the endpoints are being looked at already", self.ask(relay, status=1).stderr)
        thread.join(30)
        self.assertIn("was not seen within --timeout (1s500ms)", first[0].stderr)
        self.assertIn("at most 30s", self.ask(relay, "--timeout", "31s", status=2).stderr)
        relay.write({"up": route(self.plain.url)})
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        self.assertIn("ok, 1 endpoint\n", self.ask(relay, "--strict", "-o", "table").stdout)

    def test_the_end_of_a_look_takes_no_token_from_those_who_wait_for_it(self):
        held = threading.Event()

        def late(request):
            held.wait(20)
            return as_json(200, '{"access_token": "t0ken-of-mint", "token_type": "Bearer", "expires_in": 60}')
        self.plain.on("/late", late)
        relay = self.new_relay({})
        relay.write({"up": route(self.plain.url, auth=self.tokens(relay, "late", timeout="20s"))})
        relay.start()
        self.plain.forget()
        answers = []
        look = threading.Thread(target=lambda: self.ask(relay, "--timeout", "500ms", status=1))
        look.start()
        eventually(lambda: self.plain.requests, "the token is asked for")
        caller = threading.Thread(target=lambda: answers.append(relay.ask("GET", "/r/up/health").status))
        caller.start()
        look.join(30)
        held.set()
        caller.join(30)
        self.assertEqual(answers, [200])
        self.assertEqual([each.path for each in self.plain.requests], ["/late", "/health"])

    def test_a_fault_ends_with_1_and_the_first_cause_and_an_upstream_s_breaker_is_none_the_wiser(self):
        relay = self.new_relay({"up": route(self.plain.url, check={"path": "down"})}).start()
        for _ in range(12):
            done = self.ask(relay, status=1)
        self.assertIn("503", done.stderr)
        found = json.loads(self.ask(relay, "-o", "json", status=1).stdout)
        self.assertEqual((found["failed"], found["cause"]["step"]), (1, "request"))
        self.assertEqual(relay.ask("GET", "/r/up/health").status, 200)

    def test_it_is_an_operation_of_admins(self):
        relay = self.new_relay({"up": route(self.plain.url)}).start()
        self.assert_problem(relay.ask("POST", "/v1/endpoints/check"), 403, "not_allowed")


if __name__ == "__main__":
    unittest.main()
