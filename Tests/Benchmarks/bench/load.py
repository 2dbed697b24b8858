"""The programs in C, the upstream, and one run of the client."""

import json
import os
import subprocess

from . import system
from .system import Unavailable

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# A client that has not ended after so long has lost a request.
LIMIT = 120


def build(directory):
    """Compiles the client, the upstream and the floor into `directory`."""
    client = [os.path.join("client", name) for name in sorted(os.listdir(os.path.join(HERE, "client")))
              if name.endswith(".c")]
    for name, sources, libraries in (
        ("client", client, []), ("upstream", ["upstream.c"], ["-lssl", "-lcrypto"]), ("floor", ["floor.c"], []),
    ):
        command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", os.path.join(directory, name + ".program")]
        subprocess.run([*command, *(os.path.join(HERE, each) for each in sources), *libraries], check=True)


def make_certificates(directory):
    """An authority and a certificate for localhost, made for one run; returns the paths."""
    authority, key, request, chain = (
        os.path.join(directory, name) for name in ("authority.pem", "key.pem", "request.pem", "chain.pem"))
    extensions = os.path.join(directory, "extensions")
    with open(extensions, "w") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=critical,CA:FALSE\n")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for command in (
        ["openssl", "req", "-x509", *curve, "-keyout", key + ".ca", "-out", authority, "-days", "2",
         "-subj", "/CN=Benchmark authority", "-addext", "keyUsage=critical,keyCertSign"],
        ["openssl", "req", *curve, "-keyout", key, "-out", request, "-subj", "/CN=localhost"],
        ["openssl", "x509", "-req", "-in", request, "-CA", authority, "-CAkey", key + ".ca",
         "-CAcreateserial", "-out", chain, "-days", "2", "-extfile", extensions],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return authority, chain, key


class Upstream:
    """The server behind every proxy, on the load's core."""

    def __init__(self, directory, certificate=None):
        command = [os.path.join(directory, "upstream.program")]
        if certificate:
            command += ["-c", certificate[0], "-k", certificate[1]]
        self.process = system.start(command, system.LOAD_CORE, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())

    def stop(self):
        system.stop(self.process)
        self.process.stdout.close()


class Client:
    """One run against one server, which is pinned to the other core."""

    def __init__(self, directory, server, words):
        self.server = server
        where = ["-p", str(server.port)] if getattr(server, "port", None) else ["-u", server.socket]
        self.command = [os.path.join(directory, "client.program"), *where, *map(str, words)]
        # The steps to take just before the measurement begins and just after it has ended.
        self.before = self.after = lambda: None

    def run(self):
        """The client's own figures, with what the server's processes have used meanwhile."""
        server = self.server
        process = system.start(
            self.command, system.LOAD_CORE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, log=subprocess.PIPE)
        try:
            if not process.stdout.readline():
                raise Unavailable(f"the load on {server.name} failed: {process.stderr.read().strip()}")
            self.before()
            cpu, ticks = usage(server.pids)
            process.stdin.write("go\n")
            process.stdin.flush()
            line = process.stdout.readline()
            cpu_end, ticks_end = usage(server.pids)
            self.after()
            if not line:
                raise Unavailable(f"the load on {server.name} failed: {process.stderr.read().strip()}")
            process.wait(LIMIT)
            figures = json.loads(line)
            if figures["errors"]:
                said = process.stderr.read().strip()
                raise Unavailable(f"{server.name} refused {figures['errors']} of {figures['count']}: {said}")
        finally:
            system.stop(process)
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()
        count = max(figures["count"], 1)
        total = (cpu_end - cpu) / 1000 / count
        used = max(sum(ticks_end) - sum(ticks), 1)
        return {
            "per_second": figures["count"] / figures["seconds"],
            "cpu_us": total,
            "cpu_user_us": total * (ticks_end[0] - ticks[0]) / used,
            "cpu_system_us": total * (ticks_end[1] - ticks[1]) / used,
            **{key: figures[key] for key in ("count", "p50_us", "p99_us", "p999_us", "max_us", "client_busy")},
            "begin": figures["begin_ns"] / 1e9,
        }


def usage(pids):
    """Nanoseconds, and ticks of user and system, of all that are alive."""
    nanoseconds, ticks = 0, [0, 0]
    for pid in pids:
        nanoseconds += system.cpu_nanoseconds(pid)
        for index, each in enumerate(system.user_and_system_ticks(pid)):
            ticks[index] += each
    return nanoseconds, ticks
