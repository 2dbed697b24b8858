"""config/examples: errors by name, tokens, and waits."""

import json
import threading
import time
import unittest
import urllib.parse

from caller import request
from examples import SECRETS, ExampleTest
from relay import eventually
from upstream import Close, answer, as_json, unread


class Tokens:
    """Issues t1, t2, …; `good` is the first number the upstream takes."""

    def __init__(self, upstream):
        self.issued, self.good, self.lock = 0, 1, threading.Lock()
        upstream.on("/token", self.issue)

    def issue(self, got):
        with self.lock:
            self.issued += 1
            return as_json(200, json.dumps(
                {"access_token": f"t{self.issued}", "token_type": "Bearer", "expires_in": 3600}))

    def takes(self, got):
        word = got["Authorization"] or ""
        return word.startswith("Bearer t") and int(word[8:]) >= self.good


class APIError(ExampleTest):
    def setUp(self):
        super().setUp()
        self.tokens = Tokens(self.first)
        self.relay = self.example("api-error")

    # clauses: AX-03, AX-04, AX-05
    def test_an_error_document_counts_on_any_status_and_before_the_status(self):
        for status in 200, 401, 404, 500:
            with self.subTest(status):
                self.first.forget()
                body = b'{"error": {"code": "gone", "title": "No such book"}, "data": {"id": 1}}'
                self.first.on("/books", as_json(status, body))
                got = self.relay.curl("/r/books/books")
                job = self.relay.job(got)
                self.assertEqual(job["outcome"], "failure")
                attempt = job["attempts"][0]
                self.assertEqual(
                    (attempt["kind"], attempt["status"], attempt["api_code"]), ("api_error", status, "gone"))
                self.assertEqual((got.status, got.body), (status, body), "the error document reaches the caller")
                self.assertIn("error=api_error", got["Proxy-Status"])

    # clauses: AX-04, AX-05
    def test_a_route_may_give_it_an_honest_status(self):
        for status, named, wanted in (200, "404", 404), (200, '"x"', 502), (409, "404", 409):
            body = '{"error": {"code": "gone", "title": "No such book", "status": %s}}' % named
            self.first.on("/books", as_json(status, body))
            got = self.relay.curl("/r/orders/books")
            self.assertEqual((got.status, got.body.decode()), (wanted, body))
            self.assertEqual(self.relay.job(got)["attempts"][0]["status"], status)

    # clauses: AX-05, AX-06
    def test_what_is_no_whole_error_document_is_judged_by_its_status(self):
        for status, body in (500, b"broken"), (500, b'{"error": {"code": "gone"}}'), \
                (404, b'{"error": null, "data": 1}'):
            self.first.on("/odd", answer(status, body))
            got = self.relay.curl("/r/books/odd")
            self.assertEqual((got.status, got.body), (status, body))
            self.assert_timeline(self.relay, got, (status, None), outcome="failure")
        for body in b'{"error": null, "data": 1}', b'{"error": {"code": "gone"}, "data": 1}', b'{"data": 1}', \
                b'{"error": "gone"}':
            self.first.on("/fine", as_json(200, body))
            got = self.relay.curl("/r/books/fine")
            self.assertEqual((got.status, got.body), (200, body))
            self.assert_timeline(self.relay, got, (200, None))

    # clauses: AX-03, AX-05, T-13
    def test_a_200_that_says_the_token_is_invalid_fetches_a_new_one(self):
        def books(got):
            if self.tokens.takes(got):
                return as_json(200, '{"data": "Dune"}')
            return as_json(200, '{"error": {"code": "token_invalid", "title": "Token invalid"}}')
        self.first.on("/books", books)
        self.tokens.good = 2
        got = self.relay.curl("/r/books/books")
        self.assertEqual((got.status, got.json()), (200, {"data": "Dune"}))
        job = self.assert_timeline(self.relay, got, ("unauthorized", "refresh_credentials"), (200, None))
        self.assertEqual((job["attempts"][0]["rule"], job["attempts"][0]["status"]), ("stale-token", 200))
        self.assertEqual([s["Authorization"] for s in self.first.seen("/books")], ["Bearer t1", "Bearer t2"])
        self.assertEqual(self.tokens.issued, 2)

    def test_an_error_with_a_name_of_the_routes_is_sent_again_by_that_name(self):
        self.first.on(
            "/books", as_json(503, '{"error": {"code": "busy", "title": "Busy"}}'), as_json(200, '{"data": []}'))
        got = self.relay.curl("/r/books/books")
        self.assert_timeline(self.relay, got, ("busy", "retry"), (200, None))
        # A 503 of another name, or of none, has no rule.
        self.first.on("/down", answer(503))
        self.assert_timeline(self.relay, self.relay.curl("/r/books/down"), (503, None), outcome="failure")


