"""A fleet: a database, an upstream, and daemons each with a state directory, a configuration and sockets of its own."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "EndToEnd"))
from caller import Ended, ask  # noqa: E402
from server import OWNER, ROLE, Pooler, Server, check_installed  # noqa: E402

PATIENCE = 30
SCHEMA = "waystation"
UNFINISHED = ["scheduled", "queued", "running", "retrying", "held"]
FINISHED = ["succeeded", "dead", "cancelled", "expired"]


def programs(folder=None):
    """The folder of waystationd and waystation: the debug build unless another is named."""
    folder = pathlib.Path(folder) if folder else HERE.parent.parent / ".build" / "debug"
    for name in ("waystationd", "waystation"):
        if not os.access(folder / name, os.X_OK):
            sys.exit(f"{folder / name} is not there; run: swift build")
    return folder.resolve()


class Upstream:
    """The recording upstream, in a process of its own."""

    def __init__(self, directory, milliseconds, script):
        self.log = directory / "requests"
        self.process = subprocess.Popen(
            [sys.executable, "-B", HERE / "upstream.py", self.log, str(milliseconds), script], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.read = 0

    def fresh(self):
        """The lines that have come since this was asked last, each split: requests that are over."""
        with open(self.log) as file:
            file.seek(self.read)
            text = file.read()
        whole = text.rfind("\n") + 1
        self.read += len(text[:whole].encode())
        return [line.split() for line in text[:whole].splitlines()]

    def records(self):
        """All requests that are over."""
        self.read = 0
        return self.fresh()

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(PATIENCE)
        self.process.stdout.close()


class Node:
    """A daemon of a fleet; a caller is one user at all of them, so that its keys are."""

    def __init__(self, fleet, name):
        self.fleet, self.name, self.directory = fleet, name, fleet.directory / name
        self.directory.mkdir()
        self.jobs, self.control = str(self.directory / "jobs.sock"), str(self.directory / "control.sock")
        self.process, self.is_paused, self.is_ready, self.kills = None, False, False, 0
        self.programs = fleet.programs

    def configure(self):
        database = {
            "host": str(self.fleet.host), "port": self.fleet.port, "database": self.fleet.database, "user": ROLE, "schema": SCHEMA,
            "node": self.name, "lease": f"{self.fleet.lease}s", "connections": self.fleet.connections,
            **({"pooled": True} if self.fleet.pooler else {})}
        document = {
            "listeners": [
                {"name": "jobs", "unix": self.jobs, "mode": "0666", "role": "submit"},
                {"name": "control", "unix": self.control, "mode": "0600", "role": "admin"}],
            "storage": {
                "directory": str(self.directory / "state"), "shared_users": True, "postgresql": database,
                **({"retention": {"succeeded": f"{self.fleet.retention}s"}} if self.fleet.retention else {})},
            "limits": {"max_queued_jobs": 1000000},
            "routes": {"main": {
                "upstreams": [{"name": "recorder", "url": f"http://127.0.0.1:{self.fleet.upstream_port}/"}],
                "allow_addresses": ["127.0.0.0/8"], "max_attempts": 100,
                "request": {"headers": {"set": {"X-Node": self.name}}},
                "timeouts": {
                    "connect": "5s", "attempt": f"{self.fleet.patience}s", "idle": f"{self.fleet.patience}s", "total": "10m"},
                "concurrency": {"max_requests": self.fleet.at_once, "max_pending_requests": 4096},
                "circuit_breaker": {"enabled": False}, "retry_budget": {"enabled": False},
                "adaptive_concurrency": {"enabled": False},
                "recovery": [{"name": "again", "on": ["any"], "retry": {
                    "max_attempts": 100, "methods": self.fleet.methods, "backoff": {"type": "constant", "base_interval": "20ms"}}}]}}}
        file = self.directory / "waystation.json"
        file.write_text(json.dumps(document, indent=1))
        file.chmod(0o644)
        return file

    def launch(self):
        """Starts it and waits for nothing."""
        path = self.directory / "notify"
        path.unlink(missing_ok=True)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(str(path))
        self.is_ready = False
        with open(self.directory / "journal", "ab") as said:
            self.process = subprocess.Popen(
                [self.programs / "waystationd", "--config", self.configure(), "--loops", "2"], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=said,
                env={"PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": str(path), "SWIFT_BACKTRACE": "enable=no"})
        return self

    def wait_ready(self):
        end = time.monotonic() + PATIENCE
        self.notify.settimeout(0.2)
        while not self.is_ready:
            with contextlib.suppress(TimeoutError):
                self.is_ready = "READY=1" in self.notify.recv(65536).decode()
            if self.process.poll() is not None:
                raise AssertionError(f"{self.name} ended with {self.process.returncode}: {self.last_words()}")
            if time.monotonic() > end:
                raise AssertionError(f"{self.name} was not ready within {PATIENCE} s: {self.last_words()}")
        return self

    def last_words(self):
        return (self.directory / "journal").read_bytes()[-3000:].decode(errors="replace")

    @property
    def is_alive(self):
        return self.process is not None and self.process.poll() is None and not self.is_paused

    def kill(self, how=signal.SIGKILL):
        code = self.process.poll()
        if code is None:
            self.kills += how == signal.SIGKILL
            self.process.send_signal(how)
            code = self.process.wait(PATIENCE)
        self.notify.close()
        if code not in (-how, 0):
            raise AssertionError(f"{self.name} ended by itself with {code}: {self.last_words()}")

    def pause(self, is_paused):
        self.process.send_signal(signal.SIGSTOP if is_paused else signal.SIGCONT)
        self.is_paused = is_paused

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)

    def get(self, path, **query):
        """The document of a GET; asked again while the database is away."""
        end = time.monotonic() + PATIENCE
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        while True:
            answer = ask(self.control, "GET", target)
            if answer.status == 200:
                return answer.json()
            if answer.status != 503 or time.monotonic() > end:
                raise AssertionError(f"GET {target} at {self.name}: {answer}")
            time.sleep(0.1)

    def list(self, **query):
        """Every job that it tells of."""
        found, cursor = [], None
        while True:
            page = self.get("/v1/jobs", limit=500, order="oldest", **query, **({"cursor": cursor} if cursor else {}))
            found += page["jobs"]
            cursor = page["next"]
            if not cursor:
                return found

    def attempts(self, id):
        return self.get(f"/v1/jobs/{id}/attempts", limit=500)["attempts"]


class Fleet:
    """`milliseconds` and `script` are the upstream's; `at_once` is how many requests each daemon has under way. On another's
    `server` it has a `database` of its own, which it reaches by the loopback. What is over stays for `retention` seconds, and
    requests of these `methods` are sent again."""

    def __init__(self, programs, count=4, lease=5, milliseconds=20, script="rough", pooled=False, at_once=32, connections=4,
                 settings=(), parent=None, has_standby=False, upstream_port=None, patience=20, server=None,
                 database="postgres", retention=None, methods="idempotent_or_keyed"):
        check_installed()
        self.programs, self.lease, self.at_once, self.connections = programs, lease, at_once, connections
        self.patience, self.database, self.retention, self.methods = patience, database, retention, methods
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fleet-", dir=parent))
        self.directory.chmod(0o755)
        self.server, self.standby, self.upstream, self.pooler, self.nodes = None, None, None, None, []
        self.owns_server = server is None
        try:
            self.server = server or Server(self.directory / "pg", settings).start()
            self.server.sql(f"CREATE ROLE {ROLE} LOGIN" if self.owns_server else f"CREATE DATABASE {database}")
            if pooled:
                self.pooler = Pooler(self.directory / "bouncer", self.server).start()
            if pooled:
                self.host, self.port = self.pooler.directory, self.pooler.port
            else:
                self.host, self.port = self.server.directory if self.owns_server else "127.0.0.1", self.server.port
            if has_standby:
                self.standby = Server(self.directory / "standby", after=self.server).start()
                self.host = f"{self.server.directory},{self.standby.directory}"
                self.server.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
                self.server.sql("SELECT pg_reload_conf()")
            if not upstream_port:
                self.upstream = Upstream(self.directory, milliseconds, script)
            self.upstream_port = upstream_port or self.upstream.port
            self.migrate()
            self.nodes = [Node(self, f"node{index + 1}") for index in range(count)]
        except BaseException:
            self.end()
            raise

    def migrate(self, programs=None):
        """As an operator does it: one role makes the tables, and gives the daemons' role what is printed."""
        url = (f"postgresql://{OWNER}@/{self.database}?host={self.server.directory}" if self.owns_server
               else f"postgresql://{OWNER}@{self.host}:{self.port}/{self.database}")
        done = subprocess.run(
            [(programs or self.programs) / "waystation", "store", "migrate", "--url", url, "--schema", SCHEMA, "--role", ROLE],
            capture_output=True, text=True, timeout=10 * PATIENCE)
        if done.returncode:
            raise AssertionError(f"waystation store migrate ended with {done.returncode}: {done.stderr}")
        self.server.sql("\n".join(line for line in done.stdout.splitlines() if line.startswith("GRANT ")), self.database)

    def start(self):
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait_ready()
        return self

    def any_node(self):
        return next(node for node in self.nodes if node.is_alive)

    def unfinished(self):
        """How many jobs are not over, as a daemon counts them."""
        for route in self.any_node().get("/v1/routes")["routes"]:
            if route["name"] == "main":
                return sum(route["jobs"].get(state, 0) for state in UNFINISHED)
        return 0

    def drain(self, seconds):
        """Waits until all jobs are over; returns how many are not."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(AssertionError, OSError, Ended):
                if self.unfinished() == 0:
                    return 0
            time.sleep(0.2)
        return self.unfinished()

    def end(self, keep=False):
        for each in [*self.nodes, self.upstream, self.pooler, self.standby, self.server if self.owns_server else None]:
            if each:
                each.end()
        if keep:
            print(f"  kept: {self.directory}")
        else:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.end(keep=kind is not None and "FLEET_KEEP" in os.environ)
