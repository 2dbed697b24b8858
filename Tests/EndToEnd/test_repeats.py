"""How often an upstream sees a POST without a key: once, unless it said that it did not carry it out."""

import json
import pathlib
import subprocess
import unittest

from caller import ask
from durable import DurableTest, FINISHED, kept
from relay import UNBOUNDED, daemon, eventually, route
from upstream import Close, answer, as_json

COMMAND = pathlib.Path(daemon()).with_name("waystation")

QUICK = {"type": "constant", "base_interval": "5ms"}
ANY = ["any"]
RULES = {
    "none": [],
    "retry": [{"name": "again", "on": ANY, "retry": {"max_attempts": 3, "backoff": QUICK}}],
    "failover": [{"name": "other", "on": ANY, "failover": {"upstream": "spare"}}],
    "refresh": [{"name": "renew", "on": ANY, "refresh_credentials": {"max_times": 1}}],
    "all": [
        {"name": "renew", "on": ANY, "refresh_credentials": {"max_times": 1}},
        {"name": "again", "on": ANY, "retry": {"max_attempts": 3, "backoff": QUICK}},
        {"name": "other", "on": ANY, "failover": {"upstream": "spare"}}],
    "retry-any": [{"name": "again", "on": ANY, "retry": {"max_attempts": 3, "methods": "any", "backoff": QUICK}}],
    "failover-any": [{"name": "other", "on": ANY, "failover": {"upstream": "spare", "methods": "any"}}],
}
WAYS = ["waiting", "streamed", "kept"]
BAD = '{"error": "no"}'


def silent(request):
    """Answers nothing until the relay gives up."""
    request.connection.wait_for_end()


# The upstream's step at every attempt, and the verdict that it gives on the request.
FAILURES = {
    "silent": (silent, "unknown"),
    "cut": (Close(), "unknown"),
    "cut-in-the-head": (Close(b"HTTP/1.1 200 OK\r\nConte"), "unknown"),
    "cut-in-the-body": (Close(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), "unknown"),
    "garbage": (Close(b"nothing of HTTP\r\n\r\n"), "unknown"),
    "302": (answer(302, "", ("Location", "/elsewhere")), "answered"),
    "500": (answer(500, "oh"), "answered"),
    "502": (answer(502), "answered"),
    "503": (answer(503), "answered"),
    "504": (answer(504), "answered"),
    "600": (answer(600), "unknown"),
    "error-in-200": (as_json(200, '{"code": 7}'), "answered"),
    "fails-validation": (as_json(200, BAD), "answered"),
    "no-json": (answer(200, "<p>", ("Content-Type", "application/json")), "answered"),
    "too-large": (as_json(200, "[" + " " * 3000 + "]"), "answered"),
    "400": (answer(400, "no"), "refused"),
    "401": (answer(401), "refused"),
    "409": (answer(409), "refused"),
    "429": (answer(429, "", ("Retry-After", "0")), "refused"),
    "503-with-retry-after": (answer(503, "", ("Retry-After", "0")), "refused"),
    "error-in-409": (as_json(409, '{"code": 7}'), "refused"),
}


