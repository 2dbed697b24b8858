"""Sessions that hold an old snapshot, for which a database gives no room back."""

import contextlib
import threading
import time

KINDS = ("idle", "readers")
NAME = "an old snapshot"
PATIENCE = 60


class Holders:
    """In each of the databases: a transaction that is `idle` and holds an xid and a snapshot, or four `readers` at
    REPEATABLE READ that have read every table, the oldest of which makes room for a new one each `step` seconds."""

    def __init__(self, server, databases, kinds, step=30):
        self.server, self.databases, self.kinds, self.step = server, databases, kinds, step
        self.sessions, self.over, self.thread = [], threading.Event(), None

    def __enter__(self):
        if "idle" in self.kinds:
            self.sessions = [self.begin(database) for database in self.databases]
        if "readers" in self.kinds:
            self.thread = threading.Thread(target=self.overlap, daemon=True)
            self.thread.start()
        end = time.monotonic() + PATIENCE
        while self.kinds and any(not self.pids(database) for database in self.databases):
            if time.monotonic() > end:
                raise AssertionError("nobody holds a snapshot")
            time.sleep(0.1)
        return self

    def begin(self, database, names=()):
        session = self.server.session(database)
        session.stdin.write(f"SET application_name = '{NAME}'; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current();\n")
        session.stdin.write("".join(f"SELECT count(*) FROM {name};\n" for name in names))
        session.stdin.flush()
        return session

    def pids(self, database):
        """Of those that hold a snapshot now."""
        return {int(row[0]) for row in self.server.rows(
            f"SELECT pid FROM pg_stat_activity WHERE application_name = '{NAME}' AND datname = '{database}' "
            "AND backend_xmin IS NOT NULL")}

    def overlap(self):
        tables = {database: self.server.sql(
            "SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' "
            "AND nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'", database).split() for database in self.databases}
        rounds = []
        while not self.over.is_set():
            rounds.append([self.begin(database, tables[database]) for database in self.databases])
            if len(rounds) > 4:
                self.end(rounds.pop(0))
            self.over.wait(self.step)
        for sessions in rounds:
            self.end(sessions)

    @staticmethod
    def end(sessions):
        for session in sessions:
            with contextlib.suppress(BrokenPipeError):
                session.stdin.close()
            session.wait(PATIENCE)

    def __exit__(self, *_):
        self.over.set()
        if self.thread:
            self.thread.join(PATIENCE)
        self.end(self.sessions)
