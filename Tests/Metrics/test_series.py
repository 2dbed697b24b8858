"""A route has few series, and what alerts and the board go by is there before anything has happened."""

import collections
import json
import os
import re
import subprocess
import threading
import unittest

import board
import exposed
import rules
from world import Watched, of_a_fleet

from relay import eventually, route
from upstream import Close, Upstream, answer

# The series of a route with one upstream before anything has happened.
AT_REST = {
    "waystation_requests_total": 6, "waystation_request_duration_seconds": 18, "waystation_requests_rejected_total": 3,
    "waystation_requests_in_flight": 1, "waystation_requests_waiting": 1, "waystation_route_permits": 1,
    "waystation_never_fails_breaches_total": 1, "waystation_recoveries_total": 1,
    "waystation_retry_budget_exhausted_total": 1, "waystation_retries_in_flight": 1, "waystation_retries_left": 1,
    "waystation_route_paused": 1, "waystation_attempts_total": 3, "waystation_upstream_failures_total": 1,
    "waystation_attempt_duration_seconds": 14, "waystation_upstream_connections_total": 2,
    "waystation_breaker_state": 6, "waystation_breaker_transitions_total": 2, "waystation_upstream_window": 1,
    "waystation_jobs": 9, "waystation_jobs_accepted_total": 1, "waystation_jobs_finished_total": 5}
# Those that come with the first time, whatever it was.
AFTERWARDS = {
    "waystation_retry_delay_seconds": 2, "waystation_upstream_connect_duration_seconds": 2,
    "waystation_permit_wait_seconds": 9, "waystation_job_start_delay_seconds": 9, "waystation_job_duration_seconds": 9,
    "waystation_oldest_job_timestamp_seconds": 1, "waystation_oldest_due_job_timestamp_seconds": 1,
    "waystation_upstream_held_until_timestamp_seconds": 1}
# Those that the route's configuration makes, of one with a credential, a limit of its rate and an upstream with TLS.
CONFIGURED = {
    "waystation_route_credential_info": 1, "waystation_route_credential_refused": 1,
    "waystation_rate_limit_turns_left": 1, "waystation_upstream_handshakes_total": 2}
# Metrics with a series for each thing that can happen.
OPEN = {
    "waystation_attempts_total", "waystation_requests_ordinary_total", "waystation_requests_promoted_total",
    "waystation_requests_rejected_total", "waystation_jobs_waiting", "waystation_recoveries_total"}
