"""Clients that hand over jobs, and write down what they were told."""

import base64
import hashlib
import json
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "EndToEnd"))
from caller import Caller, Ended  # noqa: E402

PATIENCE = 30
# The jobs that are handed over, and how often: kind, weight, script of the upstream's answers (the last one repeats).
KINDS = [
    ("keyed", 26, None), ("json", 14, None), ("put", 16, None), ("bare", 10, None), ("ordered", 14, None),
    ("hook", 8, None), ("delayed", 4, None), ("flaky", 4, None), ("large", 1.2, None), ("moving", 8, None),
    ("rejected", 1, [422]), ("deadly", 0.3, ["hang"]), ("deadlybare", 0.2, ["hang"]),
]
SCRIPTS = [
    (80, [200]), (5, [500, 200]), (3, [500, 500, 503, 200]), (4, ["reset", 200]), (2, ["reset", "reset", 200]),
    (4, ["slow"]), (2, ["slow", 200])]


class Submission:
    """A job as its client knows it."""

    __slots__ = (
        "number", "kind", "client", "route", "method", "key", "order", "digest", "delay", "script", "began", "answered",
        "id", "refusals", "lost")

    def __init__(self, number, kind, client):
        self.number, self.kind, self.client = number, kind, client
        self.route, self.method, self.key, self.order, self.digest, self.delay = "main", "POST", None, None, None, 0
        self.script, self.began, self.answered, self.id, self.refusals, self.lost = [200], None, None, None, [], 0

    @property
    def may_repeat(self):
        return self.method == "PUT" or self.key is not None or self.route == "hooks"

    def __repr__(self):
        return f"job {self.number} ({self.kind}, client {self.client}, id {self.id}, script {self.script})"


class Ledger:
    """All that the clients handed over, and what they found wrong with an answer."""

    def __init__(self):
        self.lock = threading.Lock()
        self.submissions, self.faults = {}, []
        self.repeats = self.reuses = self.answers = 0

    def new(self, kind, client):
        with self.lock:
            number = len(self.submissions) + 1
            self.submissions[number] = submission = Submission(number, kind, client)
        return submission

    def fault(self, text):
        with self.lock:
            self.faults.append(text)

    def script(self, number, turn):
        submission = self.submissions.get(number)
        steps = submission.script if submission else [200]
        return steps[min(turn, len(steps) - 1)]


