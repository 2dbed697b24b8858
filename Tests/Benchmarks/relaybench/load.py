"""The load generator and the upstream: built, started, read."""

import json
import os
import subprocess

from . import system
from .system import Unavailable

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def build(directory):
    """Compiles both programs into `directory`."""
    for name, libraries in (("load", []), ("upstream", ["-lssl", "-lcrypto"])):
        source = os.path.join(HERE, name + ".c")
        command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", os.path.join(directory, name), source]
        subprocess.run(command + libraries, check=True)


def make_certificates(directory):
    """An authority and a certificate for localhost, for the hours of one run; returns the authority's path."""
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
        ["openssl", "x509", "-req", "-in", request, "-CA", authority, "-CAkey", key + ".ca", "-CAcreateserial",
         "-out", chain, "-days", "2", "-extfile", extensions],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return authority, chain, key


class Upstream:
    """The server behind every proxy, on the load's core."""

    def __init__(self, directory, priority, certificate=None):
        command = [os.path.join(directory, "upstream")]
        if certificate:
            command += ["-c", certificate[0], "-k", certificate[1]]
        self.process = system.start(command, system.LOAD_CORE, stdout=subprocess.PIPE, priority=priority)
        self.port = int(self.process.stdout.readline())

    def stop(self):
        system.stop(self.process)


def run(directory, contestant, seconds, priority, target="/r/bench/x", connections=64, rate=None, warmup=0.5):
    """Loads one proxy once.

    Returns requests per second, CPU microseconds per request (all, user, system) and latencies in microseconds.
    """
    command = [
        os.path.join(directory, "load"), "-u", contestant.socket, "-p", target, "-c", str(connections),
        "-t", str(seconds), "-w", str(warmup)]
    if rate:
        command += ["-r", str(rate)]
    pid = contestant.pid
    process = system.start(
        command, system.LOAD_CORE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, log=subprocess.PIPE,
        priority=priority)
    try:
        if not process.stdout.readline():
            raise Unavailable(f"load on {contestant.name} failed: {process.stderr.read().strip()}")
        cpu, ticks = system.cpu_nanoseconds(pid), system.user_and_system_ticks(pid)
        process.stdin.write("go\n")
        process.stdin.flush()
        line = process.stdout.readline()
        cpu_end, ticks_end = system.cpu_nanoseconds(pid), system.user_and_system_ticks(pid)
        if not line:
            raise Unavailable(f"load on {contestant.name} failed: {process.stderr.read().strip()}")
    finally:
        system.stop(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
    result = json.loads(line)
    count = max(result["requests"], 1)
    used = max(sum(ticks_end) - sum(ticks), 1)
    total = (cpu_end - cpu) / 1000 / count
    return {
        "requests_per_second": result["requests"] / result["seconds"],
        "cpu_us": total,
        "cpu_user_us": total * (ticks_end[0] - ticks[0]) / used,
        "cpu_system_us": total * (ticks_end[1] - ticks[1]) / used,
        "p50_us": result["p50_us"],
        "p99_us": result["p99_us"],
        "errors": result["errors"],
        "reconnects": result["reconnects"],
    }
