"""Controls: the same judgement must see what is wrong when something is made wrong, and when a fence is taken away."""

import concurrent.futures
import copy
import threading
import time

from judge import Request, Verdict, number_of, settled_twice
from nodes import SCHEMA, Fleet
from submitters import Submitters

LEASE = 5
PATIENCE = 60
# Jobs that a node has under way, at least, when it is stopped.
ENOUGH = 5
# A change is fenced by its number, which one change of a job alone can have, and a node by its generation: here the next
# free number is taken instead, and a generation stays what it is.
WITHOUT_NUMBERS = f"""
CREATE FUNCTION {SCHEMA}.no_number() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
    IF EXISTS (SELECT FROM {SCHEMA}.change c WHERE c.slot = NEW.slot AND c.seq = NEW.seq AND c.n >= NEW.n) THEN
        NEW.n := (SELECT max(c.n) + 1 FROM {SCHEMA}.change c WHERE c.slot = NEW.slot AND c.seq = NEW.seq);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER no_number BEFORE INSERT ON {SCHEMA}.change FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.no_number();
CREATE FUNCTION {SCHEMA}.no_generation() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'DELETE' THEN RETURN NULL; END IF;
    NEW.generation := OLD.generation;
    RETURN NEW;
END $$;
CREATE TRIGGER no_generation BEFORE UPDATE OR DELETE ON {SCHEMA}.node FOR EACH ROW
    EXECUTE FUNCTION {SCHEMA}.no_generation();
"""
# A node holds its lease for as long as others think it does: here one that is stopped for a moment believes that it has
# renewed it, and has not.
WITHOUT_LEASE = f"UPDATE {SCHEMA}.node SET until = 0 WHERE name = 'node1'"


def log_controls(jobs, requests, stored, attempts):
    """Judges logs that were tampered with; returns what went unseen."""
    seen = {}
    for request in sorted(requests, key=lambda request: request.place):
        seen.setdefault(request.number, []).append(request)
    by_number = {number_of(job): job for job in stored}
    plain = next(job for job in jobs if job.end == "accepted" and job.may_repeat and len(seen.get(job.number, [])) == 1
                 and by_number[job.number]["attempt_count"] == 1)
    only, kept = seen[plain.number][0], by_number[plain.number]
    bare = next((job for job in jobs if job.end == "accepted" and not job.may_repeat
                 and [request.result for request in seen.get(job.number, [])] == ["200"]), None)

    def changed(thing, **members):
        other = copy.copy(thing)
        for name, value in members.items():
            setattr(other, name, value)
        return other

    def neighbours():
        last = {}
        for job in jobs:
            if job.order and job.end == "accepted" and job.number in seen:
                if job.order in last:
                    return last[job.order], job
                last[job.order] = job
        raise AssertionError("no two jobs have one ordering key")

    before, behind = neighbours()
    early = changed(seen[behind.number][0], place=seen[before.number][0].place - 0.5)
    without = [job for job in jobs if job is not plain]
    twice = [*requests, changed(only, node="another", place=len(requests) + 1, came=only.came + (only.over - only.came) / 2)]
    none = [request for request in requests if request.number != plain.number]
    cases = {
        "LOST": (jobs, requests, [job for job in stored if job is not kept], []),
        "INVENTED": (without, requests, stored, []),
        "TWICE": (jobs, requests, [*stored, {**kept, "id": "another"}], []),
        "SETTLED TWICE": (jobs, requests, stored, [(kept["id"], 2)]),
        "STUCK": (jobs, requests, [{**job, "state": "queued"} if job is kept else job for job in stored], []),
        "WRONG END": (jobs, requests, [{**job, "state": "dead"} if job is kept else job for job in stored], []),
        "UNSENT": (jobs, none, stored, []),
        "NEVER MADE": (jobs, none, stored, []),
        "HELD TWICE": (jobs, twice, stored, []),
        "UNRECORDED": (jobs, twice, stored, []),
        "DISORDER": (jobs, [early if request is seen[behind.number][0] else request for request in requests], stored, []),
    }
    if bare:
        cases["REPEATED"] = (jobs, [*requests, changed(seen[bare.number][0], place=len(requests) + 1)], stored, [])
    unseen = []
    for word, (jobs_then, requests_then, stored_then, settled) in cases.items():
        faults = Verdict(jobs_then, requests_then, stored_then, attempts, settled).faults
        if not any(fault.startswith(word + ":") for fault in faults):
            unseen.append(f"the control {word} went unseen; it gave {faults[:3]}")
    if not unseen:
        print(f"  controls: {len(cases)} wrongs made on purpose, all seen", flush=True)
    return unseen


