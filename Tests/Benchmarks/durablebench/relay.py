"""The relay, with a route whose jobs are kept."""

import http.client
import json
import os
import socket
import time

from relaybench import system

from .peers import Server

TEMPLATE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers", "waystation-durable.json")
TARGET = "/r/bench/x"
KEEP = "Prefer: respond-async"
# A day ahead: such a job is unfinished and stays so for as long as anything here takes.
LATER = "Waystation-Delay: 24h"


class Waystation(Server):
    name = "waystation"
    protocol = "http"

    def __init__(self, directory, port, program, name="waystation"):
        self.name = name
        super().__init__(directory)
        self.program = program
        self.control = os.path.join(self.directory, "control.sock")
        self.port = port

    def command(self):
        with open(TEMPLATE) as file:
            text = file.read()
        for key, value in (
            ("@DIRECTORY@", self.directory), ("@SOCKET@", self.socket), ("@CONTROL@", self.control),
            ("@PORT@", str(self.port)),
        ):
            text = text.replace(key, value)
        configuration = os.path.join(self.directory, "waystation.json")
        with open(configuration, "w") as file:
            file.write(text)
        return [self.program, "--config", configuration, "--loops", "1"]

    def wait_until_ready(self):
        """Until the first 200 of its readiness: whatever the store reads first is in that time."""
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            try:
                status, _ = self.ask("/v1/health/ready")
                if status == 200:
                    return
            except OSError:
                pass
            self.check_alive()
            time.sleep(0.0005)
        self.fail("is not ready after 600 s")

    def ask(self, path):
        """The status and the document of one GET."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(self.control)
            connection.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path.encode())
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            text = answer.read()
        return answer.status, json.loads(text) if text else None

    def jobs(self):
        """How many jobs of the route are in which state."""
        _, document = self.ask("/v1/routes/bench")
        return document["jobs"]

    @property
    def unfinished(self):
        jobs = self.jobs()
        return sum(jobs.get(state, 0) for state in ("scheduled", "queued", "running", "retrying", "held"))

    @property
    def resident(self):
        return system.resident_bytes(self.process.pid)

    def wait_for_succeeded(self, count, since, seconds=120):
        """The seconds from `since`, on the monotonic clock, until `count` jobs have succeeded."""
        while True:
            jobs = self.jobs()
            now = time.monotonic()
            if jobs["succeeded"] >= count:
                return now - since
            if jobs.get("dead", 0) or now > since + seconds:
                self.fail(f"has settled {jobs} of {count} after {now - since:.1f} s")
            time.sleep(0.005)
