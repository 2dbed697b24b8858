"""Controls: the same judgement must see what is wrong when something is made wrong on purpose."""

import copy
import shutil
import sqlite3

from daemon import Daemon, Life
from recorder import Record
from verdict import Verdict, label


def without(mapping, key):
    return {name: value for name, value in mapping.items() if name != key}


def log_controls(ledger, records, lives, jobs, verdict):
    """Judges logs that were tampered with; returns what went unseen."""
    submissions = ledger.submissions
    by_number = {label(job): job for job in jobs}

    def first(condition):
        return next(
            number for number, job in submissions.items()
            if job.id and by_number[number]["state"] == "succeeded" and condition(job, verdict.seen.get(number, [])))

    def changed(record, **members):
        other = copy.copy(record)
        for name, value in members.items():
            setattr(other, name, value)
        return other

    plain = first(lambda job, seen: len(seen) == 1)
    repeated = first(lambda job, seen: len(seen) > 1 and job.key)
    only = verdict.seen[plain][0]
    bare = first(lambda job, seen: len(seen) == 1 and not job.may_repeat)
    delayed = first(lambda job, seen: job.delay >= 1000 and len(seen) == 1)
    again = Record(plain, only.life, len(records), only.key, only.digest, only.signed)
    again.result, again.ended = "200", again.arrived

    def neighbours():
        """Two jobs of an ordering key, one right behind the other in the same life."""
        for key in {job.order for job in submissions.values() if job.order}:
            members = sorted(n for n, job in submissions.items() if job.order == key and n in verdict.seen)
            for one, next_one in zip(members, members[1:]):
                if verdict.seen[one][-1].life == verdict.seen[next_one][0].life:
                    return verdict.seen[one][-1], verdict.seen[next_one][0]
        raise AssertionError("no two jobs of an ordering key came right behind each other")
    before, behind = neighbours()

    def recorded(attempts):
        """The jobs, with another record of one that was sent once."""
        return [{**job, "attempts": attempts, "attempt_count": len(attempts)} if job is by_number[plain] else job
                for job in jobs]
    made = by_number[plain]["attempts"]
    cut = {**made[-1], "result": "interrupted"}

    others = [record for record in records if record.number != plain]
    cases = {
        "UNRECORDED": (submissions, records, recorded(
            [attempt for attempt in made if attempt.get("sent") == "never_sent"])),
        "NEVER MADE": (submissions, records, recorded([*made, {**made[-1], "number": len(made) + 1}])),
        "CUT TWICE": (submissions, records, recorded(
            [*made, {**cut, "number": len(made) + 1}, {**cut, "number": len(made) + 2}])),
        "LOST": (submissions, records, [job for job in jobs if job is not by_number[plain]]),
        "INVENTED": (without(submissions, plain), records, jobs),
        "UNSENT": (submissions, others, jobs),
        "ALTERED": (submissions, [*others, changed(only, digest="0")], jobs),
        "SENT AGAIN": (submissions, [*records, again], jobs),
        "REPEATED": (submissions, [*records, changed(verdict.seen[bare][0], result="reset")], jobs),
        "OTHER KEY": (submissions, [*records, changed(verdict.seen[repeated][0], key="another")], jobs),
        "EARLY": (submissions, [
            changed(record, arrived=submissions[delayed].began) if record.number == delayed else record
            for record in records], jobs),
        "DISORDER": (submissions, [
            changed(record, place=before.place - 0.5) if record is behind else record for record in records], jobs),
        "TWICE": (submissions, records, [*jobs, {**by_number[plain], "id": "another"}]),
        "STUCK": (submissions, records, [
            {**job, "state": "queued"} if job is by_number[plain] else job for job in jobs]),
        "WRONG END": (submissions, records, [
            {**job, "state": "dead", "end": "poison"} if job is by_number[plain] else job for job in jobs]),
    }
    unseen = []
    cases["MISCOUNTED"] = (submissions, records, jobs, {("main", "succeeded"): 1})
    for word, case in cases.items():
        faults = Verdict(*case[:2], lives, *case[2:]).faults
        if not any(fault.startswith(word) for fault in faults):
            unseen.append(f"the control {word} went unseen; it gave {faults[:3]}")
    return unseen, len(cases)


def store_control(daemon, ledger, records, lives, jobs):
    """Takes one acknowledged job out of a copy of the store, and asks a daemon on that copy."""
    lost = next(job for job in ledger.submissions.values() if job.id)
    directory = daemon.directory.with_name(daemon.directory.name + "-lost")
    shutil.copytree(daemon.directory / "state", directory / "state")
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    name = 0
    for letter in lost.id:
        name = name << 5 | alphabet.index(letter)
    database = sqlite3.connect(directory / "state" / "jobs.db")
    with database:
        position = database.execute("SELECT seq FROM id WHERE id = ?", [name.to_bytes(16, "big")]).fetchone()[0]
        tables = ("job", "plain")
        removed = sum(database.execute(f"DELETE FROM {table} WHERE seq = ?", [position]).rowcount for table in tables)
    database.close()
    if removed != 1:
        return [f"the control could not take {lost} out of the store"]
    other = Daemon(daemon.program, daemon.ports, directory)
    try:
        other.launch()
        other.wait_ready()
        found = other.list()
        other.kill(how=15)
    finally:
        other.end()
        shutil.rmtree(directory, ignore_errors=True)
    faults = Verdict(ledger.submissions, records, {**lives, 0: Life()}, found).faults
    if not any(fault.startswith("LOST") and f"{lost}" in fault for fault in faults):
        return [f"a job that was taken out of the store went unmissed; the judgement: {faults[:3]}"]
    return []
