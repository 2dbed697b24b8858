"""The journal and the service manager, as seen by a daemon that is not lucky: no journal, a thread that is held."""

import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

from caller import ask, request
from disk import may_mount
from relay import RelayTest, eventually, route
from upstream import answer

DROPPED = b"MESSAGE_ID=893a37b73d91492d89520dbb6c779c87"
# A place for a journal's socket of its own, and a standard error as the manager gives a service without a journal;
# the copy tells when the process is gone.
ALONE = ('mount -t tmpfs none /run && mkdir -p /run/systemd/journal && mount --bind "$0" /run/systemd/journal '
         '&& export SYSTEMD_EXEC_PID=$$ && exec "$@" 9>&2 2>/dev/null')


class Journal:
    """Stands in for journald."""

    def __init__(self, folder):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o666)
        self.socket.settimeout(30)
        self.records = []

    def wait(self, *words):
        """The first record from now on that has all the words."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            record = self.socket.recv(1 << 20)
            self.records.append(record)
            if all(word in record for word in words):
                return record
        raise AssertionError(f"no record with {words} in {self.records}")


@unittest.skipUnless(may_mount(), "needs root, for a place of the journal's own")
class AbsentJournal(RelayTest):
    def setUp(self):
        self.upstream = self.new_upstream()
        self.relay = self.new_relay({"up": route(self.upstream.url)})
        self.folder = self.relay.directory / "journal"
        self.folder.mkdir()
        self.relay.before = ["unshare", "-m", "--propagation", "private", "bash", "-c", ALONE, str(self.folder)]

    def lost(self):
        return self.relay.status()["journal"]["lost_records"]

    def test_records_begin_when_the_journal_comes_and_those_before_are_counted(self):
        self.relay.start()
        eventually(lambda: self.lost() >= 2, "what was said at the start is counted")
        self.assertEqual(ask(self.relay.control, "POST", "/v1/reload").status, 200)
        eventually(lambda: self.lost() >= 3, "and what is said since")
        lost = self.lost()
        journal = Journal(self.folder)
        self.addCleanup(journal.socket.close)
        # Nothing happens meanwhile.
        told = journal.wait(DROPPED)
        self.assertIn(f"COUNT={lost}\n".encode(), told)
        self.assertIn(b"no journal took them", told)
        self.assertEqual(ask(self.relay.control, "POST", "/v1/reload").status, 200)
        record = journal.wait(b"CONFIG_FILE=")
        self.assertIn(b"SYSLOG_IDENTIFIER=waystationd\n", record)
        self.assertEqual(self.lost(), lost)

    def test_a_journal_that_stands_still_holds_up_nobody(self):
        journal = Journal(self.folder)
        self.addCleanup(journal.socket.close)
        self.relay.start()
        # Until its socket takes no more.
        end = time.monotonic() + 60
        while self.relay.status()["journal"]["blocked_seconds"] < 1:
            self.assertLess(time.monotonic(), end, "it takes them all")
            self.assertEqual(ask(self.relay.control, "POST", "/v1/reload").status, 200)
        self.upstream.on("/x", answer(200, "x"))
        self.assertEqual(self.relay.ask("GET", "/r/up/x").body, b"x")
        self.relay.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.relay.process.wait(30), 0)


@unittest.skipUnless(shutil.which("strace"), "needs strace, to hold one thread")
class HeldThread(RelayTest):
    """A loop that is stopped in the middle of waking the journal's thread, or the one that tells the manager."""

    def start(self, **environment):
        self.upstream = self.new_upstream()
        self.upstream.on("/bad", answer(500, "no"))
        return self.new_relay({"up": route(self.upstream.url)}, loops=1, environment=environment).start()

    def hold(self, relay, name):
        """Lets the thread's next write last longer than any test; returns what tells whether it is held."""
        tasks = pathlib.Path(f"/proc/{relay.process.pid}/task")
        thread = next(task for task in tasks.iterdir() if (task / "comm").read_text().strip() == name)
        tracer = subprocess.Popen(
            ["strace", "-qq", "-o", str(relay.directory / "trace"), "-e", "trace=write", "-e",
             "inject=write:delay_enter=600000000", "-p", thread.name],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (tracer.kill(), tracer.wait()))
        eventually(
            lambda: f"TracerPid:\t{tracer.pid}\n" in (thread / "status").read_text(), "the tracer has taken hold of it")
        looks = []

        def is_held():
            # Each call of the system stops it for a moment.
            looks.append("tracing stop" in (thread / "status").read_text())
            return len(looks) >= 50 and all(looks[-50:])
        return is_held

    def test_the_record_of_a_loop_that_stands_still_reaches_the_journal(self):
        relay = self.start(WATCHDOG_USEC="2000000")
        self.hold(relay, "loop-0")
        with relay.caller() as caller:
            caller.send(request("POST", "/r/up/bad"))
            told = relay.errors.wait("<2>loop-0 stands still")
        # The loop made this record before it was held, and could not wake the journal's thread for it.
        own = relay.errors.wait("on route up failed")
        with relay.errors.changed:
            self.assertLess(relay.errors.items.index(own), relay.errors.items.index(told))

    def test_the_watchdog_is_fed_while_a_loop_is_held_that_was_to_tell_the_manager_something(self):
        relay = self.start(WATCHDOG_USEC="120000000")
        is_held = self.hold(relay, "control")

        def fed():
            return len(relay.notices.having("WATCHDOG=1"))

        def is_held_with_the_status_line():
            # At rest it has nothing to tell.
            relay.ask("POST", "/r/up/bad")
            return is_held()
        eventually(is_held_with_the_status_line, "it is held")
        before = fed()
        eventually(lambda: fed() > before + 2, "it is fed")


if __name__ == "__main__":
    unittest.main()
