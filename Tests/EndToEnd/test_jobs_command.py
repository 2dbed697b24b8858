"""The commands for jobs that are kept, beside the daemon that keeps them."""

import datetime
import json
import os
import pathlib
import pty
import pwd
import re
import subprocess
import time
import unittest

from caller import ask
from relay import RelayTest, daemon, eventually, route
from test_access import ask_as
from upstream import answer

COMMAND = pathlib.Path(daemon()).with_name("waystation")
ID = re.compile(r"^[0-9A-HJKMNP-TV-Z]{26}$")
AGAIN = [{"name": "later", "on": ["any"], "retry": {
    "max_attempts": 9, "backoff": {"type": "constant", "base_interval": "1h", "jitter": "none"}}}]


class JobsCommandTest(RelayTest):
    def setUp(self):
        if not COMMAND.exists():
            self.skipTest("the command is not built")
        self.upstream = self.new_upstream()
        self.relay = self.new_relay({
            "up": route(self.upstream.url, recovery=AGAIN), "once": route(self.upstream.url, recovery=[])}).start()
        self.upstream.on("/ok", *[answer(200, "fine\0\xff")] * 5)
        self.upstream.on("/bad", *[answer(503, "no", ("Retry-After", "1"))] * 50)
        self.environment = {
            **os.environ, "WAYSTATION_SOCKET": self.relay.jobs, "WAYSTATION_CONTROL_SOCKET": self.relay.control}

    def run_command(self, *words, code=0, **options):
        done = subprocess.run(
            [COMMAND, *map(str, words)], capture_output=True, timeout=30, env=self.environment,
            stdin=subprocess.DEVNULL, **options)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        self.errors = done.stderr.decode()
        return done.stdout.decode(errors="surrogateescape")

    def submit(self, route_name, path, *words):
        job = self.run_command("send", route_name, path, "--async", "-d", "hello", *words).rstrip("\n")
        self.assertRegex(job, ID)
        return job

    def state(self, job):
        return json.loads(self.run_command("jobs", "show", job, "-o", "json"))["state"]

    def dead(self, count):
        jobs = [self.submit("once", "bad") for _ in range(count)]
        for job in jobs:
            self.run_command("jobs", "watch", job, "--timeout", "15s", code=6)
        return jobs

    def test_a_list_says_what_its_jobs_wait_for_to_who_may_know(self):
        self.run_command("pause", "up")
        job = self.submit("up", "ok")
        self.assertRegex(self.run_command("jobs"), rf"{job} +up +queued +route_paused ")
        self.assertIn("waystation resume up", self.errors)
        # An action meets the jobs that the list shows.
        self.assertIn("1 job", self.run_command("jobs", "cancel", "--where", "reason=route_paused", "--dry-run"))
        self.assertIn(job, self.run_command("jobs", "--socket", self.relay.jobs))
        self.assertEqual(self.errors, "")
        self.assertIn("Did you mean \"once\"", self.run_command("jobs", "--route", "onec", code=3) + self.errors)
        self.run_command("jobs", "--failed-by", "http_statu")
        self.assertIn("did you mean \"http_status\"", self.errors)

    def test_all_jobs_of_a_route_can_be_dropped_when_it_is_gone(self):
        self.dead(2)
        self.submit("up", "bad")
        self.relay.write({"up": route(self.upstream.url, recovery=AGAIN)})
        self.run_command("reload")
        body = {"action": "drop", "filter": {"route": "once"}, "dry_run": False, "limit": 1}
        changed = []
        while len(changed) < 5 and body.get("cursor", "") is not None:
            got = ask(self.relay.control, "POST", "/v1/jobs/actions", [], json.dumps(body).encode())
            self.assertEqual(got.status, 200, got)
            changed.append(got.json()["changed"])
            body["cursor"] = got.json()["next"]
        self.assertEqual((sum(changed), body["cursor"]), (2, None), changed)
        self.run_command("jobs", "--route", "once", code=3)

    def test_a_job_is_handed_over_watched_and_explained(self):
        job = self.submit("up", "ok", "--label", "order=1", "--key", "k 1")
        self.assertRegex(self.run_command("jobs", "watch", job.lower()), r"attempt 1 → u1 200\n.*  succeeded\n$")
        self.assertEqual(self.submit("up", "ok", "--label", "order=1", "--key", "k 1"), job)
        self.assertEqual(self.run_command("cat", job), "hello")
        raw = subprocess.run([COMMAND, "cat", job, "--response"], capture_output=True, env=self.environment, timeout=20)
        whole = self.relay.ask("GET", f"/v1/jobs/{job}/response/body")
        self.assertEqual(raw.stdout, whole.body)
        self.assertRegex(self.run_command("cat", job, "--response", "--headers"), r"^HTTP/1\.1 200 OK\r\n")
        told = self.run_command("explain", job.lower())
        self.assertRegex(told, rf"^Job {job} · up · POST /ok · 5 B · from \S+ \(uid \d+\) · label order=1\n")
        self.assertIn("accepted      durable, with an idempotency key\n", told)
        self.assertRegex(told, r"attempt 1 .* 200 in .*\n.* succeeded: answered 200\n$")
        self.run_command("explain", job[:20], code=2)
        self.run_command("explain", "01K9ZQ3V7N4T0C8R5B2M6XW1HD", code=3)

    def test_the_last_answer_of_a_dead_job_is_printed_as_it_came(self):
        job = self.dead(1)[0]
        self.assertEqual(self.run_command("cat", job, "--response"), "no")
        whole = self.run_command("cat", job, "--response", "--headers")
        self.assertRegex(whole, r"(?s)^HTTP/1\.1 503 Service Unavailable\r\n.*\r\n\r\nno$")
        self.run_command("cat", "01K9ZQ3V7N4T0C8R5B2M6XW1HD", "--response", "--headers", code=3)

    def test_a_job_that_waits_says_why_and_what_to_do(self):
        job = self.submit("up", "bad")
        eventually(lambda: self.state(job) == "retrying", "the job waits for its second attempt")
        told = self.run_command("explain", job)
        self.assertRegex(told, r'attempt 1 .* 503 in .*\n +rule "later": retry in 1h 0m\n')
        self.assertRegex(told, r"next attempt  in (59m|1h)")
        self.assertIn("\nWhy it waits: backoff. ", told)
        self.assertIn(f"\nDo: to try at once: waystation jobs retry {job} ", told)
        self.run_command("jobs", "watch", job, "--timeout", "1s", code=7)
        self.assertIn("waystation explain " + job, self.errors)
        self.assertEqual(self.run_command("jobs", "hold", job), f"{job}  held (operator_hold)\n")
        self.assertIn(f"Do: when it may go on: waystation jobs release {job}", self.run_command("explain", job))
        self.run_command("jobs", "release", job)
        self.run_command("jobs", "retry", job)
        eventually(
            lambda: json.loads(self.run_command("jobs", "show", job, "-o", "json"))["attempt_count"] == 2,
            "it is sent again at once")
        self.assertRegex(self.run_command("jobs", "cancel", job), rf"^{job}  cancelled")
        self.assertEqual(self.run_command("jobs", "drop", job), f"{job}  dropped\n")
        self.run_command("jobs", "show", job, code=3)

    def test_what_operators_did_to_a_job_is_told_also_after_a_restart(self):
        operators = str(self.relay.directory / "operators.sock")
        self.relay.members["listeners"] = [
            {"name": "jobs", "unix": self.relay.jobs, "mode": "0666", "role": "submit"},
            {"name": "control", "unix": self.relay.control, "mode": "0600", "role": "admin"},
            {"name": "operators", "unix": operators, "mode": "0666", "role": "operate"}]
        self.relay.write({"up": route(self.upstream.url, recovery=AGAIN)})
        self.restart()
        job = self.submit("up", "bad")
        eventually(lambda: self.state(job) == "retrying", "the job waits for its second attempt")
        self.run_command("jobs", "hold", job)
        self.run_command("jobs", "release", job)
        self.restart()
        self.assertEqual(self.run_command("jobs", "retry", "--where", "route=up", "-y"), "1 job matches, 1 retried\n")
        eventually(
            lambda: json.loads(self.run_command("jobs", "show", job, "-o", "json"))["attempt_count"] == 2,
            "it is sent again at once")
        eventually(lambda: self.state(job) == "retrying", "the job waits for its third attempt")
        me = other = os.getuid()
        if me == 0:
            other = 54001
            self.assertEqual(ask_as(other, operators, f"/v1/jobs/{job}/cancel", method="POST")[0], 200)
        else:
            self.run_command("jobs", "cancel", job)
        told = self.run_command("explain", job)
        self.assertRegex(told, "(?s)" + ".*".join([
            "  accepted  ", "  attempt 1  [^\n]* 503 ", rf"  held +by [^\n]*uid {me}\b", rf"  released +by [^\n]*uid {me}\b",
            rf"  retried +by [^\n]*uid {me}\b[^\n]*, in a bulk action", "  attempt 2  [^\n]* 503 ",
            rf"  cancelled +by [^\n]*uid {other}\b",
            "  cancelled"]))
        document = json.loads(self.run_command("jobs", "show", job, "-o", "json"))
        self.assertEqual(
            [(done["action"], done["uid"], done.get("bulk", False)) for done in document["actions"]],
            [("hold", me, False), ("release", me, False), ("retry", me, True), ("cancel", other, False)])

    def test_who_did_what_is_told_by_uid_and_name(self):
        me = f"{pwd.getpwuid(os.getuid()).pw_name} (uid {os.getuid()})"
        by = {"uid": os.getuid(), "user": pwd.getpwuid(os.getuid()).pw_name}
        self.run_command("pause", "up", "--reason", "tests")
        self.relay.errors.wait(f"route up is paused by {me}: tests")
        job = self.submit("up", "ok")
        self.assertIn(f"paused by {me}", self.run_command("routes", "up"))
        self.restart()
        [told] = [one for one in json.loads(self.run_command("routes", "-o", "json"))["routes"] if one["name"] == "up"]
        self.assertEqual(told["pause"]["by"], by)
        self.assertIn(f": Paused by {me}: tests\n  Route up", self.run_command("status"))
        self.run_command("jobs", "hold", job)
        self.relay.errors.wait(f"{me}: hold of job {job}")
        self.run_command("jobs", "cancel", job)
        self.relay.errors.wait(f"{me}: cancel of job {job}")
        self.assertIn(f"  held          by {me}", self.run_command("explain", job))
        self.run_command("resume", "up")
        self.relay.errors.wait(f"route up goes on: {me} resumed it")
        for state, previous in ("open", "closed"), ("closed", "forced_open"), ("auto", "forced_closed"):
            self.run_command("breaker", "up", state)
            self.relay.errors.wait(f"{me} ordered the breaker of upstream", f"of route up {state}", f"; it was {previous}")
        events = [json.loads(line)["data"] for line in self.run_command(
            "events", "-o", "ndjson", "--type", "route.breaker.ordered", "--type", "route.resumed").splitlines()]
        self.assertEqual([event["by"] for event in events], [by] * 4)
        self.assertEqual([(event["state"], event["previous"]) for event in events[1:]],
                         [("open", "closed"), ("closed", "forced_open"), ("auto", "forced_closed")])
        self.assertRegex(self.run_command("events"), rf"route.breaker.ordered .*by {re.escape(me)}")

    def restart(self):
        self.relay.stop()
        (self.relay.directory / "notify").unlink()
        self.relay.notices.wait("(gone)")
        self.relay.notices.items.clear()
        self.relay.start()

    def test_a_list_goes_through_its_pages_and_says_what_it_is_asked(self):
        jobs = [self.submit("up", "ok", "--delay", "1h") for _ in range(7)]
        listed = self.run_command("jobs", "-q", "--route", "up").split()
        self.assertEqual(listed, jobs[::-1])
        document = json.loads(self.run_command("jobs", "ls", "--limit", "all", "-o", "json"))
        self.assertEqual([job["id"] for job in document["jobs"]], jobs[::-1])
        self.assertIsNone(document["next"])
        lines = self.run_command("jobs", "-o", "ndjson", "--limit", "2").splitlines()
        self.assertEqual([json.loads(line)["id"] for line in lines], jobs[:-3:-1])
        rows = self.run_command("jobs", "--state", "scheduled", "--since", "1h", "--no-headers").splitlines()
        self.assertEqual(len(rows), 7)
        self.assertRegex(rows[0], rf"^{jobs[-1]}  up +scheduled +not_before +0/\d+ +\d+s +(59m|1h) ")
        self.assertEqual(self.run_command("jobs", "--route", "once"), "")
        self.run_command("jobs", "--state", "ded", code=2)
        self.assertIn('Did you mean "dead"?', self.errors)

    def test_the_shape_counts_the_jobs_by_their_age_in_minutes(self):
        for _ in range(7):
            self.submit("up", "ok", "--delay", "1h")
        jobs = [json.loads(line) for line in self.run_command("jobs", "-o", "ndjson").splitlines()]
        minutes = [int(datetime.datetime.fromisoformat(job["created_at"]).timestamp()) // 60 for job in jobs]
        now = None
        # Once more where a minute ended meanwhile.
        while now != int(time.time()) // 60:
            now = int(time.time()) // 60
            told = self.run_command("shape", "--by", "state").splitlines()
        counts = [0] * 11
        for minute in minutes:
            counts[(now - minute).bit_length()] += 1
        numbers = ["7", *map(str, counts)]
        self.assertEqual([line.split() for line in told[1:]], [["TOTAL", *numbers], ["scheduled", *numbers]])
        self.assertEqual(told[0].split(), [
            "TOTAL", "<1m", "<2m", "<4m", "<8m", "<16m", "<32m", "<1h4m", "<2h8m", "<4h16m", "<8h32m", "8h32m+"])

    def test_what_a_job_was_sent_and_answered_can_be_expunged_once_it_is_over(self):
        self.upstream.on("/secret", answer(410, "CANARY-answer", ("Set-Cookie", "CANARY-cookie")))
        job = self.submit("once", "secret?token=CANARY-query", "-H", "X-Note: CANARY-field")
        self.run_command("jobs", "watch", job, "--timeout", "15s", code=6)
        waiting = self.submit("up", "bad")
        self.run_command("jobs", "expunge", waiting, code=1)
        self.assertRegex(self.errors, f"{waiting}: .*cannot be expunged before it is over; cancel it first")
        self.assertEqual(self.run_command("jobs", "expunge", job), f"{job}  expunged\n")
        self.run_command("jobs", "expunge", job, code=1)
        self.assertIn("cannot be expunged twice", self.errors)
        self.run_command("jobs", "retry", job, code=1)
        self.assertIn("no longer kept, so it cannot be sent again", self.errors)
        self.assertNotIn("jobs retry", self.run_command("explain", job))
        told = self.run_command("jobs", "show", job, "-o", "json")
        document = json.loads(told)
        self.assertEqual((document["state"], document["status"]), ("dead", 410))
        [done] = document["actions"]
        self.assertEqual((done["action"], done["uid"]), ("expunge", os.getuid()))
        self.assertNotIn("CANARY", told)
        self.assertRegex(self.run_command("explain", job), rf"  expunged +by .*{os.getuid()}")
        self.assertIn("1 expunged", self.run_command("jobs", "cancel", waiting) and self.run_command(
            "jobs", "expunge", "--where", "state=cancelled", "-y"))
        self.relay.stop()
        for file in self.relay.directory.rglob("*"):
            if file.is_file() and "jobs.db" in file.name:
                self.assertNotIn(b"CANARY", file.read_bytes(), file)

    def test_the_dead_are_grouped_and_acted_on_together_only_after_a_yes(self):
        jobs = self.dead(3)
        told = self.run_command("dead")
        self.assertRegex(told, r"KIND +COUNT .*\nhttp_status 503 +3 .* once +exhausted ")
        command = re.search(r"Retry:  waystation (jobs retry .*)\n", told)[1].split()
        self.assertIn("3 jobs match, 3 would be retried\n", self.run_command(*command, code=2))
        self.assertIn("Nothing was changed", self.errors)
        self.assertEqual([self.state(job) for job in jobs], ["dead"] * 3)
        self.assertEqual(self.run_command("jobs", "drop", "--where", "state=dead", "-n"),
                         "3 jobs match, 3 would be dropped\n")
        self.assertEqual(self.run_command(*command, "--yes"), "3 jobs match, 3 retried\n")
        for job in jobs:
            self.run_command("jobs", "watch", job, "--timeout", "15s", code=6)
        self.assertEqual(self.run_command("jobs", "drop", "--where", "route=once,state=dead", "-y"),
                         "3 jobs match, 3 dropped\n")
        self.assertEqual(self.run_command("dead"), "There are no dead jobs.\n")

    def test_jobs_are_chosen_by_the_status_of_their_last_answer_and_by_their_end(self):
        self.upstream.on("/gone", *[answer(410, "no")] * 5)
        gone = self.submit("once", "gone")
        bad = self.dead(1)[0]
        self.run_command("jobs", "watch", gone, "--timeout", "15s", code=6)
        self.assertRegex(self.run_command("jobs"), rf"{gone} .* http_status 410 ")
        self.assertEqual(self.run_command("jobs", "-q", "--status", "410").split(), [gone])
        self.assertEqual(self.run_command("jobs", "-q", "--status", "503", "--end", "exhausted").split(), [bad])
        self.assertEqual(self.run_command("jobs", "-q", "--end", "poison"), "")
        self.assertEqual(self.run_command("jobs", "drop", "--where", "status=410", "-y"), "1 job matches, 1 dropped\n")
        self.restart()
        self.assertEqual(self.run_command("jobs", "-q", "--status", "503").split(), [bad])
        told = self.run_command("jobs", "retry", bad, "--rate", "5/s")
        self.assertEqual(told, "1 job matches, 1 retried\n")
        for words in (["--status", "9"], ["--status", "x"]):
            self.run_command("jobs", *words, code=2)
        self.run_command("jobs", "--end", "exhaused", code=2)
        self.assertIn('Did you mean "exhausted"?', self.errors)

    def asked(self, reply, meanwhile=lambda: None, code=0):
        """Answers a drop of what is dead at a terminal; returns what stands there."""
        ours, theirs = pty.openpty()
        with subprocess.Popen([COMMAND, "jobs", "drop", "--where", "state=dead"], stdin=theirs, stderr=theirs,
                              stdout=subprocess.DEVNULL, env=self.environment) as process:
            os.close(theirs)
            text = b""
            while b"[y/N] " not in text:
                text += os.read(ours, 1024)
            meanwhile()
            os.write(ours, reply)
            try:
                while more := os.read(ours, 1024):
                    text += more
            except OSError:
                pass  # The other side has closed it.
            self.assertEqual(process.wait(20), code, text)
            os.close(ours)
        return text.decode()

    def test_a_terminal_is_asked(self):
        self.dead(1)
        for reply, left in (b"n\n", 1), (b"y\n", 0):
            self.assertIn("drop 1 job: state=dead? ", self.asked(reply))
            self.assertEqual(len(self.run_command("jobs", "-q", "--state", "dead").split()), left)

    def test_the_jobs_that_a_terminal_was_asked_about_are_those_that_are_acted_on(self):
        jobs = self.dead(3)
        text = self.asked(b"y\n", lambda: self.run_command("jobs", "drop", jobs[0]), code=1)
        self.assertIn("drop 3 jobs: state=dead? ", text)
        self.assertIn("2 jobs match now, and not 3: nothing was done", text)
        self.assertEqual([self.state(job) for job in jobs[1:]], ["dead"] * 2)
        # Those that come while it asks are not among them.
        later = []
        self.assertIn("drop 2 jobs: state=dead? ", self.asked(b"y\n", lambda: later.extend(self.dead(1))))
        self.assertEqual(self.run_command("jobs", "-q", "--state", "dead").split(), later)

    def test_send_waits_for_the_end_and_tells_it_by_its_status(self):
        self.assertRegex(self.run_command("send", "up", "ok", "--async", "--wait", "15s"), ID)
        self.run_command("send", "once", "bad", "--async", "--wait", "15s", code=6)
        self.assertIn("the job is dead (exhausted, no rule acts on it)", self.errors)
        self.run_command("send", "up", "ok", "--async", "--wait", "1s", "--delay", "1h", code=7)
        self.run_command("send", "up", "ok", "--wait", "1s", "--delay", "1h", code=7)
        self.assertTrue(self.run_command("send", "up", "ok", "--wait", "15s").startswith("fine\0"))
        # Its last answer is printed all the same.
        self.assertTrue(self.run_command("send", "once", "bad", "--wait", "15s", code=6))
        self.assertRegex(self.errors, "^waystation: .*503")
        self.run_command("send", "none", "ok", "--async", code=3)

    def test_a_paused_route_keeps_its_jobs_until_it_is_resumed(self):
        told = self.run_command("pause", "up", "--for", "10m", "--reason", "down for work")
        self.assertRegex(told, r"^up: paused by .*uid \d+\)? until .*: down for work\n$")
        job = self.submit("up", "ok")
        self.assertRegex(self.run_command("routes"), r"\nup +paused .* down for work\n")
        eventually(lambda: "route_paused" in self.run_command("explain", job), "the job says that its route is paused")
        self.assertIn("Do: when the cause is gone: waystation resume up", self.run_command("explain", job))
        self.run_command("resume", "up")
        self.run_command("jobs", "watch", job, "--timeout", "15s")
        self.assertRegex(self.run_command("routes", "up"), r"(?m)^Jobs +1 succeeded$")
        self.run_command("resume", "upp", code=3)

    def test_events_are_told_as_they_come_and_afterwards(self):
        follower = subprocess.Popen(
            [COMMAND, "events", "-f", "--after", "0", "-o", "ndjson"], stdout=subprocess.PIPE, env=self.environment)
        self.addCleanup(follower.stdout.close)
        self.addCleanup(follower.wait)
        self.addCleanup(follower.kill)
        job = self.submit("up", "ok")
        types = [json.loads(follower.stdout.readline())["type"] for _ in range(3)]
        self.assertEqual(types, [
            "waystation.job.accepted", "waystation.job.attempt.started", "waystation.job.succeeded"])
        told = self.run_command("events", "--job", job.lower(), "--type", "job.succeeded")
        self.assertRegex(told, rf"^\S+  job\.succeeded +up  {job}  attempt 1  200\n$")


if __name__ == "__main__":
    unittest.main()
