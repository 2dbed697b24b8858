"""config/examples: what a request is before it is sent, and what an answer must be."""

import json
import unittest
from email.utils import parsedate_to_datetime

from examples import SECRETS, ExampleTest
from upstream import Close, answer, as_json, refused_port

KEY = "Idempotency-Key"


class Prepare(ExampleTest):
    # clauses: N-16
    def test_the_key_is_the_same_over_the_attempts_of_a_job_and_the_date_is_fresh(self):
        relay = self.example("prepare")
        self.first.on("/orders", answer(500), answer(503), answer(201, "made"))
        got = relay.curl("/r/orders/orders", "-d", "one")
        self.assertEqual((got.status, got.body), (201, b"made"))
        job = self.assert_timeline(relay, got, (500, "retry"), (503, "retry"), (201, None))
        seen = self.first.seen("/orders")
        self.assertEqual([s.all(KEY) for s in seen], [[job["id"]]] * 3)
        self.assertEqual([s.all("X-Attempt") for s in seen], [["1"], ["2"], ["3"]], "not one added to the other")
        dates = [parsedate_to_datetime(s["Date"]) for s in seen]
        self.assertEqual([len(s.all("Date")) for s in seen], [1, 1, 1])
        self.assertTrue(dates[0] < dates[1] < dates[2], dates)
        again = relay.curl("/r/orders/orders", "-d", "two")
        self.assertNotEqual(self.first.seen("/orders")[3][KEY], job["id"], "another job has another key")
        self.assertEqual(self.first.seen("/orders")[3][KEY], again["Waystation-Job"])

    # clauses: N-09, N-16
    def test_the_key_lets_a_post_be_sent_again_whose_outcome_is_unknown(self):
        relay = self.example("prepare")
        self.first.on("/pay", Close(), answer(200, "paid"))
        got = relay.curl("/r/orders/pay", "-d", "17")
        self.assertEqual((got.status, got.body), (200, b"paid"))
        job = self.assert_timeline(relay, got, ("connection_terminated", "retry"), (200, None))
        self.assertEqual(job["attempts"][0]["sent"], "unknown")
        first, second = self.first.seen("/pay")
        self.assertEqual((first.body, first[KEY]), (second.body, second[KEY]))


    def test_the_routes_query_is_in_every_attempt_and_its_paths_and_references_stay(self):
        relay = self.example("prepare")
        self.first.on("/a//b", answer(201, "kept", ("Location", "/a//b?v=2")))
        got = relay.curl("/r/objects/a//b?key=mine&v=1", "-X", "PUT", "-d", "x")
        self.assertEqual((got.status, got["Location"]), (201, "/a//b?v=2"))
        (seen,) = self.first.seen("/a//b")
        self.assertEqual(seen.target, f"/a//b?v=1&api-version=2026-01-01&key={SECRETS['api-key']}")
        self.assertEqual(relay.job(got)["request"]["path"], "/a//b")
        self.assertNotIn(SECRETS["api-key"], relay.errors.text())


class Unwrap(ExampleTest):
    def setUp(self):
        super().setUp()
        self.relay = self.example("unwrap")

    # clauses: T-01, AX-07
    def test_the_caller_sends_and_gets_what_is_inside(self):
        self.first.on("/books", as_json(201, '{"data": {"id": 7, "title": "Dune"}, "took": 3}'))
        got = self.relay.curl("/r/books/books?shelf=a%20b", "-H", "X-Mine: m", "--json", '{"title": "Dune"}')
        self.assertEqual((got.status, got.body), (201, b'{"id": 7, "title": "Dune"}'))
        self.assert_timeline(self.relay, got, (201, None))
        (seen,) = self.first.seen("/books")
        self.assertEqual((seen.method, seen.target, seen["X-Mine"]), ("POST", "/books?shelf=a%20b", "m"))
        self.assertEqual(json.loads(seen.body), {"data": {"title": "Dune"}})

    # clauses: AX-07, T-02
    def test_a_200_without_data_or_without_json_is_a_decoding_failure(self):
        for body, why in (b'{"books": []}', "nothing at /data"), (b"<html>", "not JSON"), (b'{"data": ', "not JSON"), \
                (b"[1, 2]", "nothing at /data"):
            with self.subTest(body):
                self.first.forget()
                self.first.on("/odd", answer(200, body))
                got = self.relay.curl("/r/books/odd")
                self.assert_problem(got, 502, "invalid_response")
                job = self.assert_timeline(self.relay, got, ("decoding", None), source="relay", outcome="failure")
                self.assertIn(why, job["last_failure"]["detail"])
                self.assertEqual(job["attempts"][0]["status"], 200, "not a failure of the status")
                self.assertEqual(len(self.first.seen("/odd")), 1)

    def test_an_empty_answer_is_what_the_route_says(self):
        self.first.on("/empty", answer(200))
        got = self.relay.curl("/r/books/empty")
        self.assert_problem(got, 502, "invalid_response")
        self.assertIn("empty", self.relay.job(got)["last_failure"]["detail"])
        got = self.relay.curl("/r/notices/empty")
        self.assertEqual((got.status, got.body, got["Waystation-Source"]), (200, b"", "upstream"))

    # clauses: T-21
    def test_a_request_that_cannot_be_prepared_is_never_sent(self):
        got = self.relay.curl("/r/books/books", "-d", "title=Dune")
        problem = self.assert_problem(got, 400, "preparation_failed")
        self.assertIn("JSON", problem["detail"])
        self.assertEqual(self.first.requests, [])