COUNTER = re.compile(r"\b(waystation_\w+_total|process_cpu_seconds_total)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')


def of_route(text, name="one"):
    """How many series each metric has for the route."""
    found = collections.Counter()
    for sample, labels, _, _ in exposed.samples(text):
        if labels.get("route") == name:
            found[re.sub("_(bucket|sum|count)$", "", sample)] += 1
    return dict(found)


def absent(expression, samples):
    """The selectors of counters for which some of their words have no series."""
    for name, matchers in COUNTER.findall(expression):
        # A series that is new is taken for an increase from nothing.
        if f"unless {name} offset" in expression or f"unless {name}{{" in expression and "offset" in expression:
            continue
        wanted = [(label, set(words.split("|"))) for label, operator, words in MATCHER.findall(matchers)
                  if operator in ("=", "=~") and "$" not in words]
        left_out = [(label, set(words.split("|"))) for label, operator, words in MATCHER.findall(matchers)
                    if operator in ("!=", "!~")]
        fitting = [labels for found, labels, _, _ in samples if found == name
                   and not any(labels.get(label, "") in words for label, words in left_out)]
        if not fitting or any(
                word not in {labels.get(label, "") for labels in fitting} for label, words in wanted for word in words):
            yield f"{name}{{{matchers}}}"


class Series(unittest.TestCase):
    maxDiff = None

    def new(self, **members):
        upstream = Upstream()
        self.addCleanup(upstream.close)
        relay = Watched({})
        self.addCleanup(relay.clean)
        relay.write({"one": route(upstream.url, **members)})
        return relay, upstream

    def test_a_route_at_rest_has_few(self):
        relay, _ = self.new()
        relay.start()
        self.assertEqual(of_route(relay.metrics()[1]), AT_REST)
        self.assertLessEqual(sum({**AT_REST, **CONFIGURED}.values()), 90)

    def test_counters_that_alerts_and_the_board_go_by_are_there_from_the_start(self):
        relay, upstream = self.new()
        relay.members["credentials"] = {"login": {
            "type": "oauth2_client_credentials", "token_url": upstream.url + "token", "client_id": "shop",
            "client_secret": relay.secret("client", "s3cret"), "allow_addresses": ["127.0.0.0/8"]}}
        relay.write({"one": route("https://localhost/", auth={"type": "bearer", "credential": "login"})})
        relay.start()
        samples = list(exposed.samples(of_a_fleet(self) + relay.metrics()[1]))
        document = rules.load()
        asked = [rule["expr"] for rule in [*rules.each(document), *rules.each(document, "record")]]
        asked += [board.plain(expression)[0] if "$" not in expression else expression
                  for _, expression, _ in board.targets(board.load())]
        self.assertGreater(sum(bool(COUNTER.search(expression)) for expression in asked), 30)
        self.assertEqual(sorted({lacking for expression in asked for lacking in absent(expression, samples)}), [])
        self.assertEqual(
            list(absent('increase(waystation_attempts_total{result="failure",kind="dns_error"}[5m])', samples)),
            ['waystation_attempts_total{result="failure",kind="dns_error"}'])

    def test_a_route_to_which_everything_has_happened_has_not_many(self):
        relay, upstream = self.new(
            concurrency={"max_requests": 1}, timeouts={"attempt": "500ms"}, recovery=[
                {"name": "again", "on": ["connection"], "retry": {"max_attempts": 2, "schedule": ["1ms"]}}])
        over = threading.Event()
        self.addCleanup(over.set)
        upstream.on("/good", answer(200, "good"))
        upstream.on("/bad", answer(503))
        upstream.on("/busy", answer(429, "", ("Retry-After", "60")))
        upstream.on("/gone", lambda _: Close())
        upstream.on("/garbage", lambda _: Close(b"no HTTP\r\n\r\n"))
        upstream.on("/cut", lambda _: Close(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"))
        upstream.on("/slow", lambda _: over.wait(2) and answer(200))
        relay.start()
        crowd = [threading.Thread(target=relay.ask, args=("GET", "/r/one/good")) for _ in range(8)]
        for thread in crowd:
            thread.start()
        for thread in crowd:
            thread.join()
        kept = [("Prefer", "respond-async")]
        self.assertEqual(relay.ask("POST", "/r/one/good", kept, b"x").status, 202)
        eventually(lambda: "waystation_job_duration_seconds" in of_route(relay.metrics()[1]), "the job is over")
        for path in ("bad", "garbage", "gone", "cut", "slow", "busy"):
            relay.ask("GET", f"/r/one/{path}")
        self.assertEqual(relay.command("pause", "one").returncode, 0)
        self.assertEqual(relay.ask("GET", "/r/one/good").status, 503)
        self.assertEqual(relay.ask("POST", "/r/one/good", kept, b"x").status, 202)
        eventually(lambda: "waystation_oldest_job_timestamp_seconds" in of_route(relay.metrics()[1]), "one job waits")
        text = relay.metrics()[1]
        found = of_route(text)
        closed = {name: count for name, count in found.items() if name not in OPEN}
        wanted = {name: count for name, count in {**AT_REST, **AFTERWARDS}.items() if name not in OPEN}
        self.assertEqual(closed, wanted)
        self.assertLessEqual(sum(found.values()), 180)
        self.assertGreaterEqual(found["waystation_attempts_total"], AT_REST["waystation_attempts_total"] + 5)
        # All that can come yet, but for codes of refusals: kinds of failures, without those of a followed operation, and
        # reasons that were not met, a rule that is not one of the route's, and the four states that a job may wait in.
        document = json.loads(subprocess.run(
            [os.environ["WAYSTATIOND"], "--openapi"], capture_output=True, check=True).stdout)
        kinds = set(document["components"]["schemas"]["Failure"]["properties"]["kind"]["examples"])
        self.assertLess({"operation_failed", "operation_lost", "follow_refused"}, kinds)
        kinds -= {"operation_failed", "operation_lost", "follow_refused"}
        met = {labels["kind"] for name, labels, *_ in exposed.samples(text)
               if name == "waystation_attempts_total" and labels["result"] == "failure"}
        self.assertLess(met, kinds)
        reasons = sum(len(re.findall(r"[.;] \w+: ", line)) for line in text.splitlines()
                      if re.match("# HELP waystation_requests_(ordinary|promoted)_total ", line))
        self.assertEqual(reasons, 19)
        most = sum({**AT_REST, **AFTERWARDS, **CONFIGURED}.values()) + len(kinds) - 2 + reasons + 1 + 4
        self.assertLessEqual(most, 180)


if __name__ == "__main__":
    unittest.main()
