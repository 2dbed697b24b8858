"""The judgement: what the clients were told, what the upstream saw and what the daemon tells must agree."""

import collections
import datetime

from daemon import FINISHED

# Between the upstream's last byte and the commit that keeps it; a kill within it may cause a second delivery.
SETTLE = 3.0


def label(job):
    """The number a client gave the job; none when it has none."""
    for word in job.get("labels") or []:
        if word.startswith("n="):
            return int(word[2:])
    return None


def some(records):
    return f"{records[:6]}" + (f" and {len(records) - 6} more" if len(records) > 6 else "")


class Verdict:
    """`submissions` by number, the upstream's `records`, the daemon's `lives` by number, its `jobs` at the end and how
    many it counts by route and state (none where that was not asked)."""

    def __init__(self, submissions, records, lives, jobs, counts=None):
        self.submissions, self.lives, self.jobs = submissions, lives, jobs
        self.faults, self.figures = [], {}
        self.stored, self.seen = {}, {}
        # A request of an earlier life may be read after one of a later life: the life decides.
        for record in sorted(records, key=lambda record: (record.life, record.place)):
            self.seen.setdefault(record.number, []).append(record)
        self._stored()
        for number, submission in submissions.items():
            self._job(submission, self.stored.get(number), self.seen.get(number, []))
        found = collections.Counter((job["route"], job["state"]) for job in jobs)
        if counts is not None and counts != found:
            self._fault(f"MISCOUNTED: {counts} is told of, and {dict(found)} is there")
        self._uninvited()
        self._order()
        self._count()

    def _fault(self, text):
        self.faults.append(text)

    def _stored(self):
        for job in self.jobs:
            number = label(job)
            if number not in self.submissions:
                self._fault(f"INVENTED: nobody handed over {job['id']} ({number})")
            elif number in self.stored:
                self._fault(f"TWICE: {self.submissions[number]} is {self.stored[number]['id']} and {job['id']}")
            else:
                self.stored[number] = job

    def _uninvited(self):
        for number, records in self.seen.items():
            if number not in self.submissions:
                self._fault(f"INVENTED: the upstream was sent job {number}, which nobody handed over: {some(records)}")
            elif number not in self.stored:
                self._fault(f"LOST: {self.submissions[number]} was sent, and the daemon knows nothing of it: {some(records)}")

    def _job(self, submission, job, records):
        if submission.id and job is None:
            return self._fault(f"LOST: {submission} was acknowledged, and the daemon knows nothing of it")
        if job is None:
            return
        if submission.id and submission.id != job["id"]:
            self._fault(f"TWICE: {submission} is stored as {job['id']}")
        if job["state"] not in FINISHED:
            self._fault(f"STUCK: {submission} is {job['state']} ({job.get('reason')})")
        if submission.refusals and not submission.id and not submission.lost:
            self._fault(f"INVENTED: {submission} was refused with {submission.refusals} and is stored all the same")
        self._sent(submission, records)
        if "attempts" in job:
            self._attempts(submission, job, records)
        if job["state"] == "succeeded":
            if not any(record.result == "200" for record in records):
                self._fault(f"UNSENT: {submission} counts as delivered; the upstream saw {some(records)}")
        elif job["state"] == "dead":
            self._dead(submission, job, records)
        elif job["state"] in FINISHED:
            self._fault(f"WRONG END: {submission} is {job['state']}")

    def _sent(self, submission, records):
        for record in records:
            if record.digest != submission.digest:
                self._fault(f"ALTERED: {submission} arrived with another body: {record}")
            if submission.key and record.key.strip('"') != submission.key:
                self._fault(f"OTHER KEY: {submission} arrived with key {record.key}")
            if record.signed is not (True if submission.route == "hooks" else None):
                self._fault(f"UNSIGNED: {submission}: {record}")
            if submission.delay and record.arrived < submission.began + submission.delay / 1000 - 0.005:
                self._fault(f"EARLY: {submission} arrived {record.arrived - submission.began:.3f} s after it was sent")
        if len({record.key for record in records}) > 1:
            self._fault(f"OTHER KEY: {submission} was sent with several: {some(records)}")
        if not submission.may_repeat and any(record.result != "503" for record in records[:-1]):
            self._fault(f"REPEATED: {submission} may not be sent twice while the first is unknown: {some(records)}")
        for before, after in zip(records, records[1:]):
            if before.result not in ("200", "422"):
                continue
            # It had its answer: only a kill before that was kept makes a second delivery right.
            killed = self.lives[before.life].killed
            lag = killed - before.ended if killed else None
            if before.life == after.life or lag is None or lag > SETTLE:
                self._fault(f"SENT AGAIN: {submission}: {before}, then {after}, the kill {lag} s after the answer")
            else:
                self._add("sent again", 1)
                self.figures["longest lag"] = max(self.figures.get("longest lag", 0), lag)

    def _life(self, attempt):
        """The life in which an attempt began, by the clock on the wall."""
        began = datetime.datetime.fromisoformat(attempt["started_at"].replace("Z", "+00:00")).timestamp()
        return max((number for number, life in self.lives.items() if life.wall <= began + 0.002), default=0)

    def _attempts(self, submission, job, records):
        """Life by life: every request is an attempt on record, and what is on record beyond it was never sent or was
        cut short, by the one kill that ended that life."""
        attempts = job["attempts"]
        if [attempt["number"] for attempt in attempts] != list(range(1, job["attempt_count"] + 1)):
            self._fault(f"UNRECORDED: {submission} has {job['attempt_count']} attempts and tells of {attempts}")
        requests, sent, cut, again = (collections.Counter() for _ in range(4))
        for record in records:
            requests[record.life] += 1
        for attempt in attempts:
            life = self._life(attempt)
            if attempt["result"] == "interrupted":
                cut[life] += 1
                self._add("interrupted", 1)
                # A request that was to go out once more may not have done so.
                again[life] += attempt.get("resent", False)
            # A listener that closes takes requests with it that nobody has read.
            elif attempt.get("sent") == "unknown" and submission.route == "flaky":
                self._add("lost in a closed listener", requests[life] <= sent[life])
                sent[life] += requests[life] > sent[life]
            elif attempt.get("sent") != "never_sent":
                sent[life] += 1
                # Sent once more on a fresh connection, and told so (RFC 9112, 9.3.1).
                sent[life] += attempt.get("resent", False)
                self._add("sent once more", attempt.get("resent", False))
        for life in set(requests) | set(sent) | set(cut):
            seen = f"life {life}: {requests[life]} requests, {sent[life]} attempts and {cut[life]} cut short"
            if requests[life] > sent[life] + cut[life] + again[life]:
                self._fault(f"UNRECORDED: {submission}, {seen}: {some(records)} {attempts}")
            if requests[life] < sent[life]:
                self._fault(f"NEVER MADE: {submission}, {seen}: {some(records)} {attempts}")
            if cut[life] > (1 if self.lives[life].killed else 0):
                self._fault(f"CUT TWICE: {submission}, {seen}: {attempts}")

    def _dead(self, submission, job, records):
        reason = job.get("end")
        self._add(f"dead ({reason})", 1)
        if submission.script == [422] and any(record.result == "422" for record in records):
            return
        if reason == "outcome_unknown":
            if submission.may_repeat:
                self._fault(f"WRONG END: {submission} is dead ({reason}), and may be repeated: {some(records)}")
            return
        if reason == "poison":
            # In flight counts from the claim, which a kill may come right behind: not every crash shows here.
            crashes = sum(1 for life in self.lives.values() if life.killed and life.killed > submission.began)
            self._add("quarantined, seen at fewer crashes", len({record.life for record in records}) < 3)
            if crashes < 3 or job.get("crashes") != 3:
                self._fault(f"WRONG END: {submission} is dead ({reason}) after {some(records)}")
            return
        last = records[-1].result if records else None
        if submission.may_repeat or last not in ("500", "503", "reset"):
            self._fault(f"WRONG END: {submission} is dead ({reason}) after {some(records)}")

    def _order(self):
        keys = {}
        for submission in self.submissions.values():
            if submission.order:
                keys.setdefault(submission.order, []).append(submission)
        for key, members in keys.items():
            previous = None
            for submission in sorted(members, key=lambda member: member.number):
                records = self.seen.get(submission.number)
                if not records:
                    continue
                if previous:
                    last, first = previous[-1], records[0]
                    if (last.life, last.place) > (first.life, first.place):
                        self._fault(f"DISORDER: key {key}: {submission} {first} came before the end of {last}")
                    elif last.life == first.life and last.ended and last.ended > first.arrived + 0.001:
                        self._fault(f"DISORDER: key {key}: {submission} {first} came while {last} was under way")
                previous = records
        self._add("ordering keys", len(keys))

    def _count(self):
        all_jobs = list(self.submissions.values())
        kills = sum(1 for life in self.lives.values() if life.killed)
        self._add("kills", kills)
        self._add("handed over", len(all_jobs))
        self._add("acknowledged", sum(1 for job in all_jobs if job.id))
        self._add("answers lost", sum(job.lost for job in all_jobs))
        self._add("kept", len(self.stored))
        self._add("delivered", sum(1 for job in self.jobs if job["state"] == "succeeded"))
        self._add("requests", sum(map(len, self.seen.values())))

    def _add(self, name, count):
        self.figures[name] = self.figures.get(name, 0) + count

    @property
    def line(self):
        return ", ".join(
            f"{name} {value:.3f} s" if isinstance(value, float) else f"{name} {value}"
            for name, value in sorted(self.figures.items()))