class Success(ExampleTest):
    def setUp(self):
        super().setUp()
        self.relay = self.example("success")

    # clauses: T-01
    def test_an_answer_that_is_good_passes_as_it_is(self):
        body = b'{"status": {"code": 0.0}, "rates": [1.08]}'
        self.first.on("/today", as_json(200, body))
        got = self.relay.curl("/r/rates/today")
        self.assertEqual((got.status, got.body), (200, body))
        self.assert_timeline(self.relay, got, (200, None))

    def test_a_named_failure_is_sent_again_only_when_it_may_be(self):
        good = as_json(200, '{"status": {"code": 0}}')
        self.first.on("/busy", as_json(200, '{"status": {"code": 0, "text": "TEMPORARY"}}'), good)
        got = self.relay.curl("/r/rates/busy")
        job = self.assert_timeline(self.relay, got, ("busy", "retry"), (200, None))
        self.assertEqual((got.status, job["attempts"][0]["rule"]), (200, "busy"))
        self.first.on("/fault", as_json(200, '{"status": {"code": 0}, "fault": "no paper"}'), good)
        got = self.relay.curl("/r/rates/fault")
        self.assert_problem(got, 502, "invalid_response")
        self.assert_timeline(self.relay, got, ("fault", None), source="relay", outcome="failure")
        self.assertEqual(len(self.first.seen("/fault")), 1)

    # clauses: T-02
    def test_a_wrong_code_a_wrong_type_and_no_json_are_failures_of_their_own(self):
        for body, type, kind in (b'{"status": {"code": 1}}', "application/json", "invalid_response"), \
                (b'{"rates": []}', "application/json; charset=utf-8", "invalid_response"), \
                (b'{"status": {"code": 0}}', "text/html", "invalid_response"), (b"<p>", "application/json", "decoding"):
            with self.subTest(body):
                self.first.on("/odd", answer(200, body, ("Content-Type", type)))
                got = self.relay.curl("/r/rates/odd")
                self.assert_problem(got, 502, "invalid_response")
                self.assert_timeline(self.relay, got, (kind, None), source="relay", outcome="failure")

    # clauses: T-03, AX-06
    def test_a_503_is_a_failure_of_the_status_and_is_passed_on(self):
        self.first.on("/down", answer(503, "closed"))
        got = self.relay.curl("/r/rates/down")
        self.assertEqual((got.status, got.body), (503, b"closed"))
        job = self.assert_timeline(self.relay, got, (503, None), outcome="failure")
        self.assertEqual((job["last_failure"]["kind"], job["last_failure"]["status"]), ("http_status", 503))
        self.assertIn("error=http_status", got["Proxy-Status"])


