"""Recovery through curl: the answer, its fields, the job and the journal tell the same story."""

import threading
import unittest

from caller import Ended, request
from relay import RelayTest, route
from upstream import Close, answer, as_json, refused_port

QUICK = {"type": "constant", "base_interval": "10ms"}
PLACEHOLDER = {"as": "placeholder", "status": 200, "json": {"rates": []}}


class Recovery(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        cls.other = cls.shared_upstream()
        transient = {"name": "transient", "on": ["connection", "timeout", "protocol", "5xx"],
                     "retry": {"max_attempts": 3, "backoff": QUICK}}
        cls.relay = cls.shared_relay({
            "plain": route(cls.upstream.url, recovery=[
                {"name": "overload", "on": ["503"], "retry": {"max_attempts": 3, "max_retry_after": "5s", "backoff": QUICK}},
                transient]),
            "impatient": route(cls.upstream.url, recovery=[
                {"name": "overload", "on": ["503"], "retry": {"max_retry_after": "20ms", "backoff": QUICK}}]),
            "pair": route(
                f"http://127.0.0.1:{refused_port()}/", {"name": "spare", "url": cls.other.url, "use": "failover_only"},
                recovery=[{"name": "other", "on": ["connection"], "failover": {"upstream": "spare"}}]),
            "inside": route(
                cls.upstream.url, api_error={"require": ["/error/code"], "statuses": "any", "code": "/error/code"},
                error_types=[{"api_code": ["busy"], "kind": "busy"}],
                recovery=[{"name": "busy", "on": ["busy"], "retry": {"max_attempts": 2, "backoff": QUICK}}]),
            "checked": route(
                cls.upstream.url, success={
                    "require": [{"json": "/status", "equals": 0}],
                    "fail": [{"json": "/fault", "exists": True, "kind": "fault", "retryable": False},
                             {"json": "/state", "in": ["BUSY"], "kind": "busy", "retryable": True}]},
                recovery=[{"name": "again", "on": ["busy", "fault", "invalid_response"],
                           "retry": {"max_attempts": 2, "backoff": QUICK}}]),
            "content": route(cls.upstream.url, success={"require": [{"json": "/status", "exists": True}]}),
            "content-or-204": route(
                cls.upstream.url, success={"status": ["2xx", "204"], "require": [{"json": "/status", "exists": True}]}),
            "redirects": route(cls.upstream.url, success={"status": ["2xx", "302"]}),
            "quick": route(cls.upstream.url, quick_recovery=[
                {"on": ["3xx"], "as": {"status": 200, "json": {
                    "to": {"$header": "Location"}, "was": {"$status": True}}}},
                {"on": ["404"], "methods": ["DELETE"], "as": {"status": 204}}]),
            "rates": route(cls.upstream.url, recovery=[
                transient, {"name": "stand-in", "on": ["any"], "respond": PLACEHOLDER}]),
        }).start()

    def setUp(self):
        self.upstream.forget()

    def test_a_503_with_retry_after_is_waited_out_and_then_succeeds(self):
        self.upstream.on("/a", answer(503, "", ("Retry-After", "1")), answer(200, "fine"))
        got = self.relay.curl("/r/plain/a")
        self.assertEqual((got.status, got.body), (200, b"fine"))
        job = self.assert_timeline(self.relay, got, (503, "retry"), (200, None))
        first, second = self.upstream.seen("/a")
        self.assertGreaterEqual(second.at - first.at, 0.99)
        self.assertEqual(job["attempts"][0]["rule"], "overload")
        self.assertGreaterEqual(job["attempts"][0]["wait_ms"], 990)
        self.assertIn("received-status=200", got["Proxy-Status"])
        self.relay.errors.wait(f"<6>job {job['id']}: GET on route plain succeeded after 2 attempts")

    def test_a_retry_after_is_cut_to_the_rules_limit(self):
        self.upstream.on("/cut", answer(503, "", ("Retry-After", "3600")), answer(200, "fine"))
        got = self.relay.curl("/r/impatient/cut")
        job = self.assert_timeline(self.relay, got, (503, "retry"), (200, None))
        self.assertLess(job["attempts"][0]["wait_ms"], 1000)

    def test_a_refused_connection_fails_over(self):
        self.other.on("/b", answer(200, "other"))
        got = self.relay.curl("/r/pair/b", "-d", "paid once")
        self.assertEqual((got.status, got.body), (200, b"other"))
        job = self.assert_timeline(self.relay, got, ("connection_refused", "failover"), (200, None))
        self.assertEqual(job["attempts"][0]["sent"], "never_sent")
        self.assertEqual([a["upstream"] for a in job["attempts"]], ["u1", "spare"])
        self.assertEqual(self.other.seen("/b")[0].body, b"paid once")
        self.relay.errors.wait(job["id"], "fail over to spare (rule other)")

    def test_an_error_document_inside_a_200_is_a_failure_with_its_name(self):
        self.upstream.on("/c", as_json(200, '{"error":{"code":"busy"}}'), as_json(200, '{"fine":1}'))
        got = self.relay.curl("/r/inside/c")
        self.assertEqual((got.status, got.body), (200, b'{"fine":1}'))
        job = self.assert_timeline(self.relay, got, ("busy", "retry"), (200, None))
        self.assertEqual(job["attempts"][0]["api_code"], "busy")
        self.assertEqual(job["attempts"][0]["status"], 200)

    def test_a_failed_requirement_on_a_200_is_retried_by_name(self):
        self.upstream.on("/d", as_json(200, '{"status":1}'), as_json(200, '{"status":0}'))
        got = self.relay.curl("/r/checked/d")
        self.assertEqual((got.status, got.body), (200, b'{"status":0}'))
        self.assert_timeline(self.relay, got, ("invalid_response", "retry"), (200, None))

    def test_a_named_fault_that_is_not_retryable_is_not_retried(self):
        self.upstream.on("/e", as_json(200, '{"status":0,"fault":"x"}'))
        got = self.relay.curl("/r/checked/e")
        self.assert_problem(got, 502, "invalid_response")
        job = self.assert_timeline(self.relay, got, ("fault", None), source="relay", outcome="failure")
        self.assertEqual(len(self.upstream.seen("/e")), 1)
        self.assertIn("error=fault", got["Proxy-Status"])
        self.assertEqual(job["last_failure"]["kind"], "fault")

    def test_a_named_fault_that_is_retryable_is_retried(self):
        self.upstream.on("/f", as_json(200, '{"status":0,"state":"BUSY"}'), as_json(200, '{"status":0}'))
        got = self.relay.curl("/r/checked/f")
        self.assert_timeline(self.relay, got, ("busy", "retry"), (200, None))

    def test_a_302_the_route_lists_is_a_success_and_is_not_followed(self):
        self.upstream.on("/g", answer(302, "", ("Location", "/elsewhere")))
        got = self.relay.curl("/r/redirects/g")
        self.assertEqual((got.status, got["Location"]), (302, "/r/redirects/elsewhere"))
        self.assert_timeline(self.relay, got, (302, None))
        self.assertEqual(self.upstream.seen("/elsewhere"), [])

    def test_quick_recovery_makes_a_redirect_a_success_and_spends_no_attempt(self):
        self.upstream.on("/h", answer(307, "", ("Location", "https://sso.example/?a=1")))
        got = self.relay.curl("/r/quick/h")
        self.assertEqual((got.status, got.json()), (200, {"to": "https://sso.example/?a=1", "was": 307}))
        self.assert_timeline(self.relay, got, (307, "quick_recovery"))

    def test_a_204_is_no_success_where_content_is_required_unless_the_route_names_it(self):
        for path, step in ("/empty", answer(200, "")), ("/none", answer(204, length=False)):
            self.upstream.on(path, step, step)
            got = self.relay.curl("/r/content" + path)
            self.assertEqual((got.status, got["Waystation-Outcome"]), (502, "failure"), got)
            self.assertIn("empty_response", got.body.decode())
        self.upstream.on("/none", answer(204, length=False))
        got = self.relay.curl("/r/content-or-204/none")
        self.assertEqual((got.status, got["Waystation-Source"]), (204, "upstream"))

    def test_quick_recovery_minds_the_method(self):
        self.upstream.on("/i", answer(404, "gone"))
        self.assertEqual(self.relay.curl("/r/quick/i", "-X", "DELETE").status, 204)
        got = self.relay.curl("/r/quick/i")
        self.assertEqual((got.status, got.body, got["Waystation-Source"]), (404, b"gone", "upstream"))

    def test_a_placeholder_is_served_when_the_attempts_are_spent(self):
        self.upstream.on("/j", answer(500, "broken"))
        got = self.relay.curl("/r/rates/j")
        self.assertEqual((got.status, got.json()), (200, {"rates": []}))
        job = self.assert_timeline(
            self.relay, got, (500, "retry"), (500, "retry"), (500, "respond"), source="placeholder",
            outcome="placeholder")
        self.assertEqual(job["attempts"][2]["next_source"], "placeholder")
        self.assertIn("error=http_status", got["Proxy-Status"])
        self.relay.errors.wait(f"<4>job {job['id']}: route rates answered with its placeholder (rule stand-in)")

    def test_the_last_answer_of_the_upstream_is_passed_on_when_nothing_helps(self):
        self.upstream.on("/k", answer(502, "bad day", ("X-Own", "kept")))
        got = self.relay.curl("/r/plain/k")
        self.assertEqual((got.status, got.body, got["X-Own"]), (502, b"bad day", "kept"))
        job = self.assert_timeline(self.relay, got, (502, "retry"), (502, "retry"), (502, None), outcome="failure")
        self.relay.errors.wait(f"<3>job {job['id']}: GET on route plain failed: http_status")

    def test_a_post_with_an_unknown_outcome_is_not_repeated(self):
        self.upstream.on("/l", Close(), answer(200, "twice"))
        got = self.relay.curl("/r/plain/l", "-d", "pay")
        self.assert_problem(got, 502, "upstream_failed")
        self.assertEqual(len(self.upstream.seen("/l")), 1)
        job = self.relay.job(got)
        self.assertEqual(job["attempts"][0]["sent"], "unknown")
        self.assertIn("outcome is unknown", job["attempts"][0]["held_back"][0]["reason"])
        self.relay.errors.wait(f"<3>job {job['id']}: POST on route plain failed")
        self.relay.errors.wait("not repeated: the outcome is unknown")

    def test_a_post_with_an_idempotency_key_is_repeated(self):
        self.upstream.on("/m", Close(), answer(200, "once"))
        got = self.relay.curl("/r/plain/m", "-d", "pay", "-H", 'Idempotency-Key: "8841"')
        self.assertEqual((got.status, got.body), (200, b"once"))
        first, second = self.upstream.seen("/m")
        self.assertEqual((first.body, second.body), (b"pay", b"pay"))
        self.assertEqual((first["Idempotency-Key"], second["Idempotency-Key"]), ('"8841"', '"8841"'))

    def test_a_get_with_an_unknown_outcome_is_repeated(self):
        self.upstream.on("/n", Close(), answer(200, "again"))
        self.assertEqual(self.relay.curl("/r/plain/n").body, b"again")

    def test_an_answer_cut_short_is_retried_as_long_as_nothing_was_passed_on(self):
        self.upstream.on(
            "/o", Close(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), answer(200, "the whole"))
        got = self.relay.curl("/r/plain/o")
        self.assertEqual(got.body, b"the whole")
        self.assert_timeline(self.relay, got, ("http_response_incomplete", "retry"), (200, None))

    def test_an_answer_that_nothing_would_mend_is_passed_on_as_it_comes(self):
        relay = self.new_relay({
            "none": route(self.upstream.url, recovery=[]), "other": route(self.upstream.url, recovery=[
                {"name": "stale", "on": ["429"], "retry": {"max_attempts": 2}}]),
            "mended": route(self.upstream.url, recovery=[
                {"name": "again", "on": ["connection", "http_response_incomplete"], "retry": {"max_attempts": 2}}])}).start()
        for name in "none", "other":
            with self.subTest(name):
                go_on = threading.Event()
                self.addCleanup(go_on.set)

                def halting(got):
                    got.connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
                    return go_on.wait(60) and b"rest"
                self.upstream.on("/slow", halting)
                with relay.caller() as caller:
                    caller.send(request("GET", f"/r/{name}/slow"))
                    self.assertEqual((caller.head()["Content-Length"], caller._exactly(4)), ("8", b"half"))
                    go_on.set()
                    self.assertEqual(caller._exactly(4), b"rest")
                self.upstream.on("/cut", Close(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf"))
                with relay.caller() as caller, self.assertRaises(Ended):
                    caller.ask("GET", f"/r/{name}/cut")
        self.upstream.on("/cut", Close(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf"), answer(200, "the whole"))
        self.assertEqual(relay.ask("GET", "/r/mended/cut").body, b"the whole")

    def test_the_status_document_counts_what_happened(self):
        relay = self.new_relay({"one": route(self.upstream.url)}).start()
        self.upstream.on("/p", answer(200), answer(500))
        relay.ask("GET", "/r/one/p")
        relay.ask("GET", "/r/one/p")
        one = relay.status()["routes"][0]
        self.assertEqual((one["requests"], one["succeeded"], one["failed"]), (2, 1, 1))
        self.assertEqual(one["last_failure"]["kind"], "http_status")


if __name__ == "__main__":
    unittest.main()
