"""The queues beside which the relay is measured: each with an fsync behind every job."""

import os
import shutil
import socket
import subprocess
import time

from relaybench import system
from relaybench.system import Unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
# Debian's own Python: the one its packages are installed for.
PYTHON = "/usr/bin/python3"


class Server(system.Logged):
    """A server with a store of its own in a directory on the disk."""

    name = ""
    # How `handover` speaks to it.
    protocol = ""
    package = ""

    def __init__(self, directory):
        self.directory = os.path.join(directory, self.name)
        self.socket = os.path.join(self.directory, "s")
        self.log = os.path.join(self.directory, "log")

    def command(self):
        raise NotImplementedError

    def start(self, keep=False):
        """Starts it and waits until it serves, with an empty store unless `keep`; returns the seconds that took."""
        if not keep:
            shutil.rmtree(self.directory, ignore_errors=True)
            os.makedirs(os.path.join(self.directory, "state"), mode=0o700)
        command = self.command()
        if shutil.which(command[0]) is None:
            raise Unavailable(f"{self.package} is not installed; see deploy/install-packages --benchmarks")
        begin = time.monotonic()
        with open(self.log, "a") as log:
            self.process = system.start(command, system.PROXY_CORE, log=log, stdout=log)
        self.wait_until_ready()
        return time.monotonic() - begin

    def wait_until_ready(self):
        for _ in range(10_000):
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    return probe.connect(self.socket)
                except OSError:
                    self.check_alive()
                    time.sleep(0.001)
        self.fail("does not listen after 10 s")

    @property
    def pids(self):
        """The processes that do its work."""
        return [self.process.pid]

    def cpu_seconds(self):
        return sum(system.cpu_nanoseconds(pid) for pid in self.pids) / 1e9


class Redis(Server):
    """Its append-only file on disk before each answer; the file is not rewritten while it is measured."""

    name = "redis"
    protocol = "redis"
    package = "redis-server"

    def command(self):
        return [
            "redis-server", "--port", "0", "--unixsocket", self.socket,
            "--dir", os.path.join(self.directory, "state"), "--appendonly", "yes", "--appendfsync", "always",
            "--save", "", "--auto-aof-rewrite-percentage", "0"]


class Beanstalkd(Server):
    """Its log on disk before each answer."""

    name = "beanstalkd"
    protocol = "beanstalkd"
    package = "beanstalkd"

    def command(self):
        return ["beanstalkd", "-l", "unix:" + self.socket, "-b", os.path.join(self.directory, "state"), "-f0"]


class Celery(Redis):
    """A worker that posts each job to the upstream, with Redis behind it; both share the core."""

    name = "celery"
    package = "celery"

    def __init__(self, directory, port):
        super().__init__(directory)
        self.environment = dict(
            os.environ, BROKER="redis+socket://" + self.socket, UPSTREAM=str(port), C_FORCE_ROOT="1", PYTHONPATH=HERE,
            PYTHONDONTWRITEBYTECODE="1")
        self.worker = None

    def start(self, keep=False):
        if subprocess.run([PYTHON, "-c", "import celery, redis"], stderr=subprocess.DEVNULL).returncode:
            raise Unavailable("celery is not installed; see deploy/install-packages --benchmarks")
        super().start(keep)
        # Two processes: the fastest of solo, threads, gevent and 2, 4 and 8 processes on one core. Jobs are
        # acknowledged when they are done, and fetched ahead; nobody keeps their results.
        command = [
            PYTHON, "-m", "celery", "-A", "celery_job", "worker", "-P", "prefork", "-c", "2", "-l", "ERROR",
            "--without-gossip", "--without-mingle", "--without-heartbeat"]
        with open(self.log, "a") as log:
            self.worker = system.start(
                command, system.PROXY_CORE, environment=self.environment, log=log, stdout=log)
        # The first job is settled once the worker serves.
        self.submit(1)
        return None

    def submit(self, count, body=1024):
        """Hands `count` jobs over and waits until all are settled; returns the seconds of both."""
        run = subprocess.run(
            [PYTHON, os.path.join(HERE, "celery_submit.py"), str(count), str(body)], env=self.environment,
            capture_output=True, text=True, timeout=120)
        if run.returncode:
            raise Unavailable(f"celery: {run.stderr[-2000:]}")
        handed_over, settled = run.stdout.split()
        return float(handed_over), float(settled)

    @property
    def pids(self):
        return [self.process.pid, self.worker.pid, *system.children(self.worker.pid)]

    def stop(self):
        if self.worker is not None:
            system.stop(self.worker)
            self.worker = None
        super().stop()
