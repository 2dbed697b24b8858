"""Daemons whose figures are read over a port of the loopback, as Prometheus reads them."""

import http.client
import os
import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "EndToEnd"))

from relay import Relay  # noqa: E402

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


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

    def command(self, *words):
        """The result of the command with this daemon, by its control socket."""
        program = pathlib.Path(os.environ["WAYSTATIOND"]).parent / "waystation"
        return subprocess.run(
            [program, *words], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "WAYSTATION_CONTROL_SOCKET": self.control,
                 "WAYSTATION_SOCKET": self.jobs})