class Reauthorize(ExampleTest):
    def setUp(self):
        super().setUp()
        self.tokens = Tokens(self.first)
        self.relay = self.example("reauthorize")
        self.refusal = answer(401, "who?")
        self.first.on("/42", lambda got: answer(200, "welcome") if self.tokens.takes(got) else self.refusal)

    # clauses: T-13
    def test_a_401_leads_to_a_new_token_and_one_success(self):
        self.tokens.good = 2
        got = self.relay.curl("/r/invoices/42", "-d", "pay")
        self.assertEqual((got.status, got.body), (200, b"welcome"))
        job = self.assert_timeline(self.relay, got, (401, "refresh_credentials"), (200, None))
        self.assertEqual(job["attempts"][0]["rule"], "stale-token")
        self.assertEqual([s.body for s in self.first.seen("/42")], [b"pay", b"pay"])
        self.assertEqual(self.tokens.issued, 2)
        for asked in self.first.seen("/token"):
            self.assertIn(("audience", "https://invoices.example/"), urllib.parse.parse_qsl(asked.body.decode()))
        said = self.relay.errors.text() + json.dumps(job)
        self.assertNotIn(SECRETS["client-secret"], said)
        self.assertNotIn("Bearer", said)

    # clauses: T-14
    def test_a_401_that_a_new_token_does_not_heal_is_the_callers(self):
        self.tokens.good = 1000
        got = self.relay.curl("/r/invoices/42")
        self.assertEqual((got.status, got.body), (401, b"who?"))
        self.assert_timeline(self.relay, got, (401, "refresh_credentials"), (401, None), outcome="failure")
        self.assertEqual((len(self.first.seen("/42")), self.tokens.issued), (2, 2))

    def test_a_401_that_is_no_matter_of_the_token_fetches_none(self):
        self.tokens.good = 1000
        got = self.relay.curl("/r/customers/42")
        self.assertEqual((got.status, got.body), (401, b"who?"))
        self.assertEqual((len(self.first.seen("/42")), self.tokens.issued), (1, 1))

    # clauses: N-12
    def test_a_challenge_does_not_change_what_a_401_is(self):
        for challenge in "Basic realm=\"x\"", "Bearer error=\"invalid_token\"", "Negotiate", "":
            with self.subTest(challenge):
                self.first.forget()
                self.tokens.good = self.tokens.issued + 1
                self.refusal = answer(401, "who?", ("WWW-Authenticate", challenge))
                # The first one has no token to be refused yet.
                self.relay.curl("/r/invoices/42")
                self.tokens.good = self.tokens.issued + 1
                got = self.relay.curl("/r/invoices/42")
                self.assertEqual((got.status, got["Waystation-Attempts"]), (200, "2"))
        self.tokens.good = 1000
        self.refusal = answer(401, "who?", ("WWW-Authenticate", 'Basic realm="x"'))
        got = self.relay.curl("/r/invoices/42")
        self.assertEqual((got.status, got["WWW-Authenticate"]), (401, 'Basic realm="x"'))

    def test_many_401s_at_once_are_one_request_for_a_token(self):
        self.assertEqual(self.relay.ask("GET", "/r/invoices/42").status, 200)
        self.tokens.good, gate = 2, threading.Barrier(20)

        def together(got):
            if got["Authorization"] == "Bearer t1":
                gate.wait(10)
                return answer(401)
            return answer(200, "welcome")
        self.first.on("/42", together)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.relay.ask("GET", "/r/invoices/42")))
                   for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        self.assertEqual([(a.status, a["Waystation-Attempts"]) for a in answers], [(200, "2")] * 20)
        self.assertEqual(self.tokens.issued, 2)


