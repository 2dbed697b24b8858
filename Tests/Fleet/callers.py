"""Callers in C before a fleet's nodes, and nginx behind them: they take little of the processors that the fleet is given."""

import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Benchmarks"))

from bench import system  # noqa: E402
from server import free_port  # noqa: E402

BYTES = 1024
PATIENCE = 180


class Nginx:
    """Answers 200 with two bytes, or with `fails` one request in sixteen by 503, and writes nothing down."""

    def __init__(self, directory, fails=False):
        self.port = free_port()
        configuration = directory / "nginx.conf"
        configuration.write_text(
            f"worker_processes 1; daemon off; pid {directory}/nginx.pid; error_log {directory}/nginx.log crit;\n"
            "events { worker_connections 4096; }\nhttp { access_log off; keepalive_requests 1000000000; "
            f"client_body_temp_path {directory}/nginx-body; client_body_buffer_size 16k;\n"
            f"map $request_id $fails {{ default ''; {'~^0 1;' if fails else ''} }}\n"
            f"server {{ listen 127.0.0.1:{self.port} backlog=4096;\n"
            "location / { if ($fails) { return 503; } return 200 ok; } } }\n")
        self.process = subprocess.Popen(
            [shutil.which("nginx") or "/usr/sbin/nginx", "-c", configuration, "-e", directory / "nginx.log"],
            preexec_fn=system.die_with_parent)

    def end(self):
        self.process.terminate()
        self.process.wait(10)


class Callers:
    """The callers of each node hand over jobs and wait for nothing but their acceptance: `count` of them in all, or for so
    many `seconds`, at a `rate` or as fast as they are accepted. They are ready to go once this is made."""

    def __init__(self, program, nodes, at_once, count=None, seconds=None, rate=None):
        each = len(nodes)
        words = ["-n", str(count // each)] if count else ["-t", str(seconds)]
        words += ["-r", str(rate / each)] if rate else []
        self.clients = [subprocess.Popen(
            [program, "-u", node.jobs, "-c", str(-(-at_once // each)), "-b", str(BYTES), "-w", "0", *words, "-q", "/r/main/job/1",
             "-a", "Prefer: respond-async", "-s", "202"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=system.die_with_parent) for node in nodes]
        for client in self.clients:
            client.stdout.readline()

    def go(self):
        for client in self.clients:
            client.stdin.write("go\n")
            client.stdin.flush()

    def wait(self):
        """How many jobs were accepted, and how many refused."""
        accepted = refused = 0
        for client in self.clients:
            said, _ = client.communicate(timeout=PATIENCE)
            if client.returncode:
                raise AssertionError(f"a caller ended with {client.returncode}")
            figures = json.loads(said)
            accepted, refused = accepted + figures["count"], refused + figures["errors"]
        return accepted, refused
