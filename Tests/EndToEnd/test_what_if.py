"""The words of `waystation what-if` on every file of config/examples, held against the daemon on real sockets."""

import json
import pathlib
import subprocess
import time
import unittest

from examples import FOLDER, ExampleTest, document, names
from relay import daemon
from upstream import Close, answer, as_json

COMMAND = pathlib.Path(daemon()).with_name("waystation")
# An upstream with TLS of its own, and a database: the tests of these examples have them. What is foretold of a route holds
# while it is open, and the example of planned windows is closed for most of the week.
ELSEWHERE = "pins", "fleet", "closed"
# Milliseconds that a machine with much to do may take besides.
SLACK = 1500
SERIES = ["503x*"], ["resetx*"], ["500", "503", "ok"], ["404"], ["429,retry-after=1s", "ok"], ["503", "ok"]
GOOD = '{"status": {"code": 0}, "data": {"title": "Dune"}, "ok": true}'


class WhatIf(ExampleTest):
    def setUp(self):
        if not COMMAND.exists():
            self.skipTest("the command is not built")
        super().setUp()

    def told(self, file, route, series):
        done = subprocess.run(
            [COMMAND, "what-if", "--config", file, "-o", "json", route, *series],
            capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), (route, series, done.stdout))
        return json.loads(done.stdout)

    def test_a_route_that_looks_into_the_body_finds_what_it_asks_by_or_is_told_the_body(self):
        file = FOLDER / "verify.json"
        content = pathlib.Path(self.new_relay({}).directory / "content.json")
        content.write_text('{"reference": "a-1"}')
        for body in [], ["--body", '{"reference":"a-1"}'], ["--body", str(content)]:
            told = self.told(file, "billing", ["reset", "ok", "--method", "POST", *body])
            attempts = told["shortest"]["request"]["attempts"]
            self.assertEqual([each.get("look_up") for each in attempts[:2]], [None, "unclear"], told)
        told = self.told(file, "billing", ["reset", "ok", "--body", '{"other":1}'])
        self.assertEqual(told["method"], "POST")
        self.assertIn("the upstream cannot be asked", json.dumps(told["shortest"]))
        self.assertNotIn("look_up", json.dumps(told["shortest"]))

    def script(self, series):
        """The series as steps of an upstream, of which the last repeats."""
        steps = []
        for word in series:
            head, *more = word.split(",")
            head, _, times = head.partition("x")
            fields = [("Retry-After", part.split("=")[1].rstrip("s")) for part in more]
            step = Close() if head == "reset" else as_json(200, GOOD) if head == "ok" else \
                answer(int(head), b"", *fields)
            steps += [step] * (1 if times in ("", "*") else int(times))
        return steps

    def run_one(self, relay, route, series, told):
        """Runs the series on real sockets, and holds what came of it against what was told."""
        for upstream in self.first, self.second:
            upstream.forget()
        steps = self.script(series)
        turns = {"count": 0}

        def step(request):
            turns["count"] += 1
            return steps[min(turns["count"], len(steps)) - 1]
        for upstream in self.first, self.second:
            upstream.on("/", step)
            upstream.on("/token", as_json(200, '{"access_token": "t", "token_type": "Bearer"}'))
        began = time.monotonic()
        method, body = told["method"], b"{}" if told["method"] == "POST" else None
        fields = [("Content-Type", "application/json")] if body else []
        if told["durable"]:
            fields.append(("Prefer", "respond-async, wait=9"))
        got = relay.ask(method, f"/r/{route}/", fields, body)
        taken = (time.monotonic() - began) * 1000
        least, most = told["shortest"], told["longest"]
        job = relay.job(got)
        case = (route, series, got, job)
        wanted = least.get("job" if told["durable"] else "request")
        longest = most.get("job" if told["durable"] else "request")
        tried = job["attempts"]
        self.assertEqual(
            [(each.get("status"), each.get("kind"), each.get("rule"), each.get("next"), each["upstream"])
             for each in tried],
            [(each.get("status"), each.get("kind"), each.get("rule"), each.get("next"), each["upstream"])
             for each in wanted["attempts"]], case)
        for each, low, high in zip(tried, wanted["attempts"], longest["attempts"]):
            if "wait_ms" in low:
                self.assertTrue(low["wait_ms"] - 1 <= each["wait_ms"] <= high["wait_ms"] + 1, case)
        if told["durable"]:
            self.assertEqual((job["state"], job.get("end")), (wanted["state"], wanted.get("end")), case)
        else:
            caller = least["caller"]
            self.assertEqual(
                (got.status, got["Waystation-Source"], got["Waystation-Outcome"]),
                (caller["status"], caller["source"], caller["outcome"]), case)
            if "code" in caller:
                problem = got.json()
                detail = problem["detail"]
                for at, upstream in enumerate((self.first, self.second), 1):
                    detail = detail.replace(upstream.url.rstrip("/"), f"http://127.0.0.1:900{at}")
                self.assertEqual((problem["code"], detail), (caller["code"], caller["detail"]), case)
        self.assertTrue(least["length_ms"] - 1 <= taken <= most["length_ms"] + SLACK, (taken, case))

    def check(self, name):
        for route in document(name)["routes"]:
            ran = []
            for series in SERIES:
                told = self.told(FOLDER / f"{name}.json", route, series)
                if not told["one_course"] or told["longest"]["length_ms"] > 4000 or not self.is_over(told):
                    continue
                # Each case has a daemon of its own: a route knows what another has taught it.
                relay = self.example(name)
                with self.subTest(route=route, series=series):
                    self.run_one(relay, route, series, told)
                relay.stop()
                ran.append(series)
            self.assertGreater(len(ran), 1, (name, route))

    def is_over(self, told):
        """Whether it comes to an end that a test can wait for; a request that is kept goes on for days."""
        if "job" not in told["shortest"]:
            return True
        return told["durable"] and told["shortest"]["job"]["state"] in ("succeeded", "dead")


def of(name):
    def test(self):
        self.check(name)
    return test


for each in names():
    if each not in ELSEWHERE:
        setattr(WhatIf, f"test_{each.replace('-', '_')}_does_what_was_told", of(each))

if __name__ == "__main__":
    unittest.main()