class Repeats(DurableTest):
    def setUp(self):
        super().setUp()
        self.spare = self.new_upstream()
        self.upstream.on("/token", as_json(200, '{"access_token": "t", "token_type": "Bearer", "expires_in": 3600}'))
        self.relay = self.new_relay({})
        auth = {"type": "oauth2_client_credentials", "token_url": self.upstream.url + "token", "client_id": "shop",
                "client_secret": self.relay.secret("client", "s3cret"), "refresh_on_401": False}
        self.relay.write({
            name: route(
                self.upstream.url, {"name": "spare", "url": self.spare.url, "use": "failover_only"}, auth=auth,
                timeouts={"attempt": "800ms", "total": "20s"}, recovery=rules, delivery={"max_attempts": 10}, **UNBOUNDED,
                api_error={"require": ["/code"], "statuses": "any"},
                success={"require": [{"json": "/ok", "exists": True}], "inspect_limit": "1KiB"})
            for name, rules in RULES.items()})
        self.relay.start()

    def seen(self, path):
        return len(self.upstream.seen(path)) + len(self.spare.seen(path))

    def send(self, way, rule, path, *fields):
        """Sends one POST and gives its job's document, once it is over."""
        if way == "streamed":
            job = {"route": rule, "request": {"method": "POST", "path": path[1:], "text": "paid once",
                                              "headers": dict(fields)}}
            got = self.relay.ask("POST", "/v1/stream", [], json.dumps(job).encode() + b"\n")
            id = json.loads(got.body)["job"]
        elif way == "kept":
            id = self.hand_over(self.relay, f"/r/{rule}{path}", *fields)
        else:
            id = self.relay.ask("POST", f"/r/{rule}{path}", list(fields), b"paid once")["Waystation-Job"]
        last = {}

        def is_over():
            last.update(job=self.look(self.relay, id))
            return last["job"]["state"] in FINISHED
        eventually(is_over, f"{path} is over")
        return last["job"]

    def repeats(self, rule, verdict):
        if rule == "none":
            return False
        return rule.endswith("-any") or verdict == "refused"

    def check(self, way):
        for rule in RULES:
            for name, (step, verdict) in FAILURES.items():
                # Its job waits for a credential that the upstream takes.
                if way == "kept" and name == "401" and rule in ("refresh", "all"):
                    continue
                with self.subTest(rule=rule, failure=name):
                    path = f"/{way}-{rule}-{name}"
                    for upstream in self.upstream, self.spare:
                        upstream.on(path, step)
                    job = self.send(way, rule, path)
                    sent = [attempt["sent"] for attempt in job["attempts"]]
                    self.assertEqual(set(sent), {verdict}, job)
                    self.assertEqual(self.seen(path), len(sent), job)
                    self.assertEqual(len(sent) > 1, self.repeats(rule, verdict), job)
                    if way != "kept":
                        continue
                    ends = {"unknown": "outcome_unknown", "answered": "not_repeatable", "refused": "exhausted"}
                    self.assertEqual(job["end"], "exhausted" if rule.endswith("-any") else ends[verdict], job)
                    self.assertEqual(job["repeatable"], rule.endswith("-any"), job)

    def test_a_request_that_waits_is_seen_once_whatever_its_upstream_does(self):
        self.check("waiting")

    def test_a_job_of_a_stream_is_seen_once_whatever_its_upstream_does(self):
        self.check("streamed")

    def test_a_kept_job_is_seen_once_whatever_its_upstream_does(self):
        self.check("kept")

    def test_with_a_key_the_same_rules_send_again(self):
        for way in WAYS:
            for rule in "retry", "failover", "refresh", "all":
                for name in "cut", "500", "error-in-200":
                    with self.subTest(way=way, rule=rule, failure=name):
                        path = f"/keyed-{way}-{rule}-{name}"
                        for upstream in self.upstream, self.spare:
                            upstream.on(path, FAILURES[name][0])
                        self.send(way, rule, path, ("Idempotency-Key", f'"{way}-{rule}-{name}"'))
                        self.assertGreater(self.seen(path), 1)

    def test_a_304_that_was_asked_for_is_a_success_and_any_other_is_not(self):
        self.upstream.on("/cached", answer(304, "", ("ETag", '"a"'), length=False))
        got = self.relay.ask("GET", "/r/retry/cached", [("If-None-Match", '"a"')])
        self.assertEqual((got.status, got["Waystation-Outcome"], got["ETag"]), (304, "success", '"a"'), got)
        self.assertEqual(len(self.upstream.seen("/cached")), 1)
        got = self.relay.ask("GET", "/r/none/cached")
        self.assertEqual((got.status, got["Waystation-Outcome"]), (304, "failure"), got)

    def test_the_timeline_and_the_problem_say_why_it_was_not_sent_again(self):
        self.upstream.on("/gone", Close())
        got = self.relay.ask("POST", "/r/retry/gone", [], b"x")
        self.assertEqual((got.status, got.json()["sent"]), (502, "unknown"), got)
        self.upstream.on("/broken", answer(500))
        job = self.send("waiting", "retry", "/broken")
        held = job["attempts"][0]["held_back"]
        self.assertEqual([one["rule"] for one in held], ["again"], job)
        self.assertIn("may have been carried out", held[0]["reason"], job)

    def test_a_bulk_retry_leaves_alone_what_may_have_been_carried_out_until_it_is_told(self):
        ids = {}
        for name in "cut", "500", "400":
            self.upstream.on(f"/{name}", FAILURES[name][0])
            ids[name] = self.send("kept", "none", f"/{name}")["id"]
            self.upstream.on(f"/{name}", as_json(200, '{"ok": 1}'))

        def order(**members):
            order = {"action": "retry", "filter": {"state": ["dead"]}, **members}
            got = ask(self.relay.control, "POST", "/v1/jobs/actions", [], json.dumps(order).encode())
            self.assertEqual(got.status, 200, got)
            return {name: got.json()[name] for name in ("matched", "changed", "left_alone")}
        self.assertEqual(order(), {"matched": 3, "changed": 1, "left_alone": 2})
        self.assertEqual(order(dry_run=False), {"matched": 3, "changed": 1, "left_alone": 2})
        self.wait_for_end(self.relay, ids["400"])
        self.assertEqual({self.look(self.relay, ids[name])["state"] for name in ("cut", "500")}, {"dead"})
        told = subprocess.run(
            [COMMAND, "dead", "--socket", self.relay.control], capture_output=True, text=True, timeout=30)
        self.assertIn("may have been carried out: ask the upstream first", told.stdout, told)
        self.assertEqual(order(dry_run=False, unknown=True), {"matched": 2, "changed": 2, "left_alone": 0})
        for name in "cut", "500":
            self.wait_for_end(self.relay, ids[name])
            self.assertEqual(len(self.upstream.seen(f"/{name}")), 2)

    def test_a_bulk_retry_leaves_alone_what_was_cancelled_or_retried_in_doubt(self):
        relay = self.new_relay({"up": kept(self.upstream.url, recovery=[])}).start()
        self.upstream.on("/hangs", self.new_door())
        cancelled = self.hand_over(relay, "/r/up/hangs")
        eventually(lambda: self.seen("/hangs"), "the upstream has the request")
        self.act(relay, cancelled, "cancel")
        self.wait_for_end(relay, cancelled, "cancelled")
        self.upstream.on("/cut-then-refused", Close(), answer(400))
        refused = self.hand_over(relay, "/r/up/cut-then-refused")
        self.wait_for_end(relay, refused, "dead")
        self.act(relay, refused, "retry")
        eventually(lambda: self.seen("/cut-then-refused") == 2, "the retried job is sent")
        job = self.wait_for_end(relay, refused, "dead")
        self.assertEqual((job["end"], job["in_doubt"]), ("outcome_unknown", True), job)
        order = {"action": "retry", "filter": {}, "dry_run": False}
        got = ask(relay.control, "POST", "/v1/jobs/actions", [], json.dumps(order).encode()).json()
        self.assertEqual((got["matched"], got["changed"], got["left_alone"]), (2, 0, 2), got)


if __name__ == "__main__":
    unittest.main()
