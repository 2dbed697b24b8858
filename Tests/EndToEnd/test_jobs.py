"""JSON jobs and the API's other resources."""

import base64
import json
import pathlib
import re
import unittest

from caller import ask
from relay import RelayTest, route
from upstream import answer, as_json

MANUAL = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "man" / "waystationd-api.7"


class Jobs(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.shared_upstream()
        cls.relay = cls.shared_relay({"up": route(cls.upstream.url, recovery=[
            {"name": "again", "on": ["5xx"], "retry": {"backoff": {"type": "constant", "base_interval": "5ms"}}}])}).start()

    def setUp(self):
        self.upstream.forget()
        self.upstream.on("/echo", lambda got: answer(200, got.body, ("Content-Type", got["Content-Type"] or "none")))

    def post(self, job, *fields):
        body = job if isinstance(job, bytes) else json.dumps(job).encode()
        return self.relay.ask("POST", "/v1/jobs", [("Content-Type", "application/json"), *fields], body)

    def test_a_json_job_may_have_labels_which_stay_with_its_record(self):
        got = self.post({"route": "up", "request": {"method": "GET", "path": "/echo"},
                         "options": {"labels": {"order": "8841", "shop": "a=b"}}})
        self.assertEqual(got.json()["labels"], ["order=8841", "shop=a=b"], got)
        self.assertIsNone(self.upstream.requests[-1]["Waystation-Label"])
        wrong = self.post({"route": "up", "options": {"labels": {"a": "x\ny"}}})
        self.assertEqual((wrong.status, wrong.json()["errors"][0]["pointer"]), (422, "/options/labels/a"), wrong)

    def test_a_json_job_is_answered_when_it_is_done(self):
        self.upstream.on("/orders", answer(500), as_json(200, '{"id":7}', ("X-Own", "1")))
        got = self.post({"route": "up", "request": {
            "method": "PUT", "path": "/orders", "query": {"a b": "1&2"}, "headers": {"X-Mine": "m"}, "json": {"n": [1, None]}}})
        self.assertEqual(got.status, 200, got)
        job = got.json()
        self.assertEqual((job["state"], job["outcome"], job["route"], job["status"]), ("succeeded", "success", "up", 200))
        self.assertEqual([a["status"] for a in job["attempts"]], [500, 200])
        self.assertEqual(job["response"]["status"], 200)
        self.assertEqual(job["response"]["body"]["json"], {"id": 7})
        self.assertIn(["X-Own", "1"], job["response"]["headers"])
        seen = self.upstream.requests[-1]
        self.assertEqual((seen.method, seen.target, seen["X-Mine"]), ("PUT", "/orders?a%20b=1%262", "m"))
        self.assertEqual((json.loads(seen.body), seen["Content-Type"]), ({"n": [1, None]}, "application/json"))
        again = self.relay.ask("GET", f"/v1/jobs/{job['id']}").json()
        self.assertEqual((again["id"], again["attempts"]), (job["id"], job["attempts"]))

    def test_a_body_may_be_text_or_base_64(self):
        raw = bytes(range(256))
        for body, sent in ({"text": "grüße\n"}, "grüße\n".encode()), ({"base64": base64.b64encode(raw).decode()}, raw):
            job = self.post({"route": "up", "request": {"path": "/echo", **body}}).json()
            self.assertEqual(self.upstream.requests[-1].body, sent)
            shown = job["response"]["body"]
            self.assertEqual(shown["size"], len(sent))
            self.assertEqual(shown.get("text", "").encode() or base64.b64decode(shown["base64"]), sent)

    def test_a_job_that_fails_tells_so(self):
        self.upstream.on("/bad", answer(404, "no such order"))
        job = self.post({"route": "up", "request": {"path": "/bad", "method": "GET"}}).json()
        self.assertEqual((job["state"], job["outcome"], job["last_failure"]["kind"]), ("dead", "failure", "http_status"))
        self.assertEqual(job["response"]["body"]["text"], "no such order")

    def test_options_are_obeyed(self):
        self.upstream.on("/bad", answer(500))
        job = self.post({"route": "up", "request": {"path": "/bad"}, "options": {"max_attempts": 1}}).json()
        self.assertEqual(len(job["attempts"]), 1)

    def test_every_fault_of_a_job_is_told_with_its_place(self):
        got = self.post({"rout": "up", "request": {"pth": "/x", "method": "G T", "headers": {"Host": "evil", "X": "a\r\nb"}},
                         "options": {"timeout": "5", "max_attempts": 0, "a/b~c": 1}})
        problem = self.assert_problem(got, 422, "invalid_job")
        errors = {error["pointer"]: error for error in problem["errors"]}
        self.assertEqual(set(errors), {
            "/rout", "/route", "/request/pth", "/request/method", "/request/headers/Host", "/request/headers/X",
            "/options/timeout", "/options/max_attempts", "/options/a~1b~0c"})
        self.assertIn('"route"', errors["/rout"]["hint"])
        self.assertIn('"path"', errors["/request/pth"]["hint"])
        self.assertEqual(self.upstream.requests, [])

    def test_what_stands_in_the_wrong_object_is_told_its_place(self):
        for job, hints in [
            ({"method": "GET", "path": "/x", "query": {}, "json": 1, "timeout": "5s", "labels": {}, "body": "x"},
             {"/method": "/request/method", "/path": "/request/path", "/query": "/request/query",
              "/json": "/request/json", "/timeout": "/options/timeout", "/labels": "/options/labels",
              "/body": "json, text or base64"}),
            ({"request": {"body": "x", "data": 1, "url": "http://x/", "max_attempts": 2, "route": "up", "methd": "GET"}},
             {"/request/body": "json, text or base64", "/request/data": "json, text or base64", "/request/url": "use path",
              "/request/max_attempts": "/options/max_attempts", "/request/route": '"/route"',
              "/request/methd": '"method"'}),
        ]:
            problem = self.assert_problem(self.post({"route": "up", **job}), 422, "invalid_job")
            errors = {error["pointer"]: error["hint"] for error in problem["errors"]}
            self.assertEqual(set(errors), set(hints))
            for pointer, hint in hints.items():
                self.assertIn(hint, errors[pointer])
        self.assertEqual(self.upstream.requests, [])

    def test_the_manual_shows_a_job_that_works_and_names_every_member_of_its_document(self):
        text = MANUAL.read_text().split(".Sh JOBS AS DOCUMENTS")[1].split(".Sh ACTIONS")[0]
        shown = json.loads(re.search(r"^\.Bd -literal\n(.*?)^\.Ed", text, re.M | re.S)[1])
        self.upstream.on("/charges", answer(500), answer(404, "none"))
        job = self.post({**shown, "route": "up"}, ("Waystation-Label", "a=b")).json()
        self.assertEqual([each["status"] for each in job["attempts"]], [500, 404])
        self.assertEqual(self.upstream.requests[-1].target, "/charges?notify=yes")
        self.upstream.on("/charges", answer(500), answer(404, "none"))
        kept = self.post({**shown, "route": "up", "mode": "async"}, ("Prefer", "wait=5"), ("Waystation-Label", "a=b")).json()
        self.assertEqual(kept["end"], "exhausted", kept)
        names = {name for each in (job, kept) for part in (each, *each["attempts"], each["response"],
                                                           each["response"]["body"], each["request"]) for name in part}
        names |= {name for part in ("links", "last_failure", "client") for name in kept[part]}
        self.assertEqual([name for name in sorted(names) if not re.search(rf"\b{name}\b", text)], [])

    def test_a_query_follows_the_one_the_path_has(self):
        for path, query, target in [("/echo?a=1", {"b": "2"}, "/echo?a=1&b=2"), ("echo", {"b": "?"}, "/echo?b=%3F")]:
            self.post({"route": "up", "request": {"path": path, "query": query}})
            self.assertEqual(self.upstream.requests[-1].target, target)

    def test_a_job_without_a_method_is_a_post(self):
        self.post({"route": "up", "request": {"path": "/echo"}})
        self.assertEqual(self.upstream.requests[-1].method, "POST")

    def test_malformed_jobs_are_refused(self):
        for body, status, code in [
            (b"", 422, "invalid_job"), (b"{", 422, "invalid_job"), (b"[]", 422, "invalid_job"), (b"null", 422, "invalid_job"),
            (b'{"route":"up","route":"up"}', 422, "invalid_job"), (b'{"route":1}', 422, "invalid_job"),
            (b'{"route":"up","request":[]}', 422, "invalid_job"), (b"[" * 10_000, 422, "invalid_job"),
            (b'{"route":"up\xff"}', 422, "invalid_job"), (b'{"route":"none"}', 404, "route_not_found"),
            (b'{"route":"up","request":{"base64":"a"}}', 422, "invalid_job"),
            (b'{"route":"up","request":{"json":1,"text":"a"}}', 422, "invalid_job"),
            (b'{"route":"up","mode":"later"}', 422, "invalid_job"),
            (b'{"route":"up","options":{"delay":"1"}}', 422, "invalid_job"),
            (b" " * (1 << 20) + b"{}", 413, "content_too_large"),
        ]:
            with self.subTest(body[:40]):
                self.assert_problem(self.post(body), status, code)
        for path in "/a/../b", "/a%2f..%2fb", "/%2e%2e/x", "/a b", "/a\nb", "/\x00", "/é":
            with self.subTest(path):
                self.assert_problem(self.post({"route": "up", "request": {"path": path}}), 422, "invalid_job")
        # Whether these are good is the route's to say.
        for path in "//b", "http://evil/":
            with self.subTest(path):
                self.assert_problem(self.post({"route": "up", "request": {"path": path}}), 400, "bad_target")
        self.assertEqual(self.upstream.requests, [])

    def test_a_job_of_another_type_is_refused(self):
        got = self.relay.ask("POST", "/v1/jobs", [("Content-Type", "text/xml")], b"<job/>")
        self.assert_problem(got, 415, "unsupported_media_type")

    def test_a_job_that_is_not_known_is_404(self):
        for identifier in "0" * 26, "x" * 26, "short":
            self.assert_problem(self.relay.ask("GET", "/v1/jobs/" + identifier), 404, "job_not_found")
        for path in "/v1/job", "/v2/jobs":
            self.assert_problem(self.relay.ask("GET", path), 404, "path_not_found")

    def test_version_and_health_are_told(self):
        self.assertEqual(self.relay.ask("GET", "/v1/version").json()["name"], "waystationd")
        self.assertEqual(self.relay.ask("GET", "/v1/health/live").json(), {"status": "live"})
        self.assertEqual(self.relay.ask("GET", "/v1/health/ready").json(), {"status": "ready"})

    def test_the_jobs_socket_may_neither_see_the_status_nor_reload(self):
        self.assert_problem(self.relay.ask("GET", "/v1/status"), 403, "not_allowed")
        self.assert_problem(self.relay.ask("POST", "/v1/reload"), 403, "not_allowed")
        self.assertEqual(ask(self.relay.control, "GET", "/v1/status").status, 200)

    def test_the_control_socket_may_use_routes_and_see_every_job(self):
        got = self.relay.ask("GET", "/r/up/echo")
        self.assertEqual(ask(self.relay.control, "GET", f"/v1/jobs/{got['Waystation-Job']}").status, 200)
        self.assertEqual(ask(self.relay.control, "GET", "/r/up/echo").status, 200)


if __name__ == "__main__":
    unittest.main()