# The jobs that the first node holds, by its last word on them, and those of some that have an end.
HELD = f"""
SELECT j.slot, j.seq FROM {SCHEMA}.job j LEFT JOIN LATERAL (SELECT state, generation FROM {SCHEMA}.change c
WHERE c.slot = j.slot AND c.seq = j.seq ORDER BY n DESC LIMIT 1) c ON true
JOIN {SCHEMA}.node n ON n.generation = coalesce(c.generation, j.generation)
WHERE n.name = 'node1' AND coalesce(c.state, j.state) = 2
"""
ENDED = f"SELECT DISTINCT slot, seq FROM {SCHEMA}.change WHERE state IN (5, 6, 7, 8) AND (slot, seq) IN (VALUES %s)"
LOCK = f"BEGIN; SELECT FROM {SCHEMA}.node WHERE name = 'node1' FOR UPDATE;\n"
LOCKED = "SELECT FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%FOR UPDATE%' LIMIT 1"


def wait(condition, what):
    """Until it holds, at most PATIENCE seconds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"it never came to be that {what}")
        time.sleep(0.1)


class Trial:
    """Two nodes, an upstream that takes seconds, and one node that is stopped until its jobs have ended at the other."""

    def __init__(self, programs, parent, fault):
        self.under_way, is_leased = 0, fault is not WITHOUT_LEASE
        # Long enough there that a request is still under way when its job is taken over at once.
        with Fleet(programs, 2, LEASE, milliseconds=2000 if is_leased else 8000, script="smooth", parent=parent,
                   patience=2 * PATIENCE) as fleet:
            fleet.start()
            if fault and is_leased:
                fleet.server.sql(fault)
            # A node takes over only once it has renewed its own lease for one whole lease.
            time.sleep(LEASE + 1)
            submitters = Submitters(fleet.nodes, 16, 200, 60, 0)
            thread = threading.Thread(target=submitters.run, daemon=True)
            thread.start()
            time.sleep(2)
            self._stop(fleet, "" if is_leased else fault)
            if fault and is_leased:
                self._go_on_late(fleet)
            else:
                fleet.nodes[0].pause(False)
            thread.join(PATIENCE)
            # Without a fence the counts of jobs may be wrong for good.
            fleet.drain(2 * LEASE if fault else PATIENCE)
            node = fleet.nodes[1]
            requests = [Request(*line) for line in fleet.upstream.records()]
            excused = {"node1"} if is_leased else frozenset()
            verdict = Verdict(submitters.jobs, requests, node.list(), node.attempts, settled_twice(fleet.server), excused)
            self.faults, self.figures = submitters.faults + verdict.faults, verdict.figures

    def _stop(self, fleet, fault):
        """Stops the first node while it has jobs under way, until all of them have ended at the other; the fault comes then."""
        held, stopped = [], fleet.nodes[0]

        def is_stopped():
            nonlocal held
            stopped.pause(True)
            held = fleet.server.rows(HELD)
            if len(held) < ENOUGH:
                stopped.pause(False)
            return stopped.is_paused

        wait(is_stopped, "the node is stopped while it has jobs under way")
        self.under_way = len(held)
        if fault:
            fleet.server.sql(fault)
        places = ", ".join(f"({slot}, {seq})" for slot, seq in held)
        wait(lambda: len(fleet.server.rows(ENDED % places)) == len(held), "the jobs of a stopped node end at the other")

    @staticmethod
    def _go_on_late(fleet):
        """Has it write what it was answered meanwhile before it can find out: first of all it renews its lease, and waits
        for the lock."""
        session = fleet.server.session()
        try:
            session.stdin.write(LOCK)
            session.stdin.flush()
            wait(lambda: fleet.server.sql(f"SELECT EXISTS ({LOCKED})") == "t", "the row of the node is locked")
            fleet.nodes[0].pause(False)
            end = time.monotonic() + PATIENCE
            while not settled_twice(fleet.server) and time.monotonic() < end:
                time.sleep(0.1)
        finally:
            session.communicate()

    def found(self, word):
        return sum(fault.startswith(word + ":") for fault in self.faults)


def fence_controls(programs, parent):
    """Returns what is wrong: faults with the fences, and none without one."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        fenced, numberless, leaseless = pool.map(
            lambda fault: Trial(programs, parent, fault), ("", WITHOUT_NUMBERS, WITHOUT_LEASE))
    print(f"  a node stopped for longer than its lease: {fenced.figures['cut off']} of {fenced.under_way} taken over, "
          f"{len(fenced.faults)} faults; without numbers and generations {numberless.found('SETTLED TWICE')} of "
          f"{numberless.under_way} settled twice; "
          f"without a lease {leaseless.found('HELD TWICE')} of {leaseless.under_way} held twice", flush=True)
    wrong = [f"with all fences: {fault}" for fault in fenced.faults[:10]]
    if not fenced.figures["cut off"]:
        wrong.append("no job of the stopped node was taken over")
    if not numberless.found("SETTLED TWICE"):
        wrong.append(f"without numbers and generations no job was settled twice: {numberless.faults[:3]}")
    if not leaseless.found("HELD TWICE"):
        wrong.append(f"without a lease no job was held twice: {leaseless.faults[:3]}")
    return wrong
