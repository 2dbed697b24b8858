"""The daemon under test: an ordinary child with a directory of its own."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from caller import Caller, ask, curl
from upstream import Upstream

PATIENCE = 30
# Times are judged where the machine is quiet (Tests/run nightly); elsewhere a limit catches what hangs.
IS_TIMED = "RELAY_TESTS_TIMED" in os.environ
LOOPBACK = ["127.0.0.0/8", "::1/128"]


# Where daemons leave their directories; without it they go.
KEEP = os.environ.get("E2E_KEEP")
# How the daemons serve what need only be passed on.
PASS_THROUGH = ["--pass-through", mode] if (mode := os.environ.get("E2E_PASS_THROUGH")) else []


def daemon():
    return os.environ["WAYSTATIOND"]


def route(*upstreams, **members):
    """A route to loopback upstreams: URLs or whole objects."""
    listed = [
        {"name": f"u{index + 1}", "url": upstream} if isinstance(upstream, str) else upstream
        for index, upstream in enumerate(upstreams)]
    return {"upstreams": listed, "allow_addresses": LOOPBACK, **members}


# For routes that show what their own rules do, however often.
UNBOUNDED = {part: {"enabled": False}
             for part in ("circuit_breaker", "retry_budget", "adaptive_concurrency", "throttling")}

SEVERITIES = ["emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"]
OPENING = re.compile(r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ (\w+): ")


def short(line):
    """A line of standard error with its severity as the journal has it, `<3>`, in place of time and word."""
    return OPENING.sub(lambda found: f"<{SEVERITIES.index(found[1])}>", line)


class Lines:
    """Collects what a thread reads, and waits for it."""

    def __init__(self):
        self.items, self.changed = [], threading.Condition()

    def add(self, item):
        with self.changed:
            self.items.append(item)
            self.changed.notify_all()

    def wait(self, *words, seconds=PATIENCE):
        """The first item that has all the words."""
        def find():
            return next((item for item in self.items if all(word in item for word in words)), None)

        with self.changed:
            if not self.changed.wait_for(lambda: find() is not None, seconds):
                raise AssertionError(f"nothing with {words} in:\n" + "\n".join(self.items[-40:]))
            return find()

    def having(self, *words):
        with self.changed:
            return [item for item in self.items if all(word in item for word in words)]

    def text(self):
        with self.changed:
            return "\n".join(self.items)


class Relay:
    """`before` is a command that runs the daemon, such as prlimit; `listeners` replaces jobs and control."""

    def __init__(self, routes, before=(), environment=None, loops=2, pass_fds=(), directory=None, **members):
        self.directory = directory or pathlib.Path(tempfile.mkdtemp(prefix="e2e-", dir=KEEP))
        self.directory.chmod(0o755)
        self.jobs, self.control = str(self.directory / "jobs.sock"), str(self.directory / "control.sock")
        self.file = self.directory / "waystation.json"
        self.members, self.before, self.loops, self.pass_fds = members, list(before), loops, pass_fds
        self.environment = {
            "PATH": os.environ["PATH"], "SWIFT_BACKTRACE": "enable=no", **(environment or {})}
        self.process = None
        self.errors, self.notices = Lines(), Lines()
        self.write(routes)

    def write(self, routes, text=None):
        if text is None:
            text = json.dumps({
                "listeners": [
                    {"name": "jobs", "unix": self.jobs, "mode": "0666", "role": "submit"},
                    {"name": "control", "unix": self.control, "mode": "0600", "role": "admin"}],
                "storage": {"directory": str(self.directory / "state")}, "routes": routes, **self.members}, indent=1)
        self.file.write_text(text)
        self.file.chmod(0o644)

    def secret(self, name, text, mode=0o600):
        path = self.directory / name
        path.write_text(text)
        path.chmod(mode)
        return {"file": str(path)}

    def launch(self, stderr=subprocess.PIPE):
        """Starts the process and waits for nothing."""
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = str(self.directory / "notify")
        self.notify.bind(path)
        threading.Thread(target=self._listen, args=[self.notify], daemon=True).start()
        self.process = subprocess.Popen(
            [*self.before, daemon(), "--config", str(self.file), "--loops", str(self.loops), *PASS_THROUGH],
            env={**self.environment, "NOTIFY_SOCKET": path}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=stderr, pass_fds=self.pass_fds)
        if stderr == subprocess.PIPE:
            threading.Thread(target=self._read, args=[self.process.stderr], daemon=True).start()
        return self

    def start(self, stderr=subprocess.PIPE):
        self.launch(stderr)
        with self.notices.changed:
            self.notices.changed.wait_for(
                lambda: any("READY=1" in notice or notice == "(gone)" for notice in self.notices.items), PATIENCE)
        if not self.notices.having("READY=1"):
            code = self.process.poll()
            self.stop()
            raise AssertionError(f"the daemon did not become ready (exit {code}):\n{self.errors.text()}")
        return self

    def stop(self, how=signal.SIGTERM):
        """Ends the daemon and returns its exit status."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the daemon did not stop:\n" + self.errors.text()) from None
        finally:
            self.notify.close()
        return code

    def clean(self):
        try:
            self.stop()
        finally:
            if KEEP:
                (self.directory / "stderr").write_text(self.errors.text() + "\n")
            else:
                shutil.rmtree(self.directory, ignore_errors=True)

    def _listen(self, notify):
        while True:
            try:
                self.notices.add(notify.recv(65536).decode())
            except OSError:
                return

    def _read(self, stream):
        for line in stream:
            self.errors.add(short(line.decode(errors="replace").rstrip("\n")))
        self.errors.add("(end)")
        self.notices.add("(gone)")

    # Requests to the relay, and looks at it.

    def ask(self, method, target, fields=(), body=None):
        return ask(self.jobs, method, target, fields, body)

    def curl(self, target, *arguments):
        return curl(self.jobs, target, *arguments)

    def caller(self, patience=10):
        return Caller(self.jobs, patience)

    def status(self):
        return ask(self.control, "GET", "/v1/status").json()

    def job(self, answer):
        """The job behind an answer, as the API tells it."""
        found = self.ask("GET", f"/v1/jobs/{answer['Waystation-Job']}")
        assert found.status == 200, found
        return found.json()

    def figures(self, name):
        """A line of /proc/PID/status."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(line.split()[1] for line in text.splitlines() if line.startswith(name + ":"))

    def resident(self):
        """Resident memory in MiB."""
        return int(self.figures("VmRSS")) / 1024

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def eventually(condition, what, seconds=PATIENCE):
    """Polls what only the kernel or the status document can tell."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"it never came to be that {what}")
        time.sleep(0.01)


