"""The words of `waystation what-if` on every file of config/examples, held against the daemon on real sockets."""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import time
import unittest

from examples import FOLDER, SECRETS, ExampleTest, document, names, replaced
from relay import IS_TIMED, daemon
from upstream import Close, answer, as_json

COMMAND = pathlib.Path(daemon()).with_name("waystation")
# An upstream with TLS of its own, and a database: the tests of these examples have them.
ELSEWHERE = "pins", "fleet"
# Milliseconds that a machine with much to do may take besides, and those of a quiet one for a wait.
SLACK, GRAIN = 1500, 50
SERIES = [line.split() for line in """
    ok | 503x* | resetx* | 500x* | 404 | 500 503 ok | 503 ok | reset ok | 429,retry-after=1s ok | 503,retry-after=1s 503 ok
    401 ok | 401x* | 408 ok | 409 | 410 | 422 | 502 504 ok | 500 reset 503 ok | 429x2 ok | 503x2 404
""".replace("\n", "|").split("|") if line.strip()]
# Of routes that ask what became of a request.
ASKING = ["reset", "found"], ["500", "absent", "ok"], ["reset", "503", "found"], ["reset", "absent", "503", "ok"], ["404"]
GOOD = '{"status": {"code": 0}, "data": {"title": "Dune"}, "ok": true}'
ANSWERS = {"found": '{"data": ["imagined"]}', "absent": '{"data": []}'}


def last(step):
    """The answer as the last of its connection: a request that meets the end of a kept one goes out once more."""
    return Close(step.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))


class ByFolder(dict):
    """Steps for all that is asked below a folder."""

    def get(self, path):
        return super().get(f"/{path.split('/')[1]}/")


def with_copies(found, count):
    """The configuration with so many copies of each route and credential, each with a folder of its own at the upstreams."""
    def copy(value, number, names):
        if isinstance(value, list):
            return [copy(each, number, names) for each in value]
        if not isinstance(value, dict):
            return value
        made = {}
        for key, member in value.items():
            if key in ("url", "token_url") and isinstance(member, str):
                origin, path = member[:len("http://127.0.0.1:9001/")], member[len("http://127.0.0.1:9001/"):]
                member = f"{origin}c{number}/{path}"
            elif key in ("credential", "route") and member in names:
                member = f"{member}-{number}"
            made[key] = copy(member, number, names)
        return made

    made = {**found}
    for part in "credentials", "routes":
        if part in found:
            made[part] = {
                f"{name}-{number}": copy(each, number, [*found.get("credentials", {}), *found["routes"]])
                for name, each in found[part].items() for number in range(count)}
    return made


