"""The relay itself, as it is shipped."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time

from . import passing, system
from .servers import ROOT, Server, numbered
from .system import Unavailable

KEEP = "Prefer: respond-async"
# A day ahead: such a job is unfinished and stays so for as long as anything here takes.
LATER = "Waystation-Delay: 24h"
# Both, for a line of a stream.
KEEP_LINE_FOR_LATER = '"mode":"async","options":{"delay":"24h"}'


def release():
    """Builds the daemon as deploy/build makes it, and tells where it is."""
    build = [os.path.join(ROOT, "deploy", "build"), "--product", "waystationd"]
    subprocess.run(build, check=True, stdout=sys.stderr)
    folder = subprocess.run([*build, "--show-bin-path"], check=True, capture_output=True, text=True).stdout.split()
    return os.path.join(folder[0], "waystationd")


class Waystation(Server):
    name = "waystation"
    template = "waystation.json"
    # Of the command line, beside the usual ones.
    words = ()

    def __init__(self, session, name=None, loops=1, cores=system.PROXY_CORE):
        super().__init__(session, name)
        self.control = os.path.join(self.directory, "c")
        self.loops, self.cores = loops, cores

    def command(self, configuration):
        return [self.program, "--config", configuration, "--loops", str(self.loops), *self.words]

    @property
    def program(self):
        return self.session.daemon

    def environment(self):
        # Bound before the daemon is started, which says there when it is ready.
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = os.path.join(self.directory, "n")
        if os.path.exists(path):
            os.unlink(path)
        self.notices.bind(path)
        return dict(os.environ, NOTIFY_SOCKET=path, CREDENTIALS_DIRECTORY=self.directory)

    def version(self):
        return numbered([self.program, "--version"])

    def configure(self):
        with open(os.path.join(self.directory, "secret"), "w") as file:
            file.write("of the benchmark")
        os.chmod(file.name, 0o600)
        return super().configure()

    def wait_until_ready(self):
        """The store's first reading is in that time."""
        deadline = time.monotonic() + 600
        with self.notices as notices:
            notices.settimeout(0.5)
            while time.monotonic() < deadline:
                try:
                    notice = notices.recv(4096)
                except TimeoutError:
                    self.check_alive()
                    continue
                if b"READY=1" in notice.split(b"\n"):
                    return
        self.fail("does not say READY=1 after 600 s")

    def text(self, path):
        """The text of the answer to one GET."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(self.control)
            connection.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path.encode())
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            return answer.read().decode()

    def ask(self, path):
        """The document of one GET."""
        return json.loads(self.text(path))

    def passes_through(self):
        """Whether it passes requests through at all, and counts them: an older one knows nothing of it."""
        words = [self.program, "--pass-through", "on", "--version"]
        return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def ways(self, route, least=0):
        """Which way the route's requests have gone so far, once so many are counted: metrics are given out for a while."""
        return passing.awaited(lambda: self.text("/metrics"), route, least)

    def jobs(self):
        """How many jobs of the route are in which state."""
        return self.ask("/v1/routes/kept")["jobs"]

    @property
    def unfinished(self):
        jobs = self.jobs()
        return sum(jobs.get(state, 0) for state in ("scheduled", "queued", "running", "retrying", "held"))

    def wait_for_succeeded(self, count, since, seconds=120, pause=0.005):
        """The seconds from `since`, on the monotonic clock, until `count` jobs have succeeded."""
        while True:
            jobs = self.jobs()
            now = time.monotonic()
            if jobs["succeeded"] >= count:
                return now - since
            if jobs.get("dead", 0) or now > since + seconds:
                self.fail(f"has settled {jobs} of {count} after {now - since:.1f} s")
            time.sleep(pause)


class Before(Waystation):
    """Another build of the relay, such as an older commit's, in the same rounds: what is known of it has to come out."""

    name = "waystation before"

    @property
    def program(self):
        return self.session.options.beside

    def check_installed(self):
        if not self.program:
            raise Unavailable("an older build is not measured; name its program with --beside")
        super().check_installed()
