"""A daemon with something of everything: routes of every sort, and jobs in every state."""

import json
import socket
import subprocess
import threading
import time

from caller import ask
from relay import UNBOUNDED, Relay, eventually, route
from upstream import Upstream, answer, as_json

JSON = [("Content-Type", "application/json")]
STATES = ("scheduled", "queued", "running", "retrying", "held", "succeeded", "dead", "cancelled", "expired")
OK = as_json(200, '{"id": "ch_1"}')
# Of each state.
JOBS = 12


class Peer(Upstream):
    """Answers on every path by its first segment."""

    def __init__(self):
        super().__init__()
        self.door = threading.Event()
        self.steps = self

    def get(self, path):
        name = path.lstrip("/").split("/")[0]
        return [{
            "bad": as_json(503, '{"code": "E7", "title": "busy at the moment"}'), "door": self.wait,
            "text": answer(200, b"plain\n", ("Content-Type", "text/plain")),
            "bytes": answer(200, b"\x00\xff", ("Content-Type", "application/octet-stream")),
            "large": answer(200, b"x" * 100_000),
            "begun": answer(202, b"", ("Operation-Location", "/gone/1")), "gone": answer(404),
            "patient": answer(429, b"", ("Retry-After", "3600")),
        }.get(name, OK)]

    def wait(self, _request):
        self.door.wait(3600)
        return OK

    def close(self):
        self.door.set()
        super().close()


class World:
    def __init__(self, jobs=JOBS):
        self.peer = Peer()
        url = self.peer.url
        hour = {"retry": {"max_attempts": 60, "backoff": {"type": "constant", "base_interval": "1h"}}}
        kept = {
            "delivery": {"mode": "durable", "expires_after": "365d"}, "idempotency": {"generate": True},
            "max_attempts": 60, **UNBOUNDED}
        long = {"timeouts": {"attempt": "30m", "total": "30m", "idle": "30m"}}
        # All that a document has to tell of the traffic of a route.
        busy = {"circuit_breaker": {"enabled": True}, "rate_limit": {"max_requests": 100_000, "per": "1s"}}
        routes = {
            "good": route(url, **busy), "bad": route(url + "bad", recovery=[], **UNBOUNDED),
            "tried": route(url + "bad", recovery=[
                {"name": "once", "on": ["any"], "retry": {"max_attempts": 2, "backoff": {
                    "type": "constant", "base_interval": "10ms"}}},
                {"name": "no-more", "on": ["any"], "fail": {}}], **UNBOUNDED, idempotency={"generate": True}),
            "kept": route(url, **kept), "lost": route(url + "bad", recovery=[], **kept),
            "slow": route(url + "door", **kept, **long, concurrency={"max_requests": jobs}),
            "later": route(url + "bad", **kept, recovery=[{"name": "hourly", "on": ["any"], **hour}]),
            "still": route(url, **kept),
            "wary": route(url),
            "standing": route(url + "bad", recovery=[
                {"name": "stand_in", "on": ["any"], "respond": {
                    "as": "placeholder", "status": 200, "json": {"queued": True}, "and": "keep"}},
                {"name": "hourly", "on": ["any"], **hour}], idempotency={"generate": True}, max_attempts=60,
                **UNBOUNDED),
        }
        # Which segments are empty is not for a schema to say.
        for made in routes.values():
            made["request"] = {"allow_empty_segments": True}
        self.relay = Relay(
            routes,
            constrained={"when": [{"file_exists": "/nonexistent/metered"}, {"control": True}]})
        self.relay.start()
        try:
            self.fill(jobs)
        except BaseException:
            self.close()
            raise

    def close(self):
        self.peer.close()
        self.relay.clean()

    def ask(self, method, target, fields=(), body=None):
        return ask(self.relay.control, method, target, fields, body)

    def document(self, target):
        got = self.ask("GET", target)
        assert got.status == 200, got
        return got.json()

    def submit(self, route, count=1, **options):
        jobs = [{
            "id": str(number), "route": route, "mode": "async",
            "request": {"path": "charges", "json": {"number": number}},
            "options": {"labels": {"made": "before"}, **options}} for number in range(count)]
        got = self.ask("POST", "/v1/jobs", JSON, json.dumps(jobs).encode())
        assert got.status == 200 and got.json()["refused"] == 0, got
        return [job["job"] for job in got.json()["jobs"]]

    def act(self, id, action):
        got = self.ask("POST", f"/v1/jobs/{id}/{action}")
        assert got.status == 200, got

    def ids(self, *states):
        """Of the jobs that are in one of these states now."""
        return [job["id"] for job in self.document(f"/v1/jobs?limit=500&state={','.join(states)}")["jobs"]]

    def fill(self, jobs):
        """Jobs in every state."""
        got = self.ask("POST", "/v1/routes/still/pause", JSON, b'{"reason": "kept still"}')
        assert got.status == 200, got
        self.submit("kept", jobs)
        self.submit("lost", jobs)
        self.submit("kept", jobs, delay="300d")
        self.submit("later", jobs)
        # The first of them run, and the others wait for their permits.
        self.submit("slow", 3 * jobs)
        self.submit("still", jobs, expires_after="1s")
        self.submit("still", jobs, ordering_key="customer-42", priority=1)
        for id in self.submit("kept", 2 * jobs, delay="300d")[:jobs]:
            self.act(id, "hold")
        for id in self.submit("kept", jobs, delay="300d"):
            self.act(id, "cancel")
        eventually(self.is_full, "there are jobs in every state")

    def is_full(self):
        return all(self.document(f"/v1/jobs?limit=5&state={state}")["jobs"] for state in STATES)


class Bridge:
    """socat between a free port of the loopback and the control socket: what takes no Unix socket comes by it."""

    def __init__(self, path):
        for _ in range(5):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            self.process = subprocess.Popen(
                ["socat", f"TCP-LISTEN:{self.port},bind=127.0.0.1,reuseaddr,fork,backlog=64", f"UNIX-CONNECT:{path}"],
                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
            if self._listens():
                return
            self.close()
        raise AssertionError("socat does not listen")

    def _listens(self):
        end = time.monotonic() + 10
        while self.process.poll() is None and time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
            except OSError:
                time.sleep(0.02)
        return False

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stderr.close()