class Verify(ExampleTest):
    def charge(self, reference, *steps):
        """The end of a charge whose first answer is lost, with what the upstream then says of it."""
        self.first.on("/charges", Close(), *steps)
        got = self.relay.curl("/r/billing/charges", "--json", json.dumps({"reference": reference}))
        return got, [request.method for request in self.first.seen("/charges")]

    def setUp(self):
        super().setUp()
        self.relay = self.example("verify")

    def test_a_charge_that_was_made_is_found(self):
        got, methods = self.charge("c-1", as_json(200, '{"data": ["c-1"]}'))
        self.assertEqual((got.status, got["Waystation-Source"], methods), (200, "verified", ["POST", "GET"]))

    def test_a_charge_that_was_not_made_is_made(self):
        got, methods = self.charge("c-2", as_json(200, '{"data": []}'), as_json(201, "{}"))
        self.assertEqual((got.status, got["Waystation-Source"], methods), (201, "upstream", ["POST", "GET", "POST"]))

    def test_a_charge_of_which_nobody_knows_stays_in_doubt(self):
        got, methods = self.charge("c-3", as_json(200, "{}"), answer(500), as_json(200, '{"data": null}'))
        self.assertEqual((got.status, methods), (502, ["POST", "GET", "GET", "GET"]))


class EventStream(ExampleTest):
    HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    EVENT = b"9\r\ndata: a\n\n\r\n"

    def test_a_stream_that_breaks_off_before_its_first_event_comes_from_the_second_upstream(self):
        relay = self.example("event-stream")
        self.first.on("/tokens", Close(self.HEAD))
        self.second.on("/tokens", self.HEAD + self.EVENT + b"0\r\n\r\n")
        got = relay.curl("/r/chat/tokens")
        self.assertEqual((got.body, got["Waystation-Attempts"]), (b"data: a\n\n", "2"))
        self.assertEqual(relay.job(got)["attempts"][0]["kind"], "http_response_incomplete")


class Follow(ExampleTest):
    def render(self, *steps):
        """The end of a rendering whose operation answers so, and what the upstream was asked."""
        self.first.on("/renders", answer(202, "{}", ("Operation-Location", "/operations/1")))
        self.first.on("/operations/1", *steps)
        self.first.on("/rendered/1", answer(200, "a film"))
        got = self.relay.curl("/r/render/renders", "--json", "{}")
        return got, [len(self.first.seen(path)) for path in ("/renders", "/operations/1", "/rendered/1")]

    def setUp(self):
        super().setUp()
        self.relay = self.example("follow")

    def test_the_result_of_the_operation_is_the_answer(self):
        done = as_json(200, '{"status": "Succeeded", "resourceLocation": "/rendered/1"}')
        got, asked = self.render(as_json(200, '{"status": "Running"}'), answer(503), done)
        self.assertEqual((got.status, got["Waystation-Source"], asked), (200, "followed", [1, 3, 1]))

    def test_an_operation_that_fails_is_a_failure_and_not_begun_again(self):
        got, asked = self.render(as_json(200, '{"status": "Failed"}'))
        self.assertEqual((got.status, got["Waystation-Source"], asked), (502, "relay", [1, 1, 0]))


def given_up(got):
    """Waits until the relay closes the connection, and answers nothing."""
    got.connection.wait_for_end()


class Hedge(ExampleTest):
    def test_the_second_sending_answers_for_a_request_that_is_late(self):
        relay = self.example("hedge")
        self.first.on("/late", *[answer(200, "soon")] * 24, given_up, answer(200, "second"))
        for number in range(24):
            self.assertEqual(relay.curl("/r/search/late").body, b"soon", number)
        got = relay.curl("/r/search/late")
        self.assertEqual((got.status, got.body, got["Waystation-Attempts"]), (200, b"second", "2"))
        self.assertEqual([a["result"] for a in relay.job(got)["attempts"]], ["cancelled", "success"])


