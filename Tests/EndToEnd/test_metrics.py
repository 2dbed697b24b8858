"""The figures that the daemon tells Prometheus, and the hour it remembers."""

import os
import pathlib
import re
import subprocess
import threading
import unittest

from caller import Caller, ask, request
from durable import DurableTest, again, kept
from peers import free_ports
from relay import daemon, eventually, route
from upstream import answer

COMMAND = pathlib.Path(daemon()).with_name("waystation")
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def samples(text):
    """The samples of a text, by name and labels."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.match(line.split(" # ")[0]).groups()
        key = name, frozenset(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or ""))
        assert key not in found, f"{line} is there twice"
        found[key] = float(value)
    return found


class Metrics(DurableTest):
    def scrape(self, relay, **fields):
        got = ask(relay.control, "GET", "/metrics", fields.items())
        self.assertEqual(got.status, 200, got.body)
        return got

    def assert_value(self, relay, expected, name, **labels):
        """A text is given out for a moment after it was made."""
        eventually(lambda: self.value(relay, name, **labels) == expected, f"{name} {labels} is {expected}")

    def value(self, relay, name, **labels):
        return samples(self.scrape(relay).body.decode()).get((name, frozenset(labels.items())))

    def test_what_became_of_requests_and_attempts_is_counted(self):
        self.upstream.on("/good", answer(200))
        self.upstream.on("/bad", answer(503))
        relay = self.new_relay({
            "plain": route(self.upstream.url),
            "helped": route(self.upstream.url, recovery=[
                {"name": "again", "on": ["5xx"], "retry": {"max_attempts": 2, "schedule": ["1ms"]}},
                {"name": "stand", "on": ["any"], "respond": {"as": "placeholder", "status": 200, "json": {}}}]),
        }).start()
        for _ in range(3):
            relay.ask("GET", "/r/plain/good")
        relay.ask("GET", "/r/plain/bad")
        relay.ask("GET", "/r/helped/bad")
        relay.ask("GET", "/r/unknown/x")
        found = samples(self.scrape(relay).body.decode())

        def value(name, **labels):
            return found.get(("waystation_" + name, frozenset(labels.items())))

        self.assertEqual(value("requests_total", route="plain", outcome="success"), 3)
        self.assertEqual(value("requests_total", route="plain", outcome="failure"), 1)
        self.assertEqual(value("requests_total", route="helped", outcome="placeholder"), 1)
        self.assertEqual(value("request_duration_seconds_count", route="plain"), 4)
        self.assertEqual(value("request_duration_seconds_bucket", route="plain", le="+Inf"), 4)
        self.assertEqual(value("attempts_total", route="plain", upstream="u1", result="success", kind=""), 3)
        self.assertEqual(value("attempts_total", route="helped", upstream="u1", result="failure", kind="http_status"), 2)
        self.assertEqual(value("attempt_duration_seconds_count", route="helped", upstream="u1"), 2)
        self.assertEqual(value("recoveries_total", route="helped", rule="again", action="retry"), 1)
        self.assertEqual(value("recoveries_total", route="helped", rule="stand", action="respond"), 1)
        self.assertEqual(value("requests_rejected_total", route="", code="route_not_found"), 1)
        # The figures of the status are the same.
        plain = next(one for one in relay.status()["routes"] if one["name"] == "plain")
        self.assertEqual((plain["requests"], plain["succeeded"], plain["failed"]), (4, 3, 1))

    def test_kept_jobs_their_store_and_what_they_wait_for_are_told(self):
        self.upstream.on("/x", answer(500))
        relay = self.new_relay({"later": kept(self.upstream.url, recovery=[again(attempts=2)])}).start()
        self.assert_value(relay, 0, "waystation_jobs_finished_total", route="later", state="dead")
        for _ in range(2):
            self.wait_for_end(relay, self.hand_over(relay, "/r/later/x", method="PUT"), "dead")
        ask(relay.control, "POST", "/v1/routes/later/pause")
        self.hand_over(relay, "/r/later/x", method="PUT")
        eventually(
            lambda: self.value(relay, "waystation_jobs_waiting", route="later", reason="route_paused") == 1,
            "the job waits for the route")
        self.assert_value(relay, 1, "waystation_route_paused", route="later")
        self.assert_value(relay, 2, "waystation_jobs", route="later", state="dead")
        self.assert_value(relay, 2, "waystation_jobs_finished_total", route="later", state="dead")
        self.assert_value(relay, 3, "waystation_jobs_accepted_total", route="later")
        self.assert_value(relay, 2, "waystation_job_duration_seconds_count", route="later")
        self.assertGreater(self.value(relay, "waystation_oldest_job_timestamp_seconds", route="later"), 1.7e9)
        self.assertGreater(self.value(relay, "waystation_store_commit_duration_seconds_count"), 3)
        self.assert_value(relay, 1, "waystation_store_state", state="ok")

    def test_figures_outlive_a_reload_and_go_with_their_route(self):
        self.upstream.on("/good", answer(200))
        relay = self.new_relay({name: route(self.upstream.url) for name in ("stays", "goes")}).start()
        for name in ("stays", "goes"):
            relay.ask("GET", f"/r/{name}/good")
        relay.write({"stays": route(self.upstream.url, timeouts={"total": "20s"})})
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        relay.ask("GET", "/r/stays/good")
        labels = {"route": "stays", "upstream": "u1", "result": "success", "kind": ""}
        self.assert_value(relay, 2, "waystation_attempts_total", **labels)
        self.assertNotIn(b'"goes"', self.scrape(relay).body)
        self.assert_value(relay, 1, "waystation_config_reloads_total", result="success")
        relay.write(None, "{")
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 422)
        self.assert_value(relay, 1, "waystation_config_reloads_total", result="failure")
        self.assert_value(relay, 0, "waystation_config_last_reload_successful")

    def test_refusals_are_counted_from_nothing_on_and_go_with_their_route(self):
        rest = threading.Event()
        self.addCleanup(rest.set)
        self.upstream.on("/slow", lambda _: rest.wait(60) and answer(200))
        relay = self.new_relay({})
        relay.members["limits"] = {"memory": "16MiB"}
        one = route(self.upstream.url, concurrency={"max_requests": 1, "max_pending_requests": 1})
        relay.write({"one": one, "other": route(self.upstream.url)})
        relay.start()
        name = "waystation_requests_rejected_total"
        for labels in [{"route": "", "code": "overloaded"}, {"route": "one", "code": "rate_limited"}]:
            self.assert_value(relay, 0, name, **labels)
        # A caller that has gone while it waited was not refused; one for whom there was no room to wait was.
        first, second, third = (self.enterContext(Caller(relay.jobs)) for _ in range(3))
        first.send(request("GET", "/r/one/slow"))
        self.upstream.wait_for("/slow")
        second.send(request("GET", "/r/one/slow"))
        self.assert_value(relay, 1, "waystation_requests_waiting", route="one")
        third.send(request("GET", "/r/one/slow"))
        self.assert_problem(third.answer(), 503, "overloaded")
        second.close()
        self.assert_value(relay, 0, "waystation_requests_waiting", route="one")
        self.assert_value(relay, 1, name, route="one", code="overloaded")
        self.assert_value(relay, 1, "waystation_requests_total", route="one", outcome="cancelled")
        self.assertIsNone(self.value(relay, name, route="one", code="cancelled"))
        # Bodies for which there is no memory.
        crowd = [self.enterContext(Caller(relay.jobs)) for _ in range(12)]
        for caller in crowd:
            caller.send(request("POST", "/v1/jobs", [("Content-Length", "1000000")]) + b"{")
        eventually(lambda: (self.value(relay, name, route="", code="overloaded") or 0) > 0, "some have no room")
        # Nobody else is charged with the refusals of a route that has gone.
        before = self.value(relay, name, route="", code="overloaded")
        relay.write({"other": route(self.upstream.url)})
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        eventually(lambda: self.value(relay, name, route="one", code="overloaded") is None, "the route has gone")
        self.assertEqual(self.value(relay, name, route="", code="overloaded"), before)

    def test_a_listener_for_metrics_serves_nothing_else_and_others_not_them(self):
        self.upstream.on("/good", answer(200))
        [port] = free_ports(1)
        there = ("127.0.0.1", port)
        relay = self.new_relay({})
        relay.members["listeners"] = [
            {"name": "jobs", "unix": relay.jobs, "mode": "0666"},
            {"name": "control", "unix": relay.control, "mode": "0600", "role": "admin"},
            {"name": "prometheus", "tcp": f"127.0.0.1:{port}", "role": "metrics"}]
        relay.write({"plain": route(self.upstream.url)})
        relay.start()

        def asked(method, target, *fields):
            with Caller(there) as caller:
                caller.send(request(method, target, fields).replace(b"Host: relay.of.tests", b"Host: localhost"))
                return caller.answer(method)

        self.assertEqual(asked("GET", "/metrics").status, 200)
        self.assertEqual(asked("HEAD", "/metrics").status, 200)
        for method, path in [
                ("GET", "/v1/status"), ("GET", "/v1/version"), ("GET", "/v1/jobs"), ("POST", "/v1/jobs"),
                ("POST", "/v1/stream"), ("GET", "/v1/events"), ("POST", "/v1/reload"), ("GET", "/r/plain/good"),
                ("POST", "/r/plain/good"), ("GET", "/v1/health/live")]:
            self.assert_problem(asked(method, path), 403, "not_allowed")
        self.assertEqual(self.upstream.seen("/good"), [])
        self.assert_problem(relay.ask("GET", "/metrics"), 403, "not_allowed")
        self.assert_problem(asked("POST", "/metrics"), 405, "method_not_allowed")
        self.assert_problem(asked("GET", "/metrics?name=x"), 400, "bad_target")
        self.assert_problem(asked("GET", "/metrics", ("Origin", "http://evil.example")), 403, "not_allowed")

    def test_whoever_fills_a_port_for_metrics_keeps_nobody_out_but_there(self):
        self.upstream.on("/good", answer(200))
        metrics, jobs = free_ports(2)
        relay = self.new_relay({})
        relay.members["limits"] = {"max_connections": 40}
        relay.members["listeners"] = [
            {"name": "jobs", "unix": relay.jobs, "mode": "0666"},
            {"name": "port", "tcp": f"127.0.0.1:{jobs}"},
            {"name": "control", "unix": relay.control, "mode": "0600", "role": "admin"},
            {"name": "prometheus", "tcp": f"127.0.0.1:{metrics}", "role": "metrics"}]
        relay.write({"plain": route(self.upstream.url)})
        relay.start()
        wanted = request("GET", "/metrics").replace(b"Host: relay.of.tests", b"Host: localhost")
        crowd = [self.enterContext(Caller(("127.0.0.1", metrics))) for _ in range(33)]
        for caller in crowd[:32]:
            caller.send(wanted)
            self.assertEqual(caller.answer().status, 200)
        self.assert_problem(crowd[32].answer(), 503, "overloaded")
        for caller in (Caller(("127.0.0.1", jobs)), Caller(relay.jobs)):
            with caller:
                caller.send(request("GET", "/r/plain/good").replace(b"Host: relay.of.tests", b"Host: localhost"))
                self.assertEqual(caller.answer().status, 200)
        self.assert_value(relay, 32, "waystation_connections", listener="prometheus")
        crowd[0].close()
        crowd[32].close()

        def gets_in():
            with Caller(("127.0.0.1", metrics)) as caller:
                caller.send(wanted)
                return caller.answer().status == 200
        eventually(gets_in, "a place that was left is taken by the next")

    def test_openmetrics_has_the_trace_of_a_caller_and_the_command_prints_what_a_file_may_hold(self):
        self.upstream.on("/good", answer(200))
        relay = self.new_relay({"plain": route(self.upstream.url)}).start()
        relay.ask("GET", "/r/plain/good", [("traceparent", f"00-{TRACE}-00f067aa0ba902b7-01")])
        got = self.scrape(relay, Accept="application/openmetrics-text; version=1.0.0")
        self.assertTrue(got["Content-Type"].startswith("application/openmetrics-text"))
        self.assertTrue(got.body.endswith(b"# EOF\n"))
        self.assertIn(f'# {{trace_id="{TRACE}"}}'.encode(), got.body)
        self.assertNotIn(TRACE.encode(), self.scrape(relay).body)
        printed = subprocess.run(
            [COMMAND, "metrics", "--socket", relay.control], capture_output=True, text=True, timeout=30)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertIn("waystation_requests_total{", printed.stdout)
        self.assertNotIn("process_", printed.stdout)

    def test_the_hour_is_told_by_minutes_and_rules_tell_how_often_they_acted(self):
        self.upstream.on("/bad", answer(503))
        relay = self.new_relay({"helped": route(self.upstream.url, recovery=[
            {"name": "again", "on": ["5xx"], "retry": {"max_attempts": 3, "schedule": ["1ms"]}}])}).start()
        relay.ask("GET", "/r/helped/bad")
        found = ask(relay.control, "GET", "/v1/history?route=helped").json()
        self.assertEqual((found["interval_ms"], found["columns"]), (60_000, len(found["routes"][0]["requests"])))
        one = found["routes"][0]
        self.assertEqual((sum(one["requests"]), sum(one["failures"]), sum(one["attempts"])), (1, 1, 3))
        self.assertEqual(sum(one["failed_attempts"]), 3)
        self.assertEqual(one["causes"], [{"kind": "http_status", "status": 503, "counts": one["failed_attempts"]}])
        self.assertGreater(one["attempt_p99_ms"][-1], 0)
        self.assertEqual((one["in_flight"][-1], one["queued"][-1], one["marks"]), (1, 0, []))
        self.assertEqual(found["reloads"], [])
        for act in ("pause", "resume"):
            self.assertEqual(ask(relay.control, "POST", f"/v1/routes/helped/{act}").status, 200)
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        again = ask(relay.control, "GET", "/v1/history?route=helped").json()
        self.assertEqual((again["started_at"], len(again["reloads"])), (found["started_at"], 1), "the reload is told")
        self.assertEqual(sum(count or 0 for count in again["routes"][0]["requests"]), 1, "and it keeps the hour")
        marks = again["routes"][0]["marks"]
        self.assertEqual([mark["event"] for mark in marks], ["waystation.route.paused", "waystation.route.resumed"])
        self.assertEqual([mark["by"] for mark in marks], [{"uid": os.getuid()}] * 2)
        printed = subprocess.run([COMMAND, "routes", "helped", "--history", "--socket", relay.control],
                                 capture_output=True, text=True, timeout=30)
        self.assertIn("3 × http_status 503", printed.stdout, printed.stderr)
        self.assertIn("Paused by ", printed.stdout)
        self.assert_problem(
            ask(relay.control, "GET", "/v1/history?route=x"), 404, "route_not_found")
        self.assertEqual(
            ask(relay.control, "GET", "/v1/routes/helped").json()["rules"],
            [{"name": "again", "on": ["5xx"], "action": "retry", "max_attempts": 3, "acted": 2}])


if __name__ == "__main__":
    unittest.main()
