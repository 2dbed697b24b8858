"""How long starts take: the daemon's to READY=1, in turns with a peer's to its first answer."""

import os
import shutil
import socket
import subprocess
import time

from . import system
from .figures import paired, quartiles
from .system import Unavailable

PEER = """worker_processes 1;
daemon off;
pid {directory}/pid;
error_log {directory}/log crit;
events {{ }}
http {{
    access_log off;
    server {{
        listen unix:{directory}/socket;
        return 204;
    }}
}}
"""


def peer(directory):
    """The seconds from the start of nginx to its first answer; nothing where it is not installed."""
    if shutil.which("nginx") is None:
        return None
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    path = os.path.join(directory, "nginx.conf")
    with open(path, "w") as file:
        file.write(PEER.format(directory=directory))
    begun, begin = os.pipe()

    def prepare():
        system.die_with_parent()
        system.go_first()
        os.write(begin, time.monotonic_ns().to_bytes(8, "little"))

    process = subprocess.Popen(
        ["nginx", "-p", directory, "-e", os.path.join(directory, "log"), "-c", path],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=prepare)
    try:
        os.close(begin)
        with open(begun, "rb") as file:
            start = int.from_bytes(file.read(8), "little")
        answered(os.path.join(directory, "socket"), process)
        return (time.monotonic_ns() - start) / 1e9
    finally:
        system.stop(process)
        shutil.rmtree(directory, ignore_errors=True)


def answered(path, process):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.settimeout(10)
                connection.connect(path)
                connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
                if connection.recv(100).startswith(b"HTTP/1.1 204 "):
                    return
            except OSError:
                pass
        if process.poll() is not None:
            raise Unavailable(f"nginx ended with status {process.returncode}")
        time.sleep(0.0002)
    raise Unavailable("nginx does not answer after 20 s")


def compared(ours, theirs):
    """The quartiles and the least of our starts, in milliseconds, and the median of the ratios of each turn."""
    low, median, high = (each * 1000 for each in quartiles(ours))
    figures = {"median": median, "low": low, "high": high, "least": min(ours) * 1000}
    if ratios := paired(*([{"start": each} if each else None for each in turns] for turns in (ours, theirs)), "start"):
        figures["peer"] = quartiles([each for each in theirs if each])[1] * 1000
        figures["ratio"] = quartiles(ratios)[1]
    return figures