class Submitter(threading.Thread):
    """One client: hands over one job after the other until it is told to stop."""

    def __init__(self, index, socket, ledger, seed, pace):
        super().__init__(daemon=True)
        self.index, self.socket, self.ledger, self.pace = index, socket, ledger, pace
        self.dice = random.Random(f"{seed}-{index}")
        self.stopping = threading.Event()
        self.caller = None

    def run(self):
        while not self.stopping.is_set():
            self.hand_over(self.make())
            self.stopping.wait(self.dice.expovariate(1 / self.pace))
        self.hang_up()

    def hang_up(self):
        if self.caller:
            self.caller.close()
        self.caller = None

    def make(self):
        kind, _, script = self.dice.choices(KINDS, [weight for _, weight, _ in KINDS])[0]
        job = self.ledger.new(kind, self.index)
        if kind in ("put", "delayed", "large") or kind == "ordered" and self.dice.random() < 0.4:
            job.method = "PUT"
        if kind in ("keyed", "json", "ordered", "flaky", "rejected", "deadly", "moving") and job.method == "POST":
            job.key = f"key-{job.number}"
        if kind == "ordered":
            job.order = f"client-{self.index}-{self.dice.randrange(2)}"
        if kind == "delayed":
            job.delay = self.dice.choice([50, 300, 1000, 3000])
        job.route = {"hook": "hooks", "flaky": "flaky", "deadly": "deadly", "deadlybare": "deadly",
                     "moving": "moving"}.get(kind, "main")
        if kind == "bare":
            script = self.dice.choices([[200], [500, 200], ["reset"], ["slow"]], [85, 4, 4, 7])[0]
        if kind == "moving":
            script = self.dice.choice([[500, 200], [503, "slow"], [500, "reset", 500, 200], [200]])
        job.script = script or self.dice.choices([s for _, s in SCRIPTS], [w for w, _ in SCRIPTS])[0]
        return job

    def body(self, job):
        dice = random.Random(job.number)
        size = dice.randrange(1 << 20, 3 << 19) if job.kind == "large" else dice.choice([40, 300, 2000])
        return b"%d\n" % job.number + dice.randbytes(size)

    def request(self, job, body):
        job.digest = hashlib.sha256(body).hexdigest()
        fields = [("Prefer", "respond-async"), ("Waystation-Label", f"n={job.number}")]
        if job.key:
            fields.append(("Idempotency-Key", f'"{job.key}"'))
        if job.order:
            fields.append(("Waystation-Ordering-Key", job.order))
        if job.delay:
            fields.append(("Waystation-Delay", f"{job.delay}ms"))
        if job.kind != "json":
            return job.method, f"/r/{job.route}/job/{job.number}", fields, body
        document = {
            "route": job.route, "mode": "async", "options": {"labels": {"n": str(job.number)}},
            "request": {
                "method": job.method, "path": f"/job/{job.number}", "base64": base64.b64encode(body).decode()}}
        fields = [("Content-Type", "application/json"), ("Idempotency-Key", f'"{job.key}"')]
        return "POST", "/v1/jobs", fields, json.dumps(document).encode()

    def ask(self, *request):
        """The answer, or None when it was lost; raises when the request cannot have reached the daemon."""
        if self.caller is None:
            self.caller = Caller(self.socket, PATIENCE)
        try:
            answer = self.caller.ask(*request)
            self.ledger.answers += 1
            if answer["Connection"] == "close":
                self.hang_up()
            return answer
        except TimeoutError:
            self.ledger.fault(f"no answer within {PATIENCE} s to {request[0]} {request[1]}")
        except (Ended, OSError):
            pass
        self.hang_up()
        return None

    def hand_over(self, job):
        request = self.request(job, self.body(job))
        job.began = time.monotonic()
        while True:
            try:
                answer = self.ask(*request)
            except OSError:
                # Nobody listens: nothing was sent.
                time.sleep(0.004)
                if job.lost == 0 and self.stopping.is_set():
                    return
                continue
            if answer is None:
                job.lost += 1
                if job.key:
                    continue
                return
            if answer.status in (200, 202):
                return self.accepted(job, answer, request)
            if answer.status == 503:
                job.refusals.append(answer.status)
                if job.key and len(job.refusals) < 50:
                    time.sleep(0.02)
                    continue
                return
            return self.ledger.fault(f"{job}: answered {answer}")

    def accepted(self, job, answer, request):
        job.answered, job.id = time.monotonic(), answer["Waystation-Job"]
        replayed = answer["Waystation-Replayed"] == "true"
        if answer.status == 200 and not (replayed and job.lost):
            self.ledger.fault(f"{job}: 200 to a job that was new: {answer}")
        if answer["Location"] != f"/v1/jobs/{job.id}":
            self.ledger.fault(f"{job}: no Location: {answer}")
        chance = self.dice.random()
        if not job.key or chance > 0.06:
            return
        method, target, fields, body = request
        is_reuse = chance < 0.02
        if is_reuse:
            body = body.replace(b'"POST"', b'"PUT"') if job.kind == "json" else body + b"!"
        try:
            again = self.ask(method, target, fields, body)
        except OSError:
            return
        if again is None or again.status == 503:
            return
        with self.ledger.lock:
            self.ledger.reuses += is_reuse
            self.ledger.repeats += not is_reuse
        if is_reuse and (again.status != 422 or again.json()["code"] != "idempotency_key_reused"):
            self.ledger.fault(f"{job}: its key with another body was answered {again}")
        if not is_reuse and (again.status, again["Waystation-Job"], again["Waystation-Replayed"]) != (200, job.id, "true"):
            self.ledger.fault(f"{job}: handed over again it was answered {again}")