def forgetting(value):
    """The configuration with the most attempts that there may be, whatever it says."""
    if isinstance(value, list):
        return [forgetting(each) for each in value]
    if isinstance(value, dict):
        return {key: 40 if key == "max_attempts" else forgetting(each) for key, each in value.items()}
    return value


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

    def say(self, *words, status=0, **environment):
        done = subprocess.run(
            [COMMAND, *words], capture_output=True, text=True, timeout=60,
            env={"PATH": "/usr/bin:/bin", "WAYSTATION_CONTROL_SOCKET": "/nonexistent/control.sock", **environment})
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done.stdout + done.stderr

    def test_without_a_file_it_is_the_one_that_the_daemon_has_read(self):
        relay = self.example("backoff")
        for words, environment in (["--socket", relay.control], {}), ([], {"WAYSTATION_CONTROL_SOCKET": relay.control}):
            text = self.say("what-if", "search", "503", "ok", *words, **environment)
            self.assertIn("the caller gets 200 from the upstream", text)
            self.assertIn(str(relay.file), text)
        self.assertIn("none.sock", self.say("what-if", "search", "503", "--socket", "/nonexistent/none.sock", status=4))

    def test_a_word_that_says_nothing_is_named_with_its_place(self):
        for words, told in (["503", "ok", "503y"], 'word 3, "503y": no status'), (["503x0"], 'word 1, "503x0": x needs'), \
                (["ok", "found"], 'word 2, "found": it answers what a route with verify asks'):
            file = FOLDER / "backoff.json"
            self.assertIn(told, self.say("what-if", "--config", file, "search", *words, status=2))
        asking = ["what-if", "--config", FOLDER / "verify.json", "billing"]
        self.assertIn('word 1, "found": it answers a question (verify)', self.say(*asking, "found", status=2))
        self.assertIn("the caller gets 200 from verified", self.say(*asking, "reset", "found"))

    def test_a_planned_window_is_kept_at_the_moment_that_is_named(self):
        words = ["what-if", "--config", FOLDER / "closed.json", "nightly", "ok"]
        night, day = ["--at", "2026-12-01T22:30:00Z"], ["--at", "2026-12-01T12:30:00Z"]
        text = self.say(*words, *night)
        self.assertIn("the caller gets 503 route_closed: the route is closed and opens in", text)
        self.assertIn("Retry-After: 6h", text)
        self.assertRegex(text, r"in a planned window \(closed\) that ends\s+at 2026-12-02T05:00:00.000Z")
        text = self.say(*words, *night, "--durable")
        self.assertIn("the route is closed until 2026-12-02T05:00:00.000Z, as planned: the job waits", text)
        self.assertIn("the job has succeeded", text)
        self.assertIn("the caller gets 200 from the upstream", self.say(*words, *day))
        self.assertRegex(self.say(*words, *day), r"next\s+begins\s+at\s+2026-12-01T21:00:00.000Z")
        self.say(*words, "--at", "soon", status=2)
        worst = self.say("check", FOLDER / "closed.json")
        self.assertIn("come on top of a kept job's time: up to", worst)
        self.assertIn("16h 0m (nightly)", worst)

    def script(self, series, isAsking):
        """The series as steps of an upstream, of which the last repeats."""
        steps = []
        for word in series:
            head, *more = word.split(",")
            head, _, times = head.partition("x")
            fields = [("Retry-After", part.split("=")[1].rstrip("s")) for part in more]
            step = Close() if head == "reset" else as_json(200, ANSWERS[head]) if head in ANSWERS else \
                as_json(200, "{}" if isAsking else GOOD) if head == "ok" else answer(int(head), b"", *fields)
            steps += [step] * (1 if times in ("", "*") else int(times))
        return steps

    def start(self, name, count):
        """The daemon of the example with so many copies of its routes."""
        relay = self.new_relay({})
        for secret, text in SECRETS.items():
            relay.secret(secret, text)
        relay.environment["CREDENTIALS_DIRECTORY"] = str(relay.directory)
        for upstream in self.first, self.second:
            upstream.steps = ByFolder()
        relay.write(None, json.dumps(replaced(with_copies(document(name), count), {
            "http://127.0.0.1:9001/": self.first.url, "http://127.0.0.1:9002/": self.second.url,
            "/tmp/relay/": f"{relay.directory}/"})))
        return relay.start()

    def run_one(self, relay, route, number, series, told, isAsking=False):
        """Runs the series on real sockets, and holds what came of it against what was told."""
        steps, turns = self.script(series, isAsking), {"count": 0}

        def step(request):
            if request.path.endswith("/token"):
                return last(as_json(200, '{"access_token": "t", "token_type": "Bearer"}'))
            turns["count"] += 1
            found = steps[min(turns["count"], len(steps)) - 1]
            return last(found) if isinstance(found, bytes) else found
        for upstream in self.first, self.second:
            upstream.on(f"/c{number}/", step)
        began = time.monotonic()
        method, body = told["method"], b'{"reference": "imagined"}' if told["method"] == "POST" else None
        fields = [("Content-Type", "application/json")] if body else []
        if told["durable"]:
            fields.append(("Prefer", "respond-async, wait=9"))
        got = relay.ask(method, f"/r/{route}-{number}/", fields, body)
        taken = (time.monotonic() - began) * 1000
        least, most = told["shortest"], told["longest"]
        if got.status == 202 and told["durable"]:
            # It waits for a planned window to end.
            self.assertGreater(least["length_ms"], 9000, (route, series, got))
            return
        job = relay.job(got)
        case = (route, series, got, job)
        wanted = least.get("job" if told["durable"] else "request")
        longest = most.get("job" if told["durable"] else "request")
        tried = job["attempts"]

        def decided(attempts):
            return [tuple(each.get(name) for name in ("status", "kind", "rule", "next", "look_up", "upstream"))
                    for each in attempts]
        self.assertEqual(decided(tried), decided(wanted["attempts"]), case)
        for each, after, low, high in zip(tried, [*tried[1:], None], wanted["attempts"], longest["attempts"]):
            if "wait_ms" not in low:
                continue
            self.assertTrue(low["wait_ms"] - 1 <= each["wait_ms"] <= high["wait_ms"] + 1, case)
            apart = after["started_after_ms"] - each["started_after_ms"]
            waited = apart - each.get("duration_ms", 0)
            self.assertGreaterEqual(apart, low["wait_ms"] - GRAIN, case)
            self.assertLessEqual(waited, high["wait_ms"] + (GRAIN if IS_TIMED else SLACK), case)
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
                # The rest of a planned window grows less.
                detail, foretold = (re.sub("opens in .*", "opens", text) for text in (detail, caller["detail"]))
                self.assertEqual((problem["code"], detail), (caller["code"], foretold), case)
        self.assertTrue(least["length_ms"] - 1 <= taken <= most["length_ms"] + SLACK, (taken, case))

    def check(self, name):
        routes, cases = document(name)["routes"], []
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            tells = [(route, series, "verify" in rules, pool.submit(self.told, FOLDER / f"{name}.json", route, series))
                     for route, rules in routes.items()
                     for series in [*SERIES, *(ASKING if "verify" in rules else ())]]
        for route, series, isAsking, tell in tells:
            told = tell.result()
            isShort = told["longest"]["length_ms"] <= 4000 and self.is_over(told)
            if told["one_course"] and (isShort or "closed_until" in told):
                cases.append((route, series, told, isAsking))
        for route in routes:
            self.assertGreater(sum(each[0] == route for each in cases), 1, (name, route))
        # A route knows what a case has taught it, so that each case has its own.
        relay = self.start(name, len(tells))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            runs = [pool.submit(self.run_one, relay, route, number, series, told, isAsking)
                    for number, (route, series, told, isAsking) in enumerate(cases)]
        for run in runs:
            with self.subTest(name):
                run.result()

    def test_a_machine_that_forgets_how_often_it_may_try_is_found(self):
        file = self.new_relay({}).directory / "forgetting.json"
        file.write_text(json.dumps(forgetting(document("quick-recovery"))))
        route = next(iter(document("quick-recovery")["routes"]))
        for path, isRight in (FOLDER / "quick-recovery.json", True), (file, False):
            relay = self.start("quick-recovery", 1)
            told = self.told(path, route, ["500x*"])
            if isRight:
                self.run_one(relay, route, 0, ["500x*"], told)
            else:
                with self.assertRaises(AssertionError):
                    self.run_one(relay, route, 0, ["500x*"], told)
            relay.stop()

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
