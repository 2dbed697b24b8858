"""A PostgreSQL 15 of Debian in a directory of its own, as a user without rights, and PgBouncer before it."""

import contextlib
import ctypes
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = pathlib.Path(os.environ.get("POSTGRESQL_PROGRAMS", "/usr/lib/postgresql/15/bin"))
PGBOUNCER = "/usr/sbin/pgbouncer"
PATIENCE = 60
OWNER, ROLE = "owner", "relay"

_libc = ctypes.CDLL(None)


class Missing(Exception):
    """A program that these tests need is not installed."""


def check_installed():
    for program in (PROGRAMS / "postgres", pathlib.Path(PGBOUNCER)):
        if not os.access(program, os.X_OK):
            raise Missing(f"{program} is not there; run: deploy/install-packages --tests")


def become_nobody():
    """Between fork and exec: PostgreSQL refuses root, and nothing outlives the test that started it."""
    if os.geteuid() == 0:
        user = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    # For both it is the end that leaves nothing to wait for.
    _libc.prctl(1, signal.SIGQUIT)


def give(path):
    if os.geteuid() == 0:
        shutil.chown(path, "nobody")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_open(path):
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
            return True
        except OSError:
            return False


class Server:
    """`settings` are further lines of postgresql.conf; `after` is the primary whose standby this one is; with a `port` it
    listens on the loopback as well, where networks' limits hold."""

    def __init__(self, directory, settings=(), after=None, port=None):
        self.directory, self.data, self.port = pathlib.Path(directory), pathlib.Path(directory) / "data", port or 5432
        self.directory.mkdir(exist_ok=True)
        self.directory.chmod(0o755)
        give(self.directory)
        self.process = None
        if after:
            self.call("pg_basebackup", "-D", self.data, "-h", after.directory, "-U", OWNER, "-R", "-X", "stream", "-c", "fast")
        else:
            self.call("initdb", "-D", self.data, "-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-instructions",
                      "--no-sync")
        lines = [
            f"listen_addresses = '{'127.0.0.1' if port else ''}'", f"port = {self.port}", f"unix_socket_directories = '{self.directory}'", "shared_buffers = 256MB",
            "max_wal_size = 4GB", "wal_compression = on", "max_connections = 500", "log_min_messages = warning",
            "deadlock_timeout = 1s", "log_lock_waits = on", *settings]
        with open(self.data / "waystation.conf", "w") as file:
            file.write("\n".join(lines) + "\n")
        with open(self.data / "postgresql.conf", "a") as file:
            file.write("include 'waystation.conf'\n")

    def call(self, program, *words, **more):
        done = subprocess.run(
            [PROGRAMS / program, *map(str, words)], preexec_fn=become_nobody, cwd=self.directory, capture_output=True,
            text=True, timeout=more.pop("timeout", PATIENCE), **more)
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}: {done.stderr.strip()[-1000:]}")
        return done.stdout

    def start(self):
        """Starts it, and waits until it takes statements."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with open(self.directory / "log", "ab") as log:
                self.process = subprocess.Popen(
                    [PROGRAMS / "postgres", "-D", self.data], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory,
                    preexec_fn=become_nobody)
            while self.process.poll() is None and time.monotonic() < end:
                with contextlib.suppress(RuntimeError):
                    self.sql("SELECT 1")
                    return self
                time.sleep(0.02)
            # The processes of one that was killed hold its memory until they have seen it.
            time.sleep(0.05)
        raise AssertionError(f"PostgreSQL does not start: {self.last_words()}")

    def last_words(self):
        return (self.directory / "log").read_text(errors="replace")[-2000:]

    def deadlocks(self):
        return (self.directory / "log").read_text(errors="replace").count("deadlock detected")

    def stop(self, how=signal.SIGINT):
        """Stops it: SIGINT as `fast` does, SIGQUIT as `immediate` does, SIGKILL as the kernel does."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(PATIENCE)

    def end(self):
        if self.process and self.process.poll() is None:
            self.pause(False)
            self.stop(signal.SIGQUIT)

    def sql(self, text, database="postgres", user=OWNER, timeout=PATIENCE):
        """The values of a statement's rows, a line each."""
        return self.call(
            "psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-h", self.directory, "-p", self.port, "-U", user, "-d",
            database, "-f", "-", input=text, timeout=timeout).strip()

    def rows(self, text, **more):
        found = self.sql(text, **more)
        return [line.split("|") for line in found.split("\n")] if found else []

    def session(self, database="postgres"):
        """A psql that stays, for a transaction that does."""
        return subprocess.Popen(
            [PROGRAMS / "psql", "-X", "-q", "-h", self.directory, "-p", str(self.port), "-U", OWNER, "-d", database], stdin=subprocess.PIPE, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.directory, preexec_fn=become_nobody)

    def backends(self, condition="true"):
        """The processes that serve the daemons."""
        return [int(row[0]) for row in self.rows(
            f"SELECT pid FROM pg_stat_activity WHERE usename = '{ROLE}' AND backend_type = 'client backend' AND {condition}")]

    def descendants(self):
        found = []
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{self.process.pid}/task"):
                with open(f"/proc/{self.process.pid}/task/{thread}/children") as file:
                    found += [int(word) for word in file.read().split()]
        return found

    def pause(self, is_paused):
        """Stops all its processes in their tracks, or lets them go on: its sockets stay open."""
        for pid in [self.process.pid, *self.descendants()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP if is_paused else signal.SIGCONT)

    def promote(self):
        self.sql("SELECT pg_promote(true, 30)")


class Pooler:
    """PgBouncer in transaction mode, on a Unix socket."""

    def __init__(self, directory, server, connections=20):
        self.directory, self.server, self.port = pathlib.Path(directory), server, 6432
        self.directory.mkdir()
        give(self.directory)
        (self.directory / "ini").write_text(
            f"[databases]\n* = host={server.directory} port={server.port}\n[pgbouncer]\nlisten_addr =\n"
            f"listen_port = {self.port}\nunix_socket_dir = {self.directory}\nauth_type = trust\n"
            f"auth_file = {self.directory}/users\npool_mode = transaction\ndefault_pool_size = {connections}\n"
            f"max_client_conn = 500\nlogfile = {self.directory}/log\n")
        (self.directory / "users").write_text(f'"{ROLE}" ""\n"{OWNER}" ""\n')
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [PGBOUNCER, "-q", self.directory / "ini"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=self.directory, preexec_fn=become_nobody)
        end = time.monotonic() + PATIENCE
        while not is_open(self.directory / f".s.PGSQL.{self.port}"):
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError("PgBouncer does not start")
            time.sleep(0.01)
        return self

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
