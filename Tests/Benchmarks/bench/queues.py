"""The queues beside which kept jobs are measured: each has a job on disk before it says so."""

import glob
import os
import pwd
import re
import shutil
import socket
import subprocess
import time

from . import system
from .load import Client
from .servers import INSTALL, PEERS, Server, from_pypi, numbered
from .system import Unavailable

# Debian's own Python: the one its packages are installed for.
PYTHON = "/usr/bin/python3"
JOB_BYTES = 1024


class Queue(Server):
    # Whether it goes on between the rounds, because it takes seconds to start.
    stays = False

    def accept(self, connections, seconds):
        words = ["-k", self.protocol, "-c", connections, "-b", JOB_BYTES, "-t", seconds, "-w", 0.3]
        return Client(self.session.directory, self, words).run()


class Redis(Queue):
    name = "redis"
    package = "redis-server"
    template = "redis.conf"
    protocol = "redis"

    def command(self, configuration):
        return ["redis-server", configuration]


class ReliableRedis(Redis):
    """Put in, moved to those in work, taken out of them: three operations, and nothing is delivered."""

    name = "redis reliable"
    protocol = "reliable"

    def lives(self, count):
        words = ["-k", self.protocol, "-c", 64, "-b", JOB_BYTES, "-n", count, "-w", 0.3]
        return Client(self.session.directory, self, words).run()


class Beanstalkd(Queue):
    name = "beanstalkd"
    protocol = "beanstalkd"

    def command(self, configuration):
        # It has no configuration but this: -f0 is a log on disk before each answer.
        return ["beanstalkd", "-l", "unix:" + self.socket, "-b", os.path.join(self.directory, "state"), "-f0"]


class RabbitMQ(Queue):
    name = "rabbitmq"
    package = "rabbitmq-server"
    template = "rabbitmq.conf"
    protocol = "amqp"
    stays = True
    port = None
    names = None

    def command(self, configuration):
        found = glob.glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server")
        if not found or shutil.which("epmd") is None:
            raise Unavailable(f"rabbitmq is not installed; {INSTALL}")
        return [found[0]]

    def configure(self):
        self.port, self.own_port, self.names_port = free_ports(3)
        path = super().configure()
        with open(path) as file:
            text = file.read().replace("@BROKER_PORT@", str(self.port))
        with open(path, "w") as file:
            file.write(text)
        return path

    def environment(self):
        state = os.path.join(self.directory, "state")
        # Its register of names, so that none is left behind that others would find.
        environment = dict(os.environ, ERL_EPMD_PORT=str(self.names_port), ERL_EPMD_ADDRESS="127.0.0.1")
        self.names = system.start(["epmd"], self.cores, environment=environment)
        return dict(
            environment, HOME=self.directory, RABBITMQ_NODENAME="bench@localhost", RABBITMQ_MNESIA_BASE=state,
            RABBITMQ_LOG_BASE=state, RABBITMQ_CONFIG_FILE=os.path.join(self.directory, self.template),
            RABBITMQ_ENABLED_PLUGINS_FILE=os.path.join(state, "plugins"), RABBITMQ_DIST_PORT=str(self.own_port),
            RABBITMQ_PID_FILE=os.path.join(state, "pid"), RABBITMQ_CONF_ENV_FILE="/dev/null",
            # One scheduler that sleeps when there is nothing to do: what suits one core.
            RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none",
            # Its script then becomes the broker instead of waiting for it.
            NOTIFY_SOCKET="/dev/null")

    def wait_until_ready(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self.check_alive()
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=5) as probe:
                    probe.sendall(b"AMQP\0\0\x09\x01")
                    if probe.recv(7)[:1] == b"\x01":
                        return
            except OSError:
                pass
            time.sleep(0.05)
        self.fail("does not listen after 60 s")

    def stop(self):
        super().stop()
        system.stop(self.names)
        self.names = None


