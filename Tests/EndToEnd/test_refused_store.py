"""A job store that somebody has to mend: the start ends with 65, and whoever waits is told the reason."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import unittest

from caller import Caller, request
from durable import DurableTest, kept
from relay import eventually
from upstream import answer

# Jobs and bytes of each: a database that is not looked through at every start.
LARGE = 200, 200_000


def write(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def root(path, name):
    """Where the first page of a table or an index begins."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return (database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", [name]).fetchone()[0] - 1) * 4096
    finally:
        database.close()


def cut(path):
    os.truncate(path, path.stat().st_size // 8192 * 4096)


def suspect(path):
    """As a run leaves it that has met damage."""
    write(path, root(path, "id"), b"\xff\xff")
    (path.parent / "suspect").touch()


FAULTS = [
    ("a newer schema", "its schema is version 999", lambda path: write(path, 60, (999).to_bytes(4, "big"))),
    ("another program's database", "another program", lambda path: write(path, 68, b"OTHR")),
    ("no database", "it is no database", lambda path: write(path, 0, bytes(16))),
    ("cut short", "it has been cut short", cut),
    ("no file", "no such file although there was a store", lambda path: path.unlink()),
    ("a damaged structure", "its structure is damaged", lambda path: write(path, root(path, "id"), b"\xff\xff")),
    ("a damaged log", "behind a damaged part", lambda path: path.with_name("jobs.db-wal").write_bytes(b"\7" * 9000)),
    ("open to others", "run chmod go-w", lambda path: path.parent.chmod(0o770)),
]


class RefusedStore(DurableTest):
    """Started as by a service manager that holds the socket."""

    def setUp(self):
        super().setUp()
        self.upstream.on("/x", answer(200, "x"))
        self.relay = self.new_relay({"up": kept(self.upstream.url)})
        self.store = self.relay.directory / "state" / "jobs.db"

    def fill(self, jobs, size):
        self.relay.start()
        for _ in range(jobs):
            self.hand_over(self.relay, "/r/up/x", ("Waystation-Delay", "1h"), body=bytes(size))
        self.assertEqual(self.relay.stop(), 0)
        backup = self.relay.directory / "backup"
        shutil.copytree(self.store.parent, backup)
        return backup

    def hold_socket(self):
        passed = socket.socket(socket.AF_UNIX)
        self.addCleanup(passed.close)
        passed.bind(self.relay.jobs)
        passed.listen(8)
        os.chmod(self.relay.jobs, 0o666)
        self.relay.pass_fds = [passed.fileno()]
        self.relay.environment |= {"LISTEN_FDS": "1", "LISTEN_FDNAMES": "jobs"}
        self.relay.before = ["bash", "-c", f'exec 3<&{passed.fileno()}; export LISTEN_PID=$$; exec "$@"', "pass"]

    def refuse(self, words):
        """One start with a caller at the socket and another that comes; returns what they were told."""
        self.forget_life(self.relay)
        with Caller(self.relay.jobs, 60) as waiting:
            waiting.send(request("GET", "/r/up/x"))
            self.relay.launch()
            problem = self.assert_problem(waiting.answer(), 503, "not_started")
            with Caller(self.relay.jobs, 60) as late:
                late.send(request("GET", "/r/up/x"))
                self.assertEqual(self.assert_problem(late.answer(), 503, "not_started"), problem)
        self.assertEqual(self.relay.process.wait(30), 65)
        sentence = problem["detail"].removeprefix("the relay could not start: ")
        self.assertIn(words, sentence)
        self.relay.errors.wait("<2>" + sentence)
        self.relay.notices.wait("STATUS=" + sentence)
        self.assertEqual(self.relay.notices.having("READY=1"), [])

    def mend(self, backup):
        shutil.rmtree(self.store.parent)
        shutil.copytree(backup, self.store.parent)
        self.store.parent.chmod(0o700)
        self.forget_life(self.relay)
        self.relay.start()
        self.assertEqual(self.relay.ask("GET", "/r/up/x").body, b"x")
        self.assertEqual(len(self.relay.ask("GET", "/v1/jobs?limit=100").json()["jobs"]), 20)
        self.relay.stop()

    def test_each_is_refused_with_its_sentence_until_it_is_mended(self):
        backup = self.fill(20, 3000)
        self.hold_socket()
        for name, words, break_store in FAULTS:
            with self.subTest(name):
                break_store(self.store)
                self.refuse(words)
                self.mend(backup)

    def test_one_of_more_than_32_mib_is_refused_as_well(self):
        backup = self.fill(*LARGE)
        self.assertGreater(self.store.stat().st_size, 32 << 20)
        self.hold_socket()
        for break_store, words in ((cut, "it has been cut short"), (suspect, "its structure is damaged")):
            break_store(self.store)
            self.refuse(words)
            shutil.rmtree(self.store.parent)
            shutil.copytree(backup, self.store.parent)

    def test_who_comes_while_it_is_mended_is_served_by_the_start_that_goes_on(self):
        """It begins again with the mending, and not after its five seconds."""
        backup = self.fill(20, 3000)
        self.hold_socket()
        write(self.store, 0, bytes(16))
        self.forget_life(self.relay)
        with Caller(self.relay.jobs, 60) as waiting:
            waiting.send(request("GET", "/r/up/x"))
            self.relay.launch()
            self.assert_problem(waiting.answer(), 503, "not_started")
            # In its place, as cp does it.
            write(self.store, 0, (backup / "jobs.db").read_bytes()[:16])
        with Caller(self.relay.jobs, 60) as caller:
            caller.send(request("GET", "/r/up/x"))
            self.assertEqual(caller.answer().body, b"x")
        self.assertIsNone(self.relay.process.poll(), "the process is the one that refused the other")
        self.relay.notices.wait("READY=1")
        self.relay.stop()

    def test_what_the_disk_does_not_read_is_not_taken_for_damage(self):
        """SQLite's check of a structure reports a page that it could not read as a damaged one."""
        if shutil.which("strace") is None:
            self.skipTest("needs strace, to let a read fail")
        self.fill(20, 3000)
        self.forget_life(self.relay)
        # From the twelfth page on, where the looking through is under way.
        self.relay.before = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", str(self.store), "-e", "trace=pread64", "-e",
                             "inject=pread64:error=EIO:when=12+"]
        self.relay.launch()
        self.assertEqual(self.relay.process.wait(30), 69)
        self.relay.errors.wait("its disk failed a read")
        self.relay.before = []
        self.forget_life(self.relay)
        self.relay.start()
        self.assertEqual(len(self.relay.ask("GET", "/v1/jobs?limit=100").json()["jobs"]), 20)

    def test_a_stop_ends_the_looking_through(self):
        """Which takes minutes where a store is large, and during which nothing else hears the signal."""
        if shutil.which("strace") is None:
            self.skipTest("needs strace, to have a disk that is slow")
        self.fill(20, 3000)
        self.forget_life(self.relay)
        self.relay.before = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", str(self.store), "-e", "trace=pread64", "-e",
                             "inject=pread64:delay_enter=3000000:when=8+"]
        self.relay.launch()
        self.relay.notices.wait("EXTEND_TIMEOUT_USEC=")
        # strace ignores it for itself while the program it traces is there.
        daemon = int(subprocess.run(["pgrep", "-P", str(self.relay.process.pid)], stdout=subprocess.PIPE, text=True,
                                    check=True).stdout)
        os.kill(daemon, signal.SIGTERM)
        self.assertEqual(self.relay.process.wait(30), 0)
        self.assertEqual(self.relay.notices.having("READY=1"), [])
        self.relay.errors.wait("stopped while the job store was being looked through")
        self.relay.before = []
        self.forget_life(self.relay)
        self.relay.start()
        self.assertEqual(len(self.relay.ask("GET", "/v1/jobs?limit=100").json()["jobs"]), 20)

    def test_where_nobody_waits_it_ends_at_once(self):
        self.fill(1, 10)
        self.hold_socket()
        write(self.store, 0, bytes(16))
        self.forget_life(self.relay)
        self.relay.launch()
        self.assertEqual(self.relay.process.wait(30), 65)
        eventually(lambda: self.relay.errors.having("(end)"), "its output ends")
        self.assertEqual(len(self.relay.errors.having("it is no database")), 1)


if __name__ == "__main__":
    unittest.main()
