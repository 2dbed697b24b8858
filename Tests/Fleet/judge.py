"""The judgement of a campaign: what clients were told, what the upstream saw and what the fleet tells must agree."""

import collections

from nodes import FINISHED, SCHEMA

SOME = 6


class Request:
    """One request that the upstream saw."""

    __slots__ = ("number", "node", "place", "came", "over", "result")

    def __init__(self, number, node, place, came, over, result):
        self.number, self.node, self.place = int(number), node, int(place)
        self.came, self.over, self.result = int(came) / 1e9, int(over) / 1e9, result

    def __repr__(self):
        return f"({self.result} by {self.node}, place {self.place}, at {self.came:.3f} for {1000 * (self.over - self.came):.0f} ms)"


def number_of(job):
    for word in job.get("labels") or []:
        if word.startswith("n="):
            return int(word[2:])
    return None


class Verdict:
    """`jobs` are the clients', `requests` the upstream's, `stored` those that the fleet tells of; `attempts` asks for a
    job's, and `settled` are the numbers of settlements by job that the database holds."""

    def __init__(self, jobs, requests, stored, attempts, settled, excused=frozenset()):
        self.faults, self.figures = [], collections.Counter()
        self.jobs = {job.number: job for job in jobs}
        # Nodes that the test had stopped: a request of theirs may have been under way while its job was taken over.
        self.excused = excused
        self.seen = collections.defaultdict(list)
        for request in sorted(requests, key=lambda request: request.place):
            self.seen[request.number].append(request)
        self.stored = {}
        for job in stored:
            self._store(job)
        for number, job in self.jobs.items():
            self._judge(job, self.stored.get(number), self.seen.get(number, []), attempts)
        for number, requests in self.seen.items():
            if number not in self.jobs:
                self._fault("INVENTED", f"the upstream was sent job {number}, which nobody handed over: {requests[:SOME]}")
            elif number not in self.stored:
                self._fault("LOST", f"{self.jobs[number]} was sent, and the fleet knows nothing of it: {requests[:SOME]}")
        for id, count in settled:
            self._fault("SETTLED TWICE", f"job {id} has {count} ends in the database")
        self._order()

    def _fault(self, word, text):
        self.figures[word.lower()] += 1
        self.faults.append(f"{word}: {text}")

    def _store(self, job):
        number = number_of(job)
        if number not in self.jobs:
            self._fault("INVENTED", f"nobody handed over {job['id']} ({number})")
        elif number in self.stored:
            self._fault("TWICE", f"{self.jobs[number]} is {self.stored[number]['id']} and {job['id']}")
        else:
            self.stored[number] = job

    def _judge(self, job, stored, requests, attempts):
        self.figures[job.end or "open"] += 1
        self.figures["requests"] += len(requests)
        if stored is None:
            if job.end == "accepted":
                self._fault("LOST", f"{job} was accepted, and the fleet knows nothing of it")
            return
        self.figures[stored["state"]] += 1
        if job.id and job.id != stored["id"]:
            self._fault("TWICE", f"{job} is stored as {stored['id']}")
        if job.end == "refused":
            self._fault("INVENTED", f"{job} was refused, and is stored as {stored['id']}")
        if job.end == "unknown":
            self.figures["unknown and there"] += 1
        if stored["state"] not in FINISHED:
            self._fault("STUCK", f"{job} is {stored['state']} ({stored.get('reason')})")
        elif stored["state"] == "succeeded" and not any(request.result == "200" for request in requests):
            self._fault("UNSENT", f"{job} counts as delivered; the upstream saw {requests[:SOME]}")
        elif stored["state"] == "dead" and (job.may_repeat or len(requests) > 1):
            self._fault("WRONG END", f"{job} is dead ({stored.get('end')}) after {requests[:SOME]}")
        elif stored["state"] in ("cancelled", "expired"):
            self._fault("WRONG END", f"{job} is {stored['state']}")
        if not job.may_repeat and any(request.result != "503" for request in requests[:-1]):
            self._fault("REPEATED", f"{job} may not be sent twice while the first is unknown: {requests[:SOME]}")
        self._overlap(job, requests)
        self._record(job, stored, requests, attempts)

    def _overlap(self, job, requests):
        for before, after in zip(requests, requests[1:]):
            if before.over > after.came and before.node != after.node:
                if before.node in self.excused:
                    self.figures["under way while taken over"] += 1
                else:
                    self._fault("HELD TWICE", f"{job}: {before} and {after} were under way at the same time")

    def _record(self, job, stored, requests, attempts):
        """Every request is an attempt on record; one on record beyond them was never sent, or was cut off."""
        if len(requests) == stored["attempt_count"] == 1 and stored["state"] == "succeeded":
            return
        made = attempts(stored["id"])
        cut = sum(attempt["result"] == "interrupted" for attempt in made)
        sent = sum(
            1 + bool(attempt.get("resent")) for attempt in made
            if attempt["result"] != "interrupted" and attempt.get("sent") != "never_sent")
        again = sum(bool(attempt.get("resent")) for attempt in made if attempt["result"] == "interrupted")
        self.figures["cut off"] += cut
        if len(requests) > sent + cut + again:
            self._fault("UNRECORDED", f"{job}: {requests[:SOME]} of {made[:SOME]}")
        if len(requests) < sent:
            self._fault("NEVER MADE", f"{job}: {requests[:SOME]} of {made[:SOME]}")

    def _order(self):
        keys = collections.defaultdict(list)
        for number in sorted(self.jobs):
            job = self.jobs[number]
            # When one was accepted whose answer was lost nobody can tell.
            if job.order and job.end == "accepted" and self.seen.get(number):
                keys[job.order].append(job)
        self.figures["ordering keys"] = len(keys)
        for key, jobs in keys.items():
            for before, after in zip(jobs, jobs[1:]):
                first, then = self.seen[before.number], self.seen[after.number][0]
                done = next((request for request in first if request.result == "200"), first[-1])
                if then.place < first[0].place or then.came < done.over - 0.001:
                    self._fault("DISORDER", f"key {key}: {after} {then} came before the end of {before} {first[:SOME]}")

    @property
    def line(self):
        return ", ".join(f"{name} {count}" for name, count in sorted(self.figures.items()))


