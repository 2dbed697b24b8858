"""A PostgreSQL of the system in a folder of its own, run by a user without rights; fleets of daemons on it."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile

from durable import DurableTest
from relay import Relay, daemon

PROGRAMS = os.environ.get("POSTGRESQL_PROGRAMS", "/usr/lib/postgresql/15/bin")
SETTINGS = """listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
max_connections = 100
shared_buffers = 32MB
dynamic_shared_memory_type = mmap
fsync = on
synchronous_commit = on
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Database:
    """The server; `owner` makes tables, and the daemons are `waystation`."""

    def __init__(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="e2e-postgres-", dir=memory))
        self.port = free_port()
        self.prefix = ["setpriv", "--reuid", "nobody", "--clear-groups"] if os.geteuid() == 0 else []
        if self.prefix:
            shutil.chown(self.folder, "nobody")
        self.folder.chmod(0o755)
        self.data = self.folder / "data"
        self.call("initdb", "-D", self.data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8",
                  "--no-sync", "--no-instructions")
        (self.data / "postgresql.auto.conf").write_text(SETTINGS.format(port=self.port, folder=self.folder))
        self.start()
        self.sql("CREATE ROLE waystation LOGIN; CREATE DATABASE waystation", "postgres")

    def call(self, program, *words, text=None):
        done = subprocess.run(
            [*self.prefix, f"{PROGRAMS}/{program}", *map(str, words)], cwd=self.folder, input=text, text=True,
            stdin=None if text is not None else subprocess.DEVNULL, capture_output=True, timeout=120,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"})
        if done.returncode:
            raise AssertionError(f"{program}: {done.stderr}{done.stdout}")
        return done.stdout

    def start(self):
        # Its processes keep the files of a pipe open.
        subprocess.run(
            [*self.prefix, f"{PROGRAMS}/pg_ctl", "-D", str(self.data), "-l", str(self.folder / "log"), "-t", "60",
             "-w", "start"], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=120, check=True)

    def stop(self, how="fast"):
        self.call("pg_ctl", "-D", self.data, "-m", how, "-t", "60", "-w", "stop")

    def sql(self, text, database="waystation"):
        return self.call("psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-p", self.port,
                         "-U", "owner", "-d", database, "-f", "-", text=text).strip()

    @contextlib.contextmanager
    def asking(self, role):
        """Meanwhile that role needs its password."""
        file = self.data / "pg_hba.conf"
        before = file.read_text()
        try:
            file.write_text(f"host all {role} 127.0.0.1/32 scram-sha-256\n{before}")
            self.sql("SELECT pg_reload_conf()")
            yield
        finally:
            file.write_text(before)
            self.sql("SELECT pg_reload_conf()")

    @contextlib.contextmanager
    def silent(self):
        """Meanwhile it takes connections and statements, and answers none."""
        first = int((self.data / "postmaster.pid").read_text().splitlines()[0])
        stopped = [first, *map(int, pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split())]
        try:
            for process in stopped:
                os.kill(process, signal.SIGSTOP)
            yield
        finally:
            for process in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    @contextlib.contextmanager
    def session(self, name, text):
        """A session of that name, which has run the text and waits."""
        process = subprocess.Popen(
            [*self.prefix, f"{PROGRAMS}/psql", "-X", "-q", "-t", "-A", "-h", str(self.folder), "-p", str(self.port),
             "-U", "owner", "-d", "waystation"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=self.folder, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PGAPPNAME": name})
        try:
            process.stdin.write(text + ";\n")
            process.stdin.flush()
            process.stdout.readline()
            yield
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait(30)

    @property
    def url(self):
        return f"postgresql://127.0.0.1:{self.port}/waystation"

    def migrate(self, *words):
        """The status of `waystation store migrate`, and its words."""
        done = subprocess.run(
            [command(), "store", "migrate", "--url", f"postgresql://owner@127.0.0.1:{self.port}/waystation", *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1), done
        return done.returncode, done.stdout + done.stderr

    def prepare(self):
        """Makes the tables anew, and gives the daemons what is printed for them."""
        self.sql("DROP SCHEMA IF EXISTS waystation CASCADE")
        code, said = self.migrate()
        assert code == 0, said
        self.sql("".join(line + "\n" for line in said.splitlines() if line.startswith("GRANT ")))

    def close(self):
        try:
            self.stop("immediate")
        except AssertionError:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)


def command():
    return str(pathlib.Path(daemon()).parent / "waystation")


class FleetTest(DurableTest):
    """A case with a server of its own, and an empty schema for each test."""

    @classmethod
    def setUpClass(cls):
        cls.database = Database()
        cls.addClassCleanup(cls.database.close)

    def setUp(self):
        super().setUp()
        self.database.prepare()

    def node(self, name, routes, lease="5s", **settings):
        """A daemon that is not started yet."""
        directory = pathlib.Path(tempfile.mkdtemp(prefix="e2e-"))
        relay = Relay(routes, directory=directory, storage={
            "directory": str(directory / "state"),
            "postgresql": {"url": self.database.url, "node": name, "lease": lease, **settings}})
        self.addCleanup(relay.clean)
        return relay
