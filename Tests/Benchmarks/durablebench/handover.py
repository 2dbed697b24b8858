"""The client of every contestant but Celery."""

import array
import json
import os
import subprocess

from relaybench import system
from relaybench.system import Unavailable

from . import relay

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def build(directory):
    source = os.path.join(HERE, "handover.c")
    command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", os.path.join(directory, "handover"), source]
    subprocess.run(command, check=True)


class Handover:
    """One run of the client against one server, which is pinned to the other core."""

    def __init__(self, directory, server, connections, body=1024):
        self.server = server
        self.directory = directory
        self.command = [
            os.path.join(directory, "handover"), "-k", server.protocol, "-u", server.socket, "-c", str(connections),
            "-b", str(body)]
        if server.protocol == "http":
            self.command += ["-q", relay.TARGET, "-a", relay.KEEP]

    def later(self):
        """Nothing is delivered while accepting is measured; a queue of the peers has no consumer either."""
        if self.server.protocol == "http":
            self.command += ["-a", relay.LATER]
        return self

    def for_seconds(self, seconds, warmup=0.5, rate=None):
        self.command += ["-t", str(seconds), "-w", str(warmup)]
        if rate:
            self.command += ["-r", str(rate)]
        return self._run()

    def count(self, count):
        self.command += ["-n", str(count)]
        return self._run()

    def with_samples(self, seconds, rate):
        """The figures and every latency: arrays of its end (ns, monotonic) and its microseconds."""
        path = os.path.join(self.directory, "samples")
        self.command += ["-o", path]
        figures = self.for_seconds(seconds, rate=rate)
        with open(path, "rb") as file:
            words = array.array("Q", file.read())
        os.unlink(path)
        return figures, words[0::2], array.array("Q", (word & 0xFFFFFFFF for word in words[1::2]))

    def _run(self):
        server = self.server
        process = system.start(
            self.command, system.LOAD_CORE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, log=subprocess.PIPE)
        try:
            if not process.stdout.readline():
                raise Unavailable(f"the load on {server.name} failed: {process.stderr.read().strip()}")
            cpu = server.cpu_seconds()
            process.stdin.write("go\n")
            process.stdin.flush()
            line = process.stdout.readline()
            used = server.cpu_seconds() - cpu
            if not line:
                raise Unavailable(f"the load on {server.name} failed: {process.stderr.read().strip()}")
            process.wait(60)
            figures = json.loads(line)
            if figures["errors"]:
                raise Unavailable(f"{server.name} refused {figures['errors']} jobs: {process.stderr.read().strip()}")
        finally:
            system.stop(process)
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()
        count = max(figures["accepted"], 1)
        return {
            "jobs_per_second": figures["accepted"] / figures["seconds"],
            "cpu_us": used * 1e6 / count,
            **{key: figures[key] for key in ("p50_us", "p99_us", "p999_us", "max_us", "client_busy")},
            "begin": figures["begin_ns"] / 1e9,
        }