class QuickRecovery(ExampleTest):
    def setUp(self):
        super().setUp()
        self.relay = self.example("quick-recovery")

    # clauses: T-06
    def test_a_redirect_is_a_200_with_its_place_and_no_rule_is_read(self):
        self.first.on("/login", answer(307, "go", ("location", "https://sso.example/?a=1")))
        got = self.relay.curl("/r/sign-in/login")
        self.assertEqual((got.status, got.json()), (200, {"location": "https://sso.example/?a=1", "was": 307}))
        job = self.assert_timeline(self.relay, got, (307, "quick_recovery"))
        self.assertNotIn("rule", job["attempts"][0])
        self.assertEqual(len(self.first.requests), 1)

    # clauses: T-06, T-07
    def test_a_404_is_a_204_for_delete_and_stays_a_404_for_others(self):
        self.first.on("/session", answer(404, "none"))
        got = self.relay.curl("/r/sign-in/session", "-X", "DELETE")
        self.assertEqual((got.status, got.body), (204, b""))
        self.assert_timeline(self.relay, got, (404, "quick_recovery"))
        got = self.relay.curl("/r/sign-in/session")
        self.assertEqual((got.status, got.body), (404, b"none"))
        self.assert_timeline(self.relay, got, (404, "retry"), (404, None), outcome="failure")

    # clauses: T-07
    def test_a_500_that_no_entry_names_still_fails(self):
        self.first.on("/broken", answer(500, "broken"))
        got = self.relay.curl("/r/sign-in/broken")
        self.assertEqual((got.status, got.body), (500, b"broken"))
        self.assert_timeline(self.relay, got, (500, "retry"), (500, None), outcome="failure")

    def test_the_answer_after_a_retry_is_quickly_recovered_too(self):
        self.first.on("/late", answer(500), answer(302, "", ("Location", "/in")))
        got = self.relay.curl("/r/sign-in/late")
        self.assertEqual((got.status, got.json()["was"]), (200, 302))
        self.assert_timeline(self.relay, got, (500, "retry"), (302, "quick_recovery"))


class Redirects(ExampleTest):
    def setUp(self):
        super().setUp()
        self.relay = self.example("redirects")
        self.first.on("/new", answer(200, "here"))
        self.second.on("/new", answer(200, "a stranger"))

    def test_its_records_are_objects_a_line_each(self):
        self.relay.stop()
        self.relay.errors.wait("(end)")
        said = [json.loads(line)["MESSAGE"] for line in self.relay.errors.items if line != "(end)"]
        self.assertTrue(any("configuration loaded" in message for message in said), said)

    def test_a_redirect_is_returned_as_a_success(self):
        self.first.on("/old", answer(302, "moved", ("Location", "/new")))
        got = self.relay.curl("/r/returned/old")
        self.assertEqual((got.status, got["Location"], got.body), (302, "/r/returned/new", b"moved"))
        self.assert_timeline(self.relay, got, (302, None))
        self.assertEqual(self.first.seen("/new"), [])

    def test_a_redirect_to_the_same_upstream_is_followed_within_the_attempt(self):
        for location in "/new", self.first.url + "new", "new?a=1":
            self.first.forget()
            self.first.on("/old", answer(302, "", ("Location", location)))
            got = self.relay.curl("/r/followed/old")
            self.assertEqual((got.status, got.body), (200, b"here"), location)
            self.assert_timeline(self.relay, got, (200, None))
            (seen,) = self.first.seen("/new")
            self.assertEqual(seen["X-Api-Key"], SECRETS["api-key"])

    def test_a_redirect_to_another_origin_is_an_answer_and_nothing_is_sent_there(self):
        for location in self.second.url + "new", f"//127.0.0.1:{self.second.port}/new", \
                f"http://localhost:{self.first.port}/new", f"http://127.0.0.1:{refused_port()}/new":
            self.first.forget()
            self.first.on("/old", answer(302, "", ("Location", location)))
            got = self.relay.curl("/r/followed/old")
            self.assertEqual((got.status, got["Location"]), (302, location))
            self.assertEqual(len(self.first.requests), 1)
        self.assertEqual(self.second.requests, [])

    def test_a_circle_ends(self):
        self.first.on("/round", answer(302, "", ("Location", "/round")))
        got = self.relay.curl("/r/followed/round")
        self.assertEqual(got.status, 302)
        self.assertEqual(len(self.first.requests), 6)
        self.assertEqual(len(self.relay.job(got)["attempts"]), 1)


class Stream(ExampleTest):
    def test_a_stream_takes_jobs_of_both_routes_and_gives_an_outcome_for_each_line(self):
        relay = self.example("stream")
        self.first.on("/good", answer(503), answer(200, "fine"))
        self.first.on("/bad", answer(500))
        lines = ['{"id":"a","route":"orders","request":{"method":"GET","path":"good"}}', "nonsense",
                 '{"id":"b","route":"rates","request":{"method":"GET","path":"bad"}}',
                 '{"id":"c","route":"orders","request":{"method":"GET","path":"bad"}}']
        got = relay.ask("POST", "/v1/stream?order=input", [("Content-Type", "application/x-ndjson")],
                        "\n".join(lines).encode())
        outcomes = [json.loads(line) for line in got.body.decode().splitlines()]
        self.assertEqual([(o["line"], o.get("id"), o["ok"], o.get("source")) for o in outcomes], [
            (1, "a", True, "upstream"), (2, None, False, None), (3, "b", True, "placeholder"),
            (4, "c", False, "upstream")])


if __name__ == "__main__":
    unittest.main()