class RelayTest(unittest.TestCase):
    """A test case with helpers; relays and upstreams made through it end with it."""

    @staticmethod
    def within(seconds):
        """The limit of what takes less than so many seconds on a quiet machine."""
        return seconds if IS_TIMED else 30 + seconds

    longMessage = True

    def new_relay(self, routes, **members):
        relay = Relay(routes, **members)
        self.addCleanup(relay.clean)
        return relay

    def new_upstream(self, **members):
        upstream = Upstream(**members)
        self.addCleanup(upstream.close)
        return upstream

    # Those that all tests of a case have in common end after the last of them.

    @classmethod
    def shared_relay(cls, routes, **members):
        relay = Relay(routes, **members)
        cls.addClassCleanup(relay.clean)
        return relay

    @classmethod
    def shared_upstream(cls):
        upstream = Upstream()
        cls.addClassCleanup(upstream.close)
        return upstream

    def assert_problem(self, answer, status, code):
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer["Content-Type"], "application/problem+json", answer)
        problem = answer.json()
        self.assertEqual((problem["code"], problem["status"]), (code, status), answer)
        self.assertEqual(problem["type"], "urn:waystation:problem:" + code)
        self.assertTrue(problem["title"] and problem["detail"])
        self.assertEqual(answer["Waystation-Source"], "relay")
        return problem

    def assert_timeline(self, relay, answer, *attempts, source="upstream", outcome="success"):
        """Every place that tells of the attempts tells the same: fields, job and journal.

        An attempt is (status or failure kind, next step or None).
        """
        self.assertEqual(answer["Waystation-Source"], source, answer)
        self.assertEqual(answer["Waystation-Attempts"], str(len(attempts)), answer)
        self.assertRegex(answer["Proxy-Status"], r'^waystationd; .*next-hop="\w+"')
        timings = answer["Server-Timing"].split(", ")
        self.assertEqual(len(timings), len(attempts))
        for number, timing in enumerate(timings, 1):
            self.assertRegex(timing, rf"^attempt-{number};dur=\d+\.\d{{3}}")
        job = relay.job(answer)
        self.assertEqual(job["outcome"], outcome, job)
        told = [(a.get("kind") if a.get("kind") not in (None, "http_status") else a["status"], a.get("next"))
                for a in job["attempts"]]
        self.assertEqual(told, list(attempts), job)
        if attempts[0][1] not in (None, "quick_recovery"):
            line = relay.errors.wait(f"job {job['id']}: attempt 1 ")
            self.assertRegex(line, r"^<5>job \w{26}: attempt 1 on route [\w-]+ failed: ")
        return job
