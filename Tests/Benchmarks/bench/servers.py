"""The servers that are measured: how each is started, when it serves, and which of its processes do the work."""

import os
import re
import shutil
import socket
import subprocess
import time

from . import system
from .load import HERE
from .system import Unavailable

PEERS = os.path.join(HERE, "peers")
ROOT = os.path.dirname(os.path.dirname(HERE))
INSTALL = "see deploy/install-packages --benchmarks"


def numbered(command, before=""):
    """The first number of a version in what a command says, behind what the pattern matches."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=10).stdout
    except OSError:
        return ""
    found = re.search(before + r"(\d+\.\d+(\.\d+)?)", said)
    return found[1] if found else ""


def from_pypi(path):
    """Where that is of what deploy/install-packages has installed from PyPI."""
    return os.path.join(ROOT, ".build/benchmarks/pypi", path)


class Server:
    """Listens on a Unix socket in a directory of its own; a subclass names its program and its configuration."""

    name = ""
    # The file of `peers` that becomes its configuration.
    template = ""
    # How the client speaks to it.
    protocol = "http"
    cores = system.PROXY_CORE
    is_real_time = True
    process = None
    # The Debian package it comes from, where that has another name.
    package = ""

    def __init__(self, session, name=None):
        self.name = name or self.name
        self.directory = os.path.join(session.directory, self.name.replace(" ", "-").replace(",", ""))
        self.socket = os.path.join(self.directory, "s")
        self.log = os.path.join(self.directory, "log")
        self.session = session

    def command(self, configuration):
        raise NotImplementedError

    def environment(self):
        return None

    def check_installed(self):
        """Raises Unavailable where it cannot be started here."""
        program = self.command("")[0]
        if shutil.which(program) is None:
            raise Unavailable(f"{self.name} is not installed ({program}); {INSTALL}")

    def version(self):
        """Its number, or nothing."""
        return numbered(["dpkg-query", "-W", "-f", "${Version}", self.package or self.name])

    def configure(self):
        """Writes the configuration into the directory; returns where it is."""
        if not self.template:
            return ""
        with open(os.path.join(PEERS, self.template)) as file:
            text = file.read()
        for key, value in {
            "@DIRECTORY@": self.directory, "@SOCKET@": self.socket, "@AUTHORITY@": self.session.authority,
            "@PORT@": str(self.session.plain.port), "@TLS_PORT@": str(self.session.tls.port),
        }.items():
            text = text.replace(key, value)
        path = os.path.join(self.directory, self.template)
        with open(path, "w") as file:
            file.write(text)
        return path

    def start(self, keep=False):
        """Starts it and waits until it serves, with an empty store unless `keep`; returns the seconds that took."""
        if not keep:
            shutil.rmtree(self.directory, ignore_errors=True)
            os.makedirs(os.path.join(self.directory, "state"), mode=0o700)
        command = self.command(self.configure())
        environment = self.environment()
        with open(self.log, "a") as log:
            begin = time.monotonic()
            self.process = system.start(
                command, self.cores, log=log, stdout=log, environment=environment, real_time=self.is_real_time)
        self.wait_until_ready()
        return time.monotonic() - begin

    def wait_until_ready(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    return probe.connect(self.socket)
                except OSError:
                    self.check_alive()
                    time.sleep(0.0005)
        self.fail("does not listen after 20 s")

    def check_alive(self):
        if self.process.poll() is not None:
            self.fail(f"ended with status {self.process.returncode}")

    def fail(self, what):
        with open(self.log) as file:
            tail = file.read()[-2000:]
        self.stop()
        raise Unavailable(f"{self.name} {what}\n{tail}")

    @property
    def pids(self):
        """The processes that do its work."""
        return [self.process.pid]

    def cpu_seconds(self):
        return sum(system.cpu_nanoseconds(pid) for pid in self.pids) / 1e9

    def memory_bytes(self):
        """Resident, and of that what no file stands behind."""
        return tuple(map(sum, zip(*(system.memory_bytes(pid) for pid in self.pids))))

    def stop(self):
        system.stop(self.process)
        self.process = None
