"""Actions on every job that matches, which the daemon carries on by itself."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from caller import ask
from durable import FINISHED, DurableTest, kept
from relay import daemon, eventually
from upstream import answer

COMMAND = pathlib.Path(daemon()).with_name("waystation")


class Runs(DurableTest):
    def setUp(self):
        super().setUp()
        self.upstream.on("/x", answer(200, "x"))
        routes = {"up": kept(self.upstream.url), "other": kept({"name": "u2", "url": self.upstream.url})}
        self.relay = self.new_relay(routes)
        self.read, self.operate = (str(self.relay.directory / f"{role}.sock") for role in ("read", "operate"))
        self.relay.members["listeners"] = [
            {"name": "jobs", "unix": self.relay.jobs, "mode": "0666"},
            {"name": "read", "unix": self.read, "mode": "0666", "role": "read"},
            {"name": "operate", "unix": self.operate, "mode": "0600", "role": "operate"},
            {"name": "control", "unix": self.relay.control, "mode": "0600", "role": "admin"}]
        self.relay.write(routes)
        self.relay.start()

    def call(self, method, path, document=None, status=200, socket=None):
        body = None if document is None else json.dumps(document).encode()
        got = ask(socket or self.relay.control, method, path, [], body)
        self.assertEqual(got.status, status, got)
        return got.json() if got.body else None

    def begin(self, action="hold", status=202, socket=None, **members):
        members.setdefault("filter", {"route": "up"})
        return self.call("POST", "/v1/runs", {"action": action, **members}, status, socket)

    def run_of(self, number):
        return self.call("GET", f"/v1/runs/{number}", socket=self.read)

    def ended(self, number, state="done", seconds=30):
        eventually(lambda: self.run_of(number)["state"] != "running", "the run is over", seconds)
        run = self.run_of(number)
        self.assertEqual(run["state"], state, run)
        return run

    def waiting(self, count, route="up"):
        """Jobs that wait for hours."""
        return [self.hand_over(self.relay, f"/r/{route}/x", ("Waystation-Delay", "5h")) for _ in range(count)]

    def actions(self, job):
        return [one["action"] for one in self.look(self.relay, job).get("actions", [])]

    def command(self, *words, code=0, **options):
        done = subprocess.run(
            [COMMAND, *words, "--socket", self.relay.control], capture_output=True, text=True, timeout=60,
            stdin=subprocess.DEVNULL, **options)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done

    def test_a_run_needs_nobody_and_everybody_sees_what_came_of_it(self):
        jobs, others = self.waiting(5), self.waiting(2, "other")
        begun = self.begin(seen=5, reason="büro is closed")
        self.assertEqual((begun["number"], begun["state"], begun["total"], begun["reason"]), (1, "running", 5, "büro is closed"))
        self.assertEqual(begun["by"]["uid"], os.getuid())
        self.assertEqual(begun["filter"], {"route": "up"})
        run = self.ended(1)
        self.assertEqual((run["matched"], run["changed"], run["asked"]), (5, 5, 0), run)
        self.assertEqual({self.look(self.relay, job)["state"] for job in jobs}, {"held"})
        self.assertEqual({self.look(self.relay, job)["state"] for job in others}, {"scheduled"})
        self.assertEqual(self.call("GET", "/v1/runs", socket=self.read)["runs"], [run])
        self.relay.errors.wait("run 1, hold of jobs with route=up", "began: 5 jobs match: büro is closed")
        self.relay.errors.wait("run 1, hold of jobs with route=up", "is done: 5 of 5 jobs that matched changed")
        got = ask(self.relay.control, "POST", "/v1/runs", [], b'{"action": "hold", "filter": {"route": "other"}, "seen": 9}')
        self.assert_problem(got, 409, "selection_changed")
        self.assertEqual(len(self.call("GET", "/v1/runs")["runs"]), 1)

    def test_a_run_is_seen_and_stopped_by_another_client_and_does_no_more(self):
        jobs = self.waiting(6)
        number = self.begin("retry", rate="60/m", filter={"ids": jobs})["number"]
        eventually(lambda: self.run_of(number)["changed"] >= 2, "another client sees how far it is")
        self.assertIn("next_at", self.run_of(number))
        stopped = self.call("POST", f"/v1/runs/{number}/stop", socket=self.operate)
        self.assertEqual((stopped["state"], stopped["ended_by"]["uid"]), ("stopped", os.getuid()), stopped)
        self.assertLess(stopped["changed"], 6)
        time.sleep(2.5)
        self.assertEqual(self.run_of(number), stopped)
        self.assertEqual(sum("retry" in self.actions(job) for job in jobs), stopped["changed"])
        self.assertEqual(self.call("POST", f"/v1/runs/{number}/stop"), stopped, "to stop it again changes nothing")
        self.relay.errors.wait(f"run {number}, retry of jobs with 6 ids", "was stopped by")

    def test_a_run_for_one_upstream_leaves_the_jobs_of_the_other_alone(self):
        self.upstream.on("/bad", *[answer(503, "no")] * 5)
        ours, others = ([self.hand_over(self.relay, f"/r/{route}/bad", ("Waystation-Max-Attempts", "1")) for _ in range(2)]
                        for route in ("other", "up"))
        for job in ours + others:
            self.wait_for_end(self.relay, job, "dead")
        wanted = {"state": ["dead"], "upstream": "u2"}
        number = self.begin("drop", filter=wanted, seen=2)["number"]
        run = self.ended(number)
        self.assertEqual((run["filter"], run["total"], run["matched"], run["changed"]), (wanted, 2, 2, 2), run)
        for job in ours:
            self.call("GET", f"/v1/jobs/{job}", status=404)
        self.assertEqual({self.look(self.relay, job)["state"] for job in others}, {"dead"})
        self.assertIn("state=dead,upstream=u2", self.command("runs", "show", str(number)).stdout)
        self.relay.errors.wait(f"run {number}, drop of jobs with state=dead upstream=u2", "is done: 2 of 2 jobs")

    def test_a_kill_amid_a_run_leaves_every_job_done_once(self):
        jobs = self.waiting(40)
        number = self.begin("retry", rate="20/s", filter={"route": "up", "state": ["scheduled"]})["number"]
        for wanted in 1, 21:
            eventually(lambda: self.run_of(number)["changed"] >= wanted, "it has begun")
            self.kill(self.relay)
            self.forget_life(self.relay)
            self.relay.start()
            self.assertEqual(self.run_of(number)["number"], number)
        run = self.ended(number)
        self.assertEqual((run["total"], run["matched"], run["changed"]), (40, 40, 40), run)
        for job in jobs:
            self.assertEqual(self.actions(job), ["retry"], job)
        # The control: what is done twice is told twice.
        eventually(lambda: self.look(self.relay, jobs[0])["state"] in FINISHED, "the job is over")
        self.ended(self.begin("expunge")["number"])
        self.assertEqual(self.actions(jobs[0]), ["retry", "expunge"])

    def test_jobs_that_come_after_its_begin_are_none_of_its(self):
        jobs = self.waiting(3)
        number = self.begin("retry", rate="60/m")["number"]
        later = self.waiting(2)
        run = self.ended(number)
        self.assertEqual(run["matched"], 3, run)
        self.assertEqual([self.actions(job) for job in jobs + later], [["retry"]] * 3 + [[]] * 2)

    def test_who_has_less_rights_sees_and_stops_no_more_than_those_give(self):
        self.waiting(2)
        number = self.begin("retry", rate="1/h")["number"]
        for socket, may in (self.relay.jobs, 403), (self.read, 200):
            self.call("GET", "/v1/runs", status=may, socket=socket)
            self.call("GET", f"/v1/runs/{number}", status=may, socket=socket)
            self.call("POST", f"/v1/runs/{number}/stop", status=403, socket=socket)
            self.begin(status=403, socket=socket)
        self.assertEqual(self.run_of(number)["state"], "running")
        self.assertEqual(self.call("POST", f"/v1/runs/{number}/stop", socket=self.operate)["state"], "stopped")
        for wrong in "0", "-1", "99", "x":
            self.assert_problem(ask(self.relay.control, "GET", f"/v1/runs/{wrong}"), 404, "run_not_found")

    def test_so_many_go_on_at_once_and_no_more(self):
        self.waiting(20)
        for _ in range(8):
            self.begin("retry", rate="1/h", filter={"route": "up", "state": ["scheduled"]})
        got = ask(self.relay.control, "POST", "/v1/runs", [], b'{"action": "drop", "filter": {}}')
        self.assert_problem(got, 503, "too_many_runs")
        for run in self.call("GET", "/v1/runs")["runs"]:
            self.call("POST", f"/v1/runs/{run['number']}/stop")
        self.ended(self.begin()["number"])

    def test_an_order_that_is_none_is_refused(self):
        for members in ({"dry_run": True}, {"limit": 3}, {"cursor": None}, {"rate": "3/s"}, {"reason": "a\nb"}, {"filter": None}):
            with self.subTest(members=members):
                got = ask(self.relay.control, "POST", "/v1/runs", [], json.dumps({"action": "hold", "filter": {}, **members}).encode())
                self.assert_problem(got, 422, "invalid_job")
        self.assertEqual(self.call("GET", "/v1/runs")["runs"], [])

    def test_the_command_waits_and_leaves_it_to_itself_when_it_is_interrupted(self):
        self.waiting(6)
        self.assertEqual(self.command("jobs", "hold", "--where", "route=up", "--yes").stdout, "6 jobs match, 6 held\n")
        self.assertEqual(self.command("runs", "-q").stdout, "1\n")
        words = ["jobs", "retry", "--where", "route=up", "--rate", "30/m", "--yes", "--socket", self.relay.control]
        waiting = subprocess.Popen([COMMAND, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        eventually(lambda: any(run["number"] == 2 for run in self.call("GET", "/v1/runs")["runs"]), "it has begun")
        time.sleep(0.5)
        waiting.send_signal(signal.SIGINT)
        _, said = waiting.communicate(timeout=20)
        self.assertEqual(waiting.returncode, 130)
        self.assertIn(f"it goes on by itself. To end it: waystation runs stop 2 --socket {self.relay.control}", said)
        self.assertEqual(self.run_of(2)["state"], "running")
        self.assertRegex(self.command("runs").stdout, r"(?m)^  2  running  retry +\d of 6 +30/m .*route=up")
        self.assertRegex(self.command("runs", "show", "2").stdout, r"(?m)^jobs +route=up\n")
        self.assertRegex(self.command("runs", "stop", "2").stdout, r"^run 2 stopped: \d of 6 jobs changed\n$")
        self.command("runs", "watch", "2", code=1)
        self.command("runs", "stop", "7", code=3)
        detached = self.command("jobs", "drop", "--where", "route=up,state=held", "--yes", "--detach", "--reason", "no more")
        self.assertEqual(detached.stdout, "run 3 began: drop of route=up,state=held\n")
        self.assertIn("waystation runs stop 3", detached.stderr)
        self.assertEqual(self.ended(3)["reason"], "no more")
        self.command("runs", "watch", "3")


if __name__ == "__main__":
    unittest.main()
