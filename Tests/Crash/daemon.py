"""The daemon that is killed: one directory, many lives."""

import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "EndToEnd"))
from caller import ask  # noqa: E402

from recorder import SECRET  # noqa: E402

PATIENCE = 30
UNFINISHED = ["scheduled", "queued", "running", "retrying", "held"]
FINISHED = ["succeeded", "dead", "cancelled", "expired"]


class Life:
    """From one start to its end."""

    __slots__ = ("launched", "wall", "ready", "killed")

    def __init__(self):
        self.launched, self.wall, self.ready, self.killed = time.monotonic(), time.time(), None, None


class Daemon:
    def __init__(self, program, ports, directory=None, sync="full", environment=None):
        self.program, self.ports, self.sync = program, ports, sync
        self.directory = directory or pathlib.Path(tempfile.mkdtemp(prefix="waystation-crash-"))
        self.jobs, self.control = str(self.directory / "jobs.sock"), str(self.directory / "control.sock")
        self.environment = environment or {}
        self.lives, self.process, self.notify = {}, None, None
        secret = self.directory / "secret"
        secret.write_text("whsec_" + SECRET)
        secret.chmod(0o600)

    def configure(self, life):
        steady, flaky = self.ports

        def route(port, path, **members):
            return {
                "upstreams": [{"name": "recorder", "url": f"http://127.0.0.1:{port}/"}],
                "allow_addresses": ["127.0.0.0/8"], "max_attempts": 100,
                "request": {"headers": {"set": {"X-Life": str(life)}}},
                "timeouts": {"connect": "5s", "attempt": "20s", "idle": "20s", "total": "30s"},
                "concurrency": {"max_requests": 24},
                "recovery": [
                    {"name": "rejected", "on": ["422"], "dead_letter": {}},
                    {"name": "again", "on": ["any"], "retry": {
                        "max_attempts": 100, "honor_retry_after": True,
                        "backoff": {"type": "constant", "base_interval": "20ms"}}}],
                **members}
        never = {"connect": "5s", "attempt": "10m", "idle": "10m", "total": "10m"}
        document = {
            "listeners": [
                {"name": "jobs", "unix": self.jobs, "mode": "0666", "role": "submit"},
                {"name": "control", "unix": self.control, "mode": "0600", "role": "admin"}],
            "storage": {"directory": str(self.directory / "state")},
            "routes": {
                "main": route(steady, "main"),
                "flaky": route(flaky, "flaky"),
                "deadly": route(steady, "deadly", timeouts=never),
                "moving": {**route(steady, "moving"), "upstreams": [
                    {"name": "first", "url": f"http://127.0.0.1:{steady}/"},
                    {"name": "second", "url": f"http://127.0.0.1:{steady}/", "use": "failover_only"}],
                    "recovery": [
                        {"name": "elsewhere", "on": ["500", "503"], "failover": {"upstream": "second"}},
                        *route(steady, "moving")["recovery"]]},
                "hooks": route(steady, "hooks", signing={
                    "type": "standard_webhooks", "secrets": [{"file": str(self.directory / "secret")}]})}}
        if self.sync != "full":
            document["storage"]["sync"] = self.sync
        file = self.directory / "waystation.json"
        file.write_text(json.dumps(document, indent=1))
        file.chmod(0o644)
        return file

    def launch(self):
        """Starts the next life and waits for nothing."""
        number = len(self.lives) + 1
        file = self.configure(number)
        path = self.directory / "notify"
        path.unlink(missing_ok=True)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(str(path))
        self.said = open(self.directory / "journal", "ab")
        self.lives[number] = self.life = Life()
        self.process = subprocess.Popen(
            [self.program, "--config", str(file), "--loops", "2"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=self.said, env={
                "PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": str(path), "INVOCATION_ID": "crash",
                "SWIFT_BACKTRACE": "enable=no", **self.environment})

    def wait_ready(self):
        end = time.monotonic() + PATIENCE
        self.notify.settimeout(0.2)
        while True:
            try:
                if "READY=1" in self.notify.recv(65536).decode():
                    self.life.ready = time.monotonic()
                    return
            except TimeoutError:
                pass
            if self.process.poll() is not None:
                raise AssertionError(f"the daemon ended with {self.process.returncode}: {self.last_words()}")
            if time.monotonic() > end:
                raise AssertionError(f"the daemon was not ready within {PATIENCE} s: {self.last_words()}")

    def kill(self, how=signal.SIGKILL):
        code = self.process.poll()
        if code is None:
            self.life.killed = time.monotonic() if how == signal.SIGKILL else None
            self.process.send_signal(how)
            code = self.process.wait(PATIENCE)
        self.notify.close()
        self.said.close()
        if code not in (-how, 0):
            raise AssertionError(f"the daemon ended by itself with {code}: {self.last_words()}")

    def end(self):
        """No process is left, whatever happened."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def last_words(self):
        return (self.directory / "journal").read_bytes()[-3000:].decode(errors="replace")

    def list(self, **query):
        """Every job the daemon tells of."""
        found, cursor = [], None
        while True:
            words = {"limit": 500, "order": "oldest", **query, **({"cursor": cursor} if cursor else {})}
            answer = ask(self.control, "GET", "/v1/jobs?" + urllib.parse.urlencode(words))
            if answer.status != 200:
                raise AssertionError(f"GET /v1/jobs: {answer}")
            page = answer.json()
            found += page["jobs"]
            cursor = page["next"]
            if not cursor:
                return found

    def attempts(self, id):
        """Every attempt of a job that the daemon tells of."""
        answer = ask(self.control, "GET", f"/v1/jobs/{id}/attempts?limit=500")
        if answer.status != 200 or answer.json()["next"]:
            raise AssertionError(f"GET /v1/jobs/{id}/attempts: {answer}")
        return answer.json()["attempts"]

    def counts(self):
        """How many jobs the daemon says each route has in each state."""
        routes = ask(self.control, "GET", "/v1/routes").json()["routes"]
        return {(route["name"], state): count for route in routes for state, count in route["jobs"].items() if count}

    def unfinished(self):
        return [job for state in UNFINISHED for job in self.list(state=state)]
