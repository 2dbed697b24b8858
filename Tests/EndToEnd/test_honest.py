"""Answers, statuses and checks that say what came of a request."""

import pathlib
import subprocess
import threading
import unittest

from caller import ask
from relay import RelayTest, daemon, route
from upstream import answer, as_json

COMMAND = pathlib.Path(daemon()).with_name("waystation")
ERROR = {"require": ["/error/code"], "statuses": "any", "code": "/error/code", "title": "/error/title"}
DOCUMENT = '{"error":{"code":"no_credit","title":"No credit","status":%s}}'


def check(relay):
    """Exit status and all that was said."""
    done = subprocess.run([daemon(), "--check", str(relay.file)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


class Answers(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        named = {"json": "/error/status", "default": 502}
        cls.relay = cls.shared_relay({
            "as-it-is": route(cls.upstream.url, api_error=ERROR),
            "number": route(cls.upstream.url, api_error={**ERROR, "status": 422}),
            "named": route(cls.upstream.url, api_error={**ERROR, "status": named}),
            "busy": route(
                cls.upstream.url, api_error={**ERROR, "status": 422}, max_attempts=2,
                recovery=[{"name": "again", "on": ["200"], "retry": {
                    "max_attempts": 9, "backoff": {"type": "constant", "base_interval": "10ms"}}}]),
            "empty": route(cls.upstream.url, response={"empty": "error"}),
            "expected": route(cls.upstream.url, response={"empty": "error", "expect": "json", "unwrap": "/data"}),
            "named-empty": route(
                cls.upstream.url, response={"empty": "error"}, success={"status": ["2xx", "204"]}),
            "short": route(cls.upstream.url, timeouts={"total": "700ms"}, recovery=[]),
        }).start()

    def setUp(self):
        self.upstream.forget()

    def send(self, *words):
        done = subprocess.run(
            [COMMAND, "send", *words, "--socket", self.relay.jobs], capture_output=True, text=True, timeout=30)
        return done.returncode, done.stdout, done.stderr

    def test_an_error_document_keeps_its_status_unless_the_route_names_another(self):
        cases = [
            ("as-it-is", 200, "404", 200), ("number", 200, "404", 422), ("number", 201, "404", 422),
            ("number", 409, "404", 409), ("number", 500, "404", 500), ("named", 200, "404", 404),
            ("named", 200, '"429"', 429), ("named", 200, "200", 502), ("named", 200, '"x"', 502),
            ("named", 200, "null", 502), ("named", 200, "599.5", 502), ("named", 503, "404", 503)]
        for name, given, told, wanted in cases:
            with self.subTest(name, given=given, told=told):
                document = DOCUMENT % told
                self.upstream.on("/d", as_json(given, document))
                got = self.relay.ask("GET", f"/r/{name}/d")
                self.assertEqual((got.status, got.body.decode()), (wanted, document), got)
                self.assertEqual((got["Waystation-Outcome"], got["Waystation-Source"]), ("failure", "upstream"), got)
                job = self.relay.job(got)
                self.assertEqual((job["status"], job["attempts"][0]["status"]), (wanted, given), job)
                self.assertEqual(
                    (job["attempts"][0]["api_code"], job["attempts"][0]["api_title"]), ("no_credit", "No credit"))

    def test_no_success_and_no_plain_failure_takes_the_status_of_error_documents(self):
        self.upstream.on("/fine", as_json(200, '{"fine":1}'))
        self.assertEqual(self.relay.ask("GET", "/r/number/fine").status, 200)
        self.upstream.on("/moved", answer(302, "", ("Location", "/x")))
        self.assertEqual(self.relay.ask("GET", "/r/number/moved").status, 302)

    def test_send_tells_what_the_upstream_answered_and_what_its_caller_gets(self):
        self.upstream.on("/d", as_json(200, DOCUMENT % "404"))
        for name, told in [
                ("as-it-is", "the upstream answered 200, which the route's rules call a failure;"),
                ("named", "the upstream answered 200, which the route's rules call a failure, told to callers as 404;")]:
            with self.subTest(name):
                ended, _, errors = self.send(name, "d")
                self.assertEqual(ended, 6, errors)
                self.assertIn(told, errors)

    def test_rules_go_by_the_status_of_the_upstream(self):
        self.upstream.on("/r", as_json(200, DOCUMENT % 1), as_json(200, DOCUMENT % 1))
        got = self.relay.ask("GET", "/r/busy/r")
        self.assertEqual((got.status, got["Waystation-Attempts"]), (422, "2"), got)

    def test_a_kept_job_answers_with_that_status_too(self):
        self.upstream.on("/k", as_json(200, DOCUMENT % "404"))
        got = self.relay.ask("GET", "/r/named/k", [("Prefer", "respond-async, wait=20")])
        self.assertEqual((got.status, got.body.decode()), (404, DOCUMENT % "404"), got)
        job = self.relay.job(got)
        self.assertEqual((job["state"], job["attempts"][0]["status"]), ("dead", 200), job)
        kept = ask(self.relay.jobs, "GET", f"/v1/jobs/{job['id']}/response")
        self.assertEqual((kept.status, kept.body.decode()), (404, DOCUMENT % "404"), kept)

    def test_an_answer_without_content_is_one_also_where_it_never_has_any(self):
        for name in "empty", "expected":
            for step in answer(200, ""), answer(204, length=False):
                with self.subTest(name, step=step[:12]):
                    self.upstream.on("/e", step)
                    got = self.relay.ask("GET", f"/r/{name}/e")
                    self.assert_problem(got, 502, "invalid_response")
                    job = self.relay.job(got)
                    self.assertEqual(job["attempts"][0]["kind"], "empty_response", job)
        self.upstream.on("/e", answer(204, length=False))
        self.assertEqual(self.relay.ask("GET", "/r/named-empty/e").status, 204)
        self.upstream.on("/e", answer(200, ""))
        self.assert_problem(self.relay.ask("GET", "/r/named-empty/e"), 502, "invalid_response")
        self.upstream.on("/e", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        self.assertEqual(self.relay.ask("HEAD", "/r/empty/e").status, 200)

    def test_a_total_alone_bounds_the_attempt(self):
        rest = threading.Event()
        self.addCleanup(rest.set)
        self.upstream.on("/slow", lambda got: rest.wait(20) and answer(200, "late"))
        got = self.relay.ask("GET", "/r/short/slow")
        self.assert_problem(got, 504, "deadline_exceeded")
        self.assertIn("700ms", got["Proxy-Status"], got)

    def test_more_attempts_than_the_route_allows_are_told(self):
        def told(wanted, name="busy"):
            self.upstream.on("/m", *[as_json(200, DOCUMENT % 1)] * 2)
            fields = [("Waystation-Max-Attempts", str(wanted))] if wanted else []
            got = self.relay.ask("GET", f"/r/{name}/m", fields)
            return got["Waystation-Attempts"], got["Waystation-Max-Attempts"]
        self.assertEqual(told(50), ("2", "2"))
        self.assertEqual(told(2), ("2", None))
        self.assertEqual(told(1), ("1", None))
        self.assertEqual(told(None), ("2", None))
        self.upstream.on("/m", as_json(200, "{}"))
        got = self.relay.ask("GET", "/r/busy/m", [("Waystation-Max-Attempts", "3"), ("Prefer", "respond-async")])
        self.assertEqual(got.status, 202)
        self.assertEqual(self.relay.job(got)["max_attempts"], 2)

    @unittest.skipUnless(COMMAND.exists(), "the command is not built")
    def test_send_ends_as_for_a_failure_whenever_the_outcome_is_one(self):
        for step, code in (as_json(200, "{}"), 0), (as_json(200, DOCUMENT % 1), 6), (answer(404, "no"), 6), \
                (answer(500, "no"), 6), (answer(204, length=False), 0):
            with self.subTest(step[:40]):
                self.upstream.on("/s", step, step)
                ended, said, errors = self.send("as-it-is", "s")
                self.assertEqual(ended, code, errors)
                self.assertEqual("why: waystation explain" in errors, code != 0)
                self.assertEqual(self.send("as-it-is", "s", "--any"), (0, said, ""))


class Checks(RelayTest):
    def relay_of(self, **members):
        return self.new_relay({"r": {"upstreams": [{"name": "u", "url": "https://u.example/"}], **members}})

    def test_a_quick_recovery_makes_a_success_and_no_failure(self):
        def said(status, **members):
            rule = {"on": ["5xx"], "as": {"status": status}}
            return check(self.relay_of(quick_recovery=[rule], **members))
        for status in 400, 502, 599:
            code, text = said(status)
            self.assertEqual(code, 78, text)
            self.assertIn(f"makes a success of a failure, and {status} tells of a failure", text)
            self.assertIn("/routes/r/quick_recovery/0/as/status", text)
        for status in 200, 204, 302:
            self.assertEqual(said(status)[0], 0)
        # A route may call such an answer a success, and then it is one however it came.
        self.assertEqual(said(404, success={"status": ["2xx", "404"]})[0], 0)

    def test_a_total_alone_is_accepted_whatever_an_attempt_may_take_by_default(self):
        self.assertEqual(check(self.relay_of(timeouts={"total": "5s"}))[0], 0)
        code, text = check(self.relay_of(timeouts={"total": "5s", "attempt": "6s"}))
        self.assertEqual(code, 78, text)

    def test_plain_http_over_public_networks_is_told_by_the_check_and_at_the_start(self):
        warning = "requests and their answers cross public networks unencrypted"
        public = {"upstreams": [{"name": "u", "url": "http://u.example/"}]}
        relay = self.new_relay({"r": public})
        code, text = check(relay)
        self.assertEqual((code, text.count(warning)), (0, 1), text)
        self.assertIn("/routes/r/upstreams/0/url", text)
        relay.start()
        self.assertTrue(relay.errors.wait(warning).startswith("<4>"))
        for fine in (
                {"upstreams": [{"name": "u", "url": "https://u.example/"}]},
                {**public, "allow_addresses": ["10.0.0.0/8"]}):
            self.assertNotIn(warning, check(self.new_relay({"r": fine}))[1])


if __name__ == "__main__":
    unittest.main()
