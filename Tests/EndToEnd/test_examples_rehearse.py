"""`waystation rehearse`: what is told of jobs on record is what other rules then do, and what no record knows is not told."""

import datetime
import json
import pathlib
import subprocess
import time
import unittest

from caller import ask
from durable import DurableTest, kept
from examples import ExampleTest
from relay import UNBOUNDED, daemon, eventually
from upstream import answer

COMMAND = pathlib.Path(daemon()).with_name("waystation")
# Seconds after its beginning at which the upstream is back, and at which jobs are handed over: each is tried again
# more than half a second from that moment and from what others met before it. The last ones are there to tell that it is back.
BACK = 2.0
DYING = 0.2, 0.25, 0.3, 0.35, 0.4, 1.3, 1.35
LIVING = 2.05, 2.4, 3.2
# Seconds by which an attempt may be late, and nights until a machine with much to do has had a quiet one.
LATE = 0.2
NIGHTS = 4


def retry(name, wait, attempts, on="503"):
    return {"name": name, "on": [on], "retry": {
        "max_attempts": attempts, "methods": "any",
        "backoff": {"type": "constant", "base_interval": wait, "jitter": "none"}}}


def rules(*recovery):
    return {"recovery": list(recovery), "max_attempts": 100, **UNBOUNDED}


HASTY = rules(retry("hasty", "100ms", 3))
PATIENT = rules(retry("patient", "1s", 50), retry("other", "1s", 3, on="404"))


