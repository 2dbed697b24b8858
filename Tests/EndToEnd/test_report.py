"""Parts and rules whose mode is report: they tell what they would have done, and do not do it."""

import pathlib
import subprocess
import unittest

from caller import ask
from durable import DurableTest
from relay import UNBOUNDED, daemon, eventually, route
from upstream import answer

STAND_IN = {"name": "stand-in", "on": ["any"], "respond": {"as": "placeholder", "status": 200, "json": {"new": True}}}
BREAKER = {**UNBOUNDED, "circuit_breaker": {"consecutive_failures": 2, "break_duration": "600s", "max_break_duration": "600s"}}


def reporting(part):
    return {**part, "mode": "report"}


class Report(DurableTest):
    def metric(self, relay, name, by):
        text = ask(relay.control, "GET", "/metrics").body.decode()
        line = f'waystation_would_have_total{{route="{name}",rule="{by}"}} '
        return next((int(each[len(line):]) for each in text.splitlines() if each.startswith(line)), None)

    def say(self, relay, *words):
        command = pathlib.Path(daemon()).parent / "waystation"
        if not command.exists():
            self.skipTest("the command is not built")
        done = subprocess.run(
            [command, *words, "--socket", relay.control], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def held(self, relay, got):
        return [(each["rule"], each["reason"]) for each in relay.job(got)["attempts"][0].get("held_back", [])]

    def test_a_breaker_tells_and_sends_all_the_same(self):
        told = {**BREAKER, "circuit_breaker": reporting(BREAKER["circuit_breaker"])}
        relay = self.new_relay({
            "told": route(self.upstream.url, **told), "acts": route(self.upstream.url, **BREAKER)}).start()
        self.upstream.on("/told", *[answer(503)] * 5, answer(200, "fine"))
        self.upstream.on("/acts", answer(503))
        for name in "told", "acts":
            last = [relay.ask("GET", f"/r/{name}/{name}") for _ in range(5)][-1]
        self.assertEqual(last["Proxy-Status"].split("error=")[1].split(";")[0], "breaker_open")
        self.assertEqual((len(self.upstream.seen("/told")), len(self.upstream.seen("/acts"))), (5, 2))
        got = relay.ask("GET", "/r/told/told")
        self.assertEqual((got.status, got.body), (200, b"fine"))
        words = "would have held the attempt back, as the upstream fails (mode report)"
        self.assertEqual(self.held(relay, got), [("circuit_breaker", words)])
        self.assertIn(f"circuit_breaker {words}", self.say(relay, "explain", got["Waystation-Job"]))
        shown = ask(relay.control, "GET", "/v1/routes/told").json()
        self.assertEqual(shown["upstreams"][0]["breaker"], "would_be_open", shown)
        self.assertEqual(shown["reporting"], [{"name": "circuit_breaker", "would_have": 4}], shown)
        self.assertNotIn("reporting", ask(relay.control, "GET", "/v1/routes/acts").json())
        self.assertEqual((self.metric(relay, "told", "circuit_breaker"), self.metric(relay, "acts", "circuit_breaker")),
                         (4, None))
        for words in ("routes", "told"), ("limits", "told"):
            self.assertIn("circuit_breaker would have acted 4 times", self.say(relay, *words))
        relay.errors.wait("its circuit breaker would be open (mode report)")
        # Nothing is held back for the one that tells, and nobody is told so.
        troubles = {each["routes"][0]: each for each in ask(relay.control, "GET", "/v1/troubles").json()["troubles"]
                    if len(each["routes"]) == 1}
        self.assertEqual({each["name"]: each.get("reports_only") for each in relay.status()["routes"]},
                         {"told": ["circuit_breaker"], "acts": None})
        self.assertIn("Route told reports only: circuit_breaker", self.say(relay, "status"))
        for trouble in troubles.values():
            self.assertNotEqual("fail at once" in trouble["relay"], trouble["routes"] == ["told"], trouble)
        # An operator's word counts all the same.
        self.say(relay, "breaker", "told", "open")
        self.assert_problem(relay.ask("GET", "/r/told/told"), 503, "breaker_open")

    def test_a_rate_a_budget_and_a_rule_tell(self):
        again = {"name": "again", "on": ["503"], "retry": {
            "max_attempts": 3, "backoff": {"type": "constant", "base_interval": "1ms"}}}
        relay = self.new_relay({
            "rate": route(self.upstream.url, **{
                **UNBOUNDED, "rate_limit": {"max_requests": 1, "per": "1h", "mode": "report"}}),
            "budget": route(self.upstream.url, recovery=[again], **{
                **UNBOUNDED, "retry_budget": {"budget_percent": 0, "min_retry_concurrency": 0, "mode": "report"}}),
            "rule": route(self.upstream.url, recovery=[reporting(STAND_IN)], **UNBOUNDED)}).start()
        self.upstream.on("/x", *[answer(200, "x")] * 3)
        self.upstream.on("/y", answer(503), answer(503), answer(200, "y"))
        self.upstream.on("/z", answer(503, "as it is"))
        got = [relay.ask("GET", "/r/rate/x") for _ in range(3)]
        self.assertEqual([each.status for each in got], [200] * 3)
        self.assertEqual([each[0] for each in self.held(relay, got[2])], ["rate_limit"])
        got = relay.ask("GET", "/r/budget/y")
        self.assertEqual((got.status, got["Waystation-Attempts"]), (200, "3"))
        self.assertEqual([each[0] for each in self.held(relay, got)], ["retry_budget"])
        got = relay.ask("GET", "/r/rule/z")
        self.assertEqual((got.status, got.body, got["Waystation-Source"]), (503, b"as it is", "upstream"))
        self.assertEqual(self.held(relay, got), [("stand-in", "would have answered with the placeholder (mode report)")])
        self.assertEqual([self.metric(relay, *each) for each in (
            ("rate", "rate_limit"), ("budget", "retry_budget"), ("rule", "stand-in"))], [2, 2, 1])
        rules = ask(relay.control, "GET", "/v1/routes/rule").json()["rules"]
        self.assertEqual((rules[0]["reports"], rules[0]["acted"]), (True, 0), rules)

    def test_a_kept_job_is_told_of_too_and_delivered_by_the_rules_of_old(self):
        relay = self.new_relay({"r": route(
            self.upstream.url, recovery=[reporting({"name": "drop", "on": ["503"], "dead_letter": {}})])}).start()
        self.upstream.on("/k", answer(503), answer(200))
        job = self.hand_over(relay, "/r/r/k", method="PUT")
        told = self.wait_until(relay, job, state="retrying")
        held = told["attempts"][0]["held_back"]
        self.assertEqual(held, [{"rule": "drop", "reason": "would have given it up (mode report)"}], told)
        self.restart(relay)
        self.assertEqual(self.look(relay, job)["attempts"][0]["held_back"], held)
        self.act(relay, job, "retry")
        self.wait_for_end(relay, job)

    def test_shedding_tells_what_it_would_have_refused(self):
        relay = self.new_relay(
            {"up": route(self.upstream.url)}, limits={"shedding": {"mode": "report", "max_resident": "16MiB"}})
        self.upstream.on("/x", *[answer(200, "x")] * 20)
        relay.start()
        eventually(lambda: relay.status()["shedding"]["level"] == 3, "memory counts as short")
        for _ in range(3):
            self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)
        shedding = relay.status()["shedding"]
        self.assertEqual((shedding["refused"], shedding["would_have_refused"]), (0, 3), shedding)
        job = self.hand_over(relay, "/r/up/x")
        self.wait_for_end(relay, job)
        self.assertIn("waystation_shed_requests_would_have_total 4\n", ask(relay.control, "GET", "/metrics").body.decode())
        relay.errors.wait("new work would be refused (mode report)")


if __name__ == "__main__":
    unittest.main()