class Backoff(ExampleTest):
    def setUp(self):
        super().setUp()
        self.relay = self.example("backoff")

    def test_waits_grow_from_attempt_to_attempt_until_the_rule_is_spent(self):
        self.first.on("/q", answer(503, "closed"))
        got = self.relay.curl("/r/search/q")
        self.assertEqual((got.status, got.body), (503, b"closed"))
        self.assert_timeline(
            self.relay, got, (503, "retry"), (503, "retry"), (503, "retry"), (503, None), outcome="failure")
        for wait, most in zip(self.waits(self.relay, got), (200, 400, 800)):
            self.assertTrue(most / 2 <= wait <= most, self.waits(self.relay, got))
        times = [seen.at for seen in self.first.seen("/q")]
        for earlier, later, least in zip(times, times[1:], (0.1, 0.2, 0.4)):
            self.assertGreaterEqual(later - earlier, least - 0.01)

    def test_a_retry_after_is_honoured_and_cut_to_the_rules_limit(self):
        for asked, least, most in ("1", 1000, 1001), ("3600", 2000, 2001), ("0", 100, 200), ("-3", 100, 200), \
                ("soon", 100, 200):
            with self.subTest(asked):
                self.first.forget()
                self.first.on("/q", answer(429, "", ("Retry-After", asked)), answer(200, "found"))
                got = self.relay.curl("/r/search/q")
                self.assert_timeline(self.relay, got, (429, "retry"), (200, None))
                (wait,) = self.waits(self.relay, got)
                self.assertTrue(least <= wait <= most, wait)
                first, second = self.first.seen("/q")
                self.assertGreaterEqual(second.at - first.at, least / 1000 - 0.01)

    # clauses: N-08
    def test_no_wait_is_begun_that_would_not_end_in_time(self):
        self.first.on("/q", answer(503, "closed", ("Retry-After", "2")))
        began = time.monotonic()
        got = self.relay.curl("/r/search/q", "-H", "Waystation-Timeout: 1s")
        self.assertLess(time.monotonic() - began, self.within(1))
        self.assertEqual((got.status, got.body), (503, b"closed"), "the last answer, not a timeout")
        self.assert_timeline(self.relay, got, (503, None), outcome="failure")
        self.assertEqual(len(self.first.seen("/q")), 1)
        self.assertTrue(got["Proxy-Status"].endswith("; past-deadline"), got)
        self.assertIs(self.relay.job(got)["last_failure"]["past_deadline"], True)
        line = {"route": "search", "request": {"path": "/q"}, "options": {"timeout": "1s"}}
        told = self.relay.ask("POST", "/v1/stream", (), json.dumps(line).encode() + b"\n")
        self.assertIs(json.loads(told.body)["error"]["past_deadline"], True)
        self.first.on("/q", answer(404))
        got = self.relay.curl("/r/search/q")
        self.assertNotIn("past-deadline", got["Proxy-Status"])
        self.assertNotIn("past_deadline", self.relay.job(got)["last_failure"])

    # clauses: N-09
    def test_a_post_that_was_sent_is_not_repeated_and_one_with_a_key_is(self):
        self.first.on("/q", Close(), answer(200, "twice"))
        got = self.relay.curl("/r/search/q", "-d", "pay")
        self.assert_problem(got, 502, "upstream_failed")
        (attempt,) = self.relay.job(got)["attempts"]
        self.assertEqual((attempt["sent"], len(self.first.seen("/q"))), ("unknown", 1))
        self.assertIn("outcome is unknown", attempt["held_back"][0]["reason"])
        self.first.on("/q", Close(), answer(200, "once"))
        got = self.relay.curl("/r/search/q", "-d", "pay", "-H", 'Idempotency-Key: "17"')
        self.assertEqual((got.status, got.body), (200, b"once"))

    # clauses: N-09
    def test_a_post_that_never_reached_the_upstream_is_repeated(self):
        self.first.close()
        got = self.relay.curl("/r/search/q", "-d", "pay")
        self.assert_problem(got, 502, "upstream_failed")
        attempts = self.relay.job(got)["attempts"]
        self.assertEqual([a["kind"] for a in attempts], ["connection_refused"] * 3)
        self.assertEqual({a["sent"] for a in attempts}, {"never_sent"})

    # clauses: N-11
    def test_a_caller_who_hangs_up_ends_the_job_at_once(self):
        over = threading.Event()

        @unread
        def silent(got):
            if got.connection.wait_for_end():
                over.set()
        self.first.on("/slow", silent)
        self.first.on("/q", answer(503, "", ("Retry-After", "2")))
        for path in "/slow", "/q":
            with self.relay.caller() as caller:
                caller.send(request("GET", "/r/search" + path))
                self.first.wait_for(path)
                if path == "/q":
                    self.relay.errors.wait("attempt 1 on", "retry in 2")
            self.relay.errors.wait("GET on route search was cancelled: the caller hung up")
            self.relay.errors.items.clear()
        self.assertTrue(over.wait(5), "the connection to the upstream is closed")
        eventually(lambda: self.relay.status()["routes"][0]["in_flight"] == 0, "nothing is in flight")
        told = self.relay.status()["routes"][0]
        self.assertEqual((told["cancelled"], told["failed"], told["last_failure"]), (2, 0, None))
        self.assertEqual((len(self.first.seen("/slow")), len(self.first.seen("/q"))), (1, 1))


if __name__ == "__main__":
    unittest.main()