class PostgreSQL(Queue):
    """A table of jobs, the way it is done with SKIP LOCKED; the client is its own, pgbench."""

    name = "postgresql"
    package = "postgresql-15"
    template = "postgresql.conf"
    stays = True

    def command(self, configuration):
        return [self._program("postgres"), "-D", os.path.join(self.directory, "state", "data"),
                "-c", f"config_file={configuration}"]

    @staticmethod
    def _program(name):
        found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
        if not found:
            raise Unavailable(f"postgresql is not installed; {INSTALL}")
        return found[-1]

    @property
    def user(self):
        """It refuses to run as root."""
        return pwd.getpwnam("postgres") if os.getuid() == 0 else pwd.getpwuid(os.getuid())

    def _run(self, *command):
        user = self.user
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, cwd="/",
            **({"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}))
        if done.returncode:
            raise Unavailable(f"postgresql: {command[0]}: {done.stderr[-1000:]}")
        return done.stdout

    def start(self, keep=False):
        if not keep:
            shutil.rmtree(self.directory, ignore_errors=True)
            os.makedirs(os.path.join(self.directory, "state"))
            for each in (self.directory, os.path.join(self.directory, "state")):
                os.chmod(each, 0o755)
                os.chown(each, self.user.pw_uid, self.user.pw_gid)
            data = os.path.join(self.directory, "state", "data")
            self._run(self._program("initdb"), "-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--no-locale")
        command = self.command(self.configure())
        begin = time.monotonic()
        with open(self.log, "a") as log:
            self.process = system.start(command, self.cores, log=log, stdout=log, user=self.user)
        self.socket = os.path.join(self.directory, ".s.PGSQL.5432")
        self.wait_until_ready()
        for _ in range(100):
            try:
                self._say("CREATE TABLE IF NOT EXISTS jobs (id bigserial PRIMARY KEY, body text NOT NULL)")
                return time.monotonic() - begin
            except Unavailable:
                time.sleep(0.1)
        self.fail("takes no statement")

    def _say(self, statement):
        self._run(self._program("psql"), "-h", self.directory, "-U", "bench", "-q", "-d", "postgres", "-c", statement)

    def accept(self, connections, seconds):
        return self._bench("accept", connections, seconds)

    def lives(self, count):
        return self._bench("life", 64, max(1, count / 8_000))

    def _bench(self, script, connections, seconds):
        self._say("TRUNCATE jobs")
        seconds = max(1, round(seconds))
        before = self._ticks()
        command = [
            self._program("pgbench"), "-h", self.directory, "-U", "bench", "-d", "postgres", "-n", "-M", "prepared",
            "-c", str(connections), "-j", "1", "-T", str(seconds),
            "-f", os.path.join(PEERS, f"postgresql-{script}.sql")]
        process = system.start(command, system.LOAD_CORE, stdout=subprocess.PIPE, log=subprocess.PIPE)
        said, errors = process.communicate(timeout=seconds + 60)
        found = re.search(r"tps = ([0-9.]+) .without", said)
        if not found:
            raise Unavailable(f"pgbench: {errors[-1000:]}")
        rate = float(found[1])
        used = (self._ticks() - before) / os.sysconf("SC_CLK_TCK")
        return {"per_second": rate, "cpu_us": used * 1e6 / (rate * seconds)}

    def _ticks(self):
        """Of the server with its processes, also those that are gone: there is one for each client."""
        total = 0
        for pid in [self.process.pid, *system.children(self.process.pid)]:
            try:
                with open(f"/proc/{pid}/stat") as file:
                    words = file.read().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            total += sum(map(int, words[11:15]))
        return total


class Workers:
    """Workers that post each job to the upstream, in front of a queue; both share the core."""

    stays = True
    worker = None
    # The commands that hand over jobs, that serve them, and that show that both are there.
    submit, serve, probe = (), (), ()

    def check_installed(self):
        super().check_installed()
        try:
            found = subprocess.run(self.probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        except FileNotFoundError:
            found = False
        if not found:
            raise Unavailable(f"{self.name} is not installed; {INSTALL}")

    def environment_of_workers(self):
        raise NotImplementedError

    def start(self, keep=False):
        seconds = super().start(keep)
        with open(self.log, "a") as log:
            self.worker = system.start(
                self.serve, system.PROXY_CORE, environment=self.environment_of_workers(), log=log, stdout=log)
        # The first job is settled once the worker serves.
        self._submit(1)
        return seconds

    def _submit(self, count):
        """Hands `count` jobs over and waits until all are settled; returns the seconds of both."""
        run = subprocess.run(
            [*self.submit, str(count), str(JOB_BYTES)], env=self.environment_of_workers(), capture_output=True, text=True,
            timeout=120)
        if run.returncode:
            raise Unavailable(f"{self.name}: {run.stderr[-2000:]}")
        handed_over, settled = run.stdout.split()
        return float(handed_over), float(settled)

    def lives(self, count):
        # It takes so much longer that fewer tell as much.
        count = max(100, count // self.fewer)
        cpu = self.cpu_seconds()
        _, settled = self._submit(count)
        return {"per_second": count / settled, "cpu_us": (self.cpu_seconds() - cpu) * 1e6 / count}

    @property
    def pids(self):
        both = (self.process.pid, self.worker.pid)
        return [pid for each in both for pid in (each, *system.children(each))]

    def stop(self):
        system.stop(self.worker)
        self.worker = None
        super().stop()


class Celery(Workers, Redis):
    name = "celery"
    package = "python3-celery"
    fewer = 40
    submit = (PYTHON, os.path.join(PEERS, "celery_submit.py"))
    probe = (PYTHON, "-c", "import celery, redis")
    # Two processes: the fastest of solo, threads, gevent and 2, 4 and 8 processes on one core. Jobs are acknowledged
    # when they are done, and fetched ahead; nobody keeps their results.
    serve = (
        PYTHON, "-m", "celery", "-A", "celery_job", "worker", "-P", "prefork", "-c", "2", "-l", "ERROR",
        "--without-gossip", "--without-mingle", "--without-heartbeat")

    def environment_of_workers(self):
        return dict(
            os.environ, BROKER="redis+socket://" + self.socket, UPSTREAM=str(self.session.plain.port), C_FORCE_ROOT="1",
            PYTHONPATH=PEERS, PYTHONDONTWRITEBYTECODE="1")


class Sidekiq(Workers, Redis):
    name = "sidekiq"
    package = "ruby-sidekiq"
    fewer = 10
    submit = ("ruby", os.path.join(PEERS, "sidekiq_submit.rb"))
    probe = ("ruby", "-e", "require 'sidekiq'")
    serve = ("sidekiq", "-r", os.path.join(PEERS, "sidekiq_job.rb"), "-c", "10", "-e", "production")

    def environment_of_workers(self):
        return dict(os.environ, BROKER="unix://" + self.socket, UPSTREAM=str(self.session.plain.port))


class Awa(Workers, PostgreSQL):
    """Each job is committed by itself; PostgreSQL has a process for each connection."""

    name = "awa-pg"
    fewer = 10

    def __init__(self, session, name=None):
        super().__init__(session, name)
        python = from_pypi("bin/python")
        self.submit = (python, os.path.join(PEERS, "awa_submit.py"))
        self.serve = (python, os.path.join(PEERS, "awa_job.py"))
        self.probe = (python, "-c", "import awa")

    def version(self):
        code = "import importlib.metadata; print(importlib.metadata.version('awa-pg'))"
        return numbered([from_pypi("bin/python"), "-c", code])

    def environment_of_workers(self):
        return dict(
            os.environ, BROKER=f"postgres://bench@localhost/postgres?host={self.directory}",
            UPSTREAM=str(self.session.plain.port), PYTHONPATH=PEERS, PYTHONDONTWRITEBYTECODE="1")


def free_ports(count):
    """Ports of loopback that nobody has now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
