"""The daemon as its unit starts it: sockets that are passed, a manager that is told, a watchdog that is fed."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time

from . import system
from .system import Unavailable

# The seconds of WatchdogSec= in waystationd.service.
WATCHDOG = 10
# As on a machine with two processors, wherever it is measured: each has its loop.
LOOPS = "2"
# The units' sockets: name, backlog.
SOCKETS = (("control", 64), ("jobs", 1024))


class Unit:
    """One start of the daemon with an empty store."""

    process = None

    def __init__(self, daemon, directory, configuration, real_time=False):
        self.daemon = daemon
        self.real_time = real_time
        self.directory = directory
        self.configuration = configuration
        self.listeners = []

    def path(self, name):
        return os.path.join(self.directory, name)

    def __enter__(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.path("state"), mode=0o700)
        with open(self.path("waystation.json"), "w") as file:
            json.dump(self.configuration, file)
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.bind(self.path("notify"))
        try:
            for name, backlog in SOCKETS:
                listener = socket.socket(socket.AF_UNIX)
                self.listeners.append(listener)
                listener.bind(self.path(name))
                listener.listen(backlog)
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        system.stop(self.process)
        for each in (self.notices, *self.listeners):
            each.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self):
        """Starts it; `seconds` is the time from the start of the program to READY=1."""
        passed = [each.fileno() for each in self.listeners]
        began, begin = os.pipe()

        def prepare():
            """In the child, whose environment the program gets as it then is: it has to name the process."""
            # Out of each other's way; in the parent 3 and 4 are in use, so nothing of subprocess is there.
            moved = [os.dup(each) for each in passed]
            for number, each in enumerate(moved, 3):
                if each != number:
                    os.dup2(each, number)
                os.set_inheritable(number, True)
            os.environ.update({
                "NOTIFY_SOCKET": self.path("notify"), "STATE_DIRECTORY": self.path("state"),
                "WATCHDOG_USEC": str(WATCHDOG * 1_000_000), "WATCHDOG_PID": str(os.getpid()),
                "LISTEN_FDS": str(len(passed)), "LISTEN_PID": str(os.getpid()),
                "LISTEN_FDNAMES": ":".join(name for name, _ in SOCKETS),
            })
            system.die_with_parent()
            if self.real_time:
                system.go_first()
            os.write(begin, time.monotonic_ns().to_bytes(8, "little"))

        with open(self.path("log"), "wb") as log:
            self.process = subprocess.Popen(
                [self.daemon, "--config", self.path("waystation.json"), "--loops", LOOPS], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, close_fds=False, preexec_fn=prepare)
        os.close(begin)
        with open(began, "rb") as file:
            start = int.from_bytes(file.read(8), "little")
        self.wait_for(b"READY=1", 30)
        self.seconds = (time.monotonic_ns() - start) / 1e9

    def wait_for(self, line, seconds):
        """Takes what the manager is told until that is among it."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.notices.settimeout(min(left, 0.2))
            try:
                if line in self.notices.recv(4096).split(b"\n"):
                    return
            except TimeoutError:
                self.check_alive()
        raise Unavailable(f"the daemon does not say {line.decode()} after {seconds} s: {self.said()}")

    def hear(self):
        """Takes what the manager has been told, so that no message waits for room; returns it."""
        heard = []
        self.notices.setblocking(False)
        while True:
            try:
                heard.append(self.notices.recv(4096))
            except BlockingIOError:
                return heard

    def check_alive(self):
        if self.process.poll() is not None:
            raise Unavailable(f"the daemon ended with status {self.process.returncode}: {self.said()}")

    def said(self):
        with open(self.path("log"), errors="replace") as file:
            return file.read()[-2000:].strip() or "it said nothing"

    def stop_wanted(self):
        self.process.send_signal(signal.SIGTERM)

    def connected(self, name="jobs"):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(self.path(name))
        return connection

    def ask(self, connection, path, *fields, status):
        """One request on a connection that stays open."""
        lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Length: 0", *fields]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = connection.recv(65536)
            if not piece:
                break
            answer += piece
        if not answer.startswith(b"HTTP/1.1 %d " % status):
            raise Unavailable(f"{path} was to be answered {status}: {answer[:300]!r}")
