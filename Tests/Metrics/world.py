"""Daemons whose figures are read over a port of the loopback, as Prometheus reads them."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "EndToEnd"))

from caller import request  # noqa: E402
from database import Database  # noqa: E402
from peers import Nginx  # noqa: E402
from relay import Relay, eventually, route  # noqa: E402
from upstream import Upstream, answer, as_json, free_port, refused_port  # noqa: E402

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


class Peer:
    """A program of Debian's with `process`, what it `said` in `directory`, and a `name`; `is_ready` asks it."""

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.said.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def wait_until_ready(self, seconds=30):
        end = time.monotonic() + seconds
        while True:
            try:
                return self.is_ready()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise AssertionError(f"{self.name} is not ready:\n" + (self.directory / "said").read_text()) from None
                time.sleep(0.05)


class Watched(Relay):
    """A relay with a listener of the role metrics; `target` is where."""

    def __init__(self, routes, **members):
        self.port = free_port()
        super().__init__(routes, **members)
        self.members["listeners"] = [
            {"name": "jobs", "unix": self.jobs, "mode": "0666", "role": "submit"},
            {"name": "control", "unix": self.control, "mode": "0600", "role": "admin"},
            {"name": "metrics", "tcp": self.target, "role": "metrics"}]
        self.write(routes)

    @property
    def target(self):
        return f"127.0.0.1:{self.port}"

    def metrics(self, accept="text/plain"):
        """The answer's media type and text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", "/metrics", headers={"Accept": accept})
            answer = connection.getresponse()
            text = answer.read().decode()
            assert answer.status == 200, (answer.status, text)
            return answer.headers["Content-Type"], text
        finally:
            connection.close()

    def join(self, database):
        """Makes it a node of the fleet in this database; it is not started yet."""
        database.prepare()
        self.members["storage"] = {
            "directory": str(self.directory / "state"), "postgresql": {"url": database.url, "node": "shop", "lease": "5s"}}

    def command(self, *words):
        """The result of the command with this daemon, by its control socket."""
        program = pathlib.Path(os.environ["WAYSTATIOND"]).parent / "waystation"
        return subprocess.run(
            [program, *words], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "WAYSTATION_CONTROL_SOCKET": self.control,
                 "WAYSTATION_SOCKET": self.jobs})


def of_a_fleet(case):
    """The figures that only a node of a fleet tells, as it tells them."""
    database, relay = Database(), Watched({})
    case.addClassCleanup(database.close)
    case.addClassCleanup(relay.clean)
    relay.join(database)
    relay.write({})
    relay.start()
    eventually(lambda: 'state="unavailable"} 0' in relay.metrics()[1], "it has its lease")
    text = relay.metrics()[1]
    first, end = text.index("# HELP waystation_store_lease_age"), text.index("# HELP waystation_spool_bytes")
    return text[first:end]


def everything(case):
    """A daemon of which every metric has been seen, and what makes it so."""
    upstream, nginx = Upstream(), Nginx()
    case.addClassCleanup(upstream.close)
    case.addClassCleanup(nginx.close)
    upstream.on("/good", answer(200, "good"))
    upstream.on("/slow", lambda _: time.sleep(0.2) or answer(200, "slow"))
    upstream.on("/slower", answer(429, "", ("Retry-After", "60")))
    upstream.on("/token", as_json(200, json.dumps(
        {"access_token": "t", "token_type": "Bearer", "expires_in": 3600})))
    relay = Watched({})
    case.addClassCleanup(relay.clean)
    relay.members["credentials"] = {"login": {
        "type": "oauth2_client_credentials", "token_url": upstream.url + "token", "client_id": "shop",
        "client_secret": relay.secret("client", "s3cret"), "allow_addresses": ["127.0.0.0/8"]}}
    relay.write({
        "good": route(
            upstream.url, auth={"type": "bearer", "credential": "login"}, rate_limit={"max_requests": 1000}),
        "down": route(f"http://127.0.0.1:{refused_port()}/", recovery=[
            {"name": "again", "on": ["connection"], "retry": {"max_attempts": 2}}]),
        "patient": route(upstream.url), "kept": route(upstream.url, delivery={"mode": "durable"}),
        "crowded": route(upstream.url, concurrency={"max_requests": 1}),
        "secure": route(f"https://localhost:{nginx.secure}/", tls={"ca_file": nginx.certificates.authority})})
    relay.start()
    assert relay.ask("GET", "/r/good/good").status == 200
    assert relay.ask("GET", "/r/down/a").status == 502
    # The second finds the kept connection of its loop, and is promoted by its answer.
    caller = relay.caller()
    case.addClassCleanup(caller.close)
    for path, status in ("good", 200), ("slower", 429):
        caller.send(request("GET", f"/r/patient/{path}"))
        assert caller.answer().status == status
    assert relay.ask("GET", "/r/nowhere/a").status == 404
    assert relay.ask("GET", "/r/secure/").status < 500
    crowd = [threading.Thread(target=relay.ask, args=("GET", "/r/crowded/slow")) for _ in range(2)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert relay.ask("POST", "/r/kept/good", body=b"x").status == 202
    eventually(lambda: "waystation_job_duration_seconds_count{" in relay.metrics()[1], "the first job is over")
    assert relay.command("pause", "kept").returncode == 0
    assert relay.ask("POST", "/r/kept/good", body=b"x").status == 202
    # Of kept jobs the figures are those of the last second.
    eventually(lambda: "waystation_jobs_waiting{" in relay.metrics()[1], "the kept job is told of")
    return relay