class Rehearse(DurableTest):
    def setUp(self):
        if not COMMAND.exists():
            self.skipTest("the command is not built")
        super().setUp()

    def night(self, **routes):
        """An upstream is away for two seconds while jobs come to each route; returns the daemon and the routes' ids in their
        order.

        Of each route there are the members, and the seconds after which a job is tried anew.
        """
        for _ in range(NIGHTS):
            upstream = self.new_upstream()
            relay = self.new_relay({name: kept(upstream.url, **members) for name, (members, _) in routes.items()}).start()
            began, wall = time.monotonic(), time.time()
            upstream.on("/a", lambda request: answer(200 if time.monotonic() - began >= BACK else 503))
            ids = {name: [] for name in routes}
            for moment in DYING + LIVING:
                time.sleep(max(0, began + moment - time.monotonic()))
                for name in routes:
                    ids[name].append(self.hand_over(relay, f"/r/{name}/a"))
            for id in sum(ids.values(), []):
                eventually(lambda: self.look(relay, id)["state"] in ("succeeded", "dead"), "the job is over")
            late = max(
                datetime.datetime.fromisoformat(each["started_at"]).timestamp() - wall - moment - at * wait
                for name, (_, wait) in routes.items() for id, moment in zip(ids[name], DYING + LIVING)
                for at, each in enumerate(self.look(relay, id)["attempts"]))
            if late < LATE:
                return relay, *ids.values()
            relay.stop()
        self.fail(f"in {NIGHTS} nights an attempt was late by {late} seconds")

    def look(self, relay, id):
        return ask(relay.control, "GET", f"/v1/jobs/{id}").json()

    def rehearse(self, *words, status=0):
        done = subprocess.run([COMMAND, "rehearse", *words], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
        return done

    def told(self, *words):
        return json.loads(self.rehearse(*words, "-o", "json").stdout)

    def test_it_tells_of_dead_jobs_what_a_patient_file_then_does(self):
        # The same night with the hasty rules, and with the patient ones in truth.
        relay, ids, others = self.night(orders=(HASTY, 0.1), patient=(PATIENT, 1))
        self.assertEqual([self.look(relay, id)["state"] for id in ids],
                         ["dead"] * len(DYING) + ["succeeded"] * len(LIVING))
        patient, records = relay.directory / "patient.json", relay.directory / "records"
        document = json.loads(relay.file.read_text())
        document["routes"]["orders"].update(PATIENT)
        patient.write_text(json.dumps(document))
        before = relay.status()
        told = self.told(patient, "--socket", relay.control, "--save", records)
        self.assertEqual((told["jobs"], told["would_have_been"], told["cannot_be_known"]), (len(DYING), len(DYING), 0), told)
        self.assertEqual(told["routes"][0]["idle_rules"], ["other"], told)
        self.assertEqual(told["attempts_on_record"], 3 * len(DYING))
        self.assertEqual([each["id"] for each in sorted(told["each"], key=lambda each: ids.index(each["id"]))],
                         ids[:len(DYING)])

        each = {one["id"]: one for one in told["each"]}
        for id, other in zip(ids[:len(DYING)], others):
            job, foretold = self.look(relay, other), each[id]
            self.assertEqual(job["state"], "succeeded", job)
            self.assertEqual((foretold["attempts_least"], foretold["attempts_most"]), (job["attempt_count"],) * 2, job)

        # The same without a daemon; and what is on record no more is not known.
        self.assertEqual(self.told(patient, "--records", records), told)
        saved = {json.loads(line)["id"]: line for line in records.read_text().splitlines()}
        dead = [line for line in saved.values() if json.loads(line)["state"] == "dead"]
        self.assertEqual(len(dead), len(DYING))
        records.write_text("\n".join(dead))
        less = self.told(patient, "--records", records)
        self.assertEqual((less["would_have_been"], less["cannot_be_known"]), (0, len(DYING)), less)
        self.assertEqual(less["unknown"], {"after_record": len(DYING)}, less)
        # One dead job and one that succeeded: nobody knows when between the two the upstream came back.
        records.write_text("\n".join(saved[id] for id in [ids[0], *ids[len(DYING):]]))
        document["routes"]["orders"]["recovery"][0] = retry("patient", "700ms", 3)
        patient.write_text(json.dumps(document))
        self.assertEqual(self.told(patient, "--records", records)["cannot_be_known"], 1)

        text = self.rehearse(relay.file, "--socket", relay.control, "--where", "route=orders,status=503").stdout
        self.assertIn("dead, exhausted", text)
        self.rehearse(relay.file, "--socket", relay.control, "--where", "route=orders,status=404", status=3)
        self.rehearse(relay.file, "--socket", relay.control, "--where", "rout=orders", status=2)
        relay.file.write_text("{")
        self.rehearse(relay.file, "--records", records, status=78)
        self.assertEqual(relay.status()["routes"], before["routes"])

    def test_a_request_that_its_upstream_does_not_like_is_not_taken_for_one_that_others_sent(self):
        upstream = self.new_upstream()
        upstream.on("/bad", answer(422))
        upstream.on("/good", answer(200))
        relay = self.new_relay({"orders": kept(upstream.url, **HASTY)}).start()
        for path in "good", "bad", "good":
            id = self.hand_over(relay, f"/r/orders/{path}")
            eventually(lambda: self.look(relay, id)["state"] in ("succeeded", "dead"), "the job is over")
        # A request that somebody waited for, which nobody keeps.
        upstream.on("/away", answer(503))
        self.assertEqual(relay.ask("GET", "/r/orders/away").status, 503)
        document = json.loads(relay.file.read_text())
        document["routes"]["orders"].update(rules(retry("again", "1ms", 2, on="4xx")))
        other = relay.directory / "other.json"
        other.write_text(json.dumps(document))
        told = self.told(other, "--socket", relay.control)
        self.assertEqual((told["would_have_been"], told["would_not"], told["jobs"]), (0, 2, 2), told)
        self.assertEqual({each["end"] for each in told["each"]}, {"dead, exhausted", "failure"}, told)


class Example(ExampleTest):
    def test_orders_are_given_up_after_two_attempts(self):
        relay = self.example("rehearse")
        self.first.on("/1", answer(503))
        got = relay.ask("POST", "/r/orders/1", [("Prefer", "respond-async, wait=9")], b"{}")
        self.assertEqual((got.status, relay.job(got)["state"], relay.job(got)["attempt_count"]), (503, "dead", 2), got)


if __name__ == "__main__":
    unittest.main()