def settled_twice(server):
    """Jobs that have more than one end: one change alone may be the last."""
    rows = server.rows(
        f"SELECT j.id, count(*) FROM {SCHEMA}.change c JOIN {SCHEMA}.job j USING (slot, seq) WHERE c.state IN (5, 6, 7, 8) "
        "GROUP BY j.id HAVING count(*) > 1 LIMIT 100")
    return [(id, int(count)) for id, count in rows]


def rows_of(server, id):
    """The rows that the database has of a job, in words."""
    place = server.rows(f"SELECT slot, seq, state FROM {SCHEMA}.job WHERE id = '{id}'")
    if not place:
        return f"{id}: no row"
    slot, seq, state = place[0]
    words = [f"{id}: job {slot} {seq} state {state}"]
    for name, columns in (
        ("change", "n, at, state, generation, token"), ("ready", "k, n, due, state"), ("deferred", "n, due, state"),
        ("turn", "encode(scope, 'hex'), n, (SELECT count(*) FROM {0}.turn o WHERE o.scope = t.scope AND o.n < t.n)")
    ):
        for row in server.rows(f"SELECT {columns.format(SCHEMA)} FROM {SCHEMA}.{name} t WHERE slot = {slot} AND seq = {seq}"):
            words.append(f"{name} {' '.join(row)}")
    return "; ".join(words)


def uuid_of(id):
    """The job's name as the database has it."""
    number = 0
    for letter in id:
        number = number << 5 | "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(letter)
    return f"{number:032x}"
