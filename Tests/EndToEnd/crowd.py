"""Callers of other accounts, many at once: crowd.py UID SOCKET COUNT SECONDS MODE TARGET

flood: each connection sends a request as soon as the last one is answered. drip: each sends a head that never ends, a
byte a time. paced: each sends a request every 10 ms. Connections that are closed are made again. Says when all are
connected, and at the end, as JSON, how many were answered 200, how many otherwise, and the times of those answered
200, in milliseconds.
"""

import json
import os
import selectors
import socket
import subprocess
import sys
import time

PACE = 0.01


def crowd(user, path, count, seconds, mode="flood", target="/r/up/x"):
    """Starts such callers; `tally` waits for what they say."""
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
    process = subprocess.Popen(
        [python, "-B", "-S", "-c", open(__file__, encoding="utf-8").read(), str(user), path, str(count), str(seconds),
         mode, target], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "connected\n"
    return process


def tally(process):
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return json.loads(said)


class One:
    def __init__(self, path, mode, target, selector):
        self.path, self.mode, self.target, self.selector = path, mode, target, selector
        self.socket, self.due = None, 0.0
        self.connect()

    def connect(self):
        if self.socket:
            self.selector.unregister(self.socket)
            self.socket.close()
        self.socket, self.held, self.began = socket.socket(socket.AF_UNIX), b"", None
        self.socket.connect(self.path)
        self.socket.setblocking(False)
        self.selector.register(self.socket, selectors.EVENT_READ, self)

    def act(self, now):
        if now < self.due:
            return
        try:
            if self.mode == "drip":
                self.socket.send(b"G" if self.began is None else b"E")
                self.began, self.due = now, now + 0.2
            elif self.began is None:
                self.socket.send(f"GET {self.target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                self.began = now
                self.due = now + PACE if self.mode == "paced" else now
        except OSError:
            self.again(now)

    def again(self, now):
        self.connect()
        self.due = now + 0.1

    def hear(self, now, figures):
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.held += data
        if b"\r\n\r\n" in self.held and self.mode != "drip":
            head, rest = self.held.split(b"\r\n\r\n", 1)
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
            if len(rest) >= length:
                self.held = b""
                if head[9:12] == b"200":
                    figures["times"].append((now - (self.began or now)) * 1000)
                else:
                    figures["refused"] += 1
                    self.due = now + 0.02
                self.began = None
        if not data:
            self.again(now)


def main():
    user, path, count, seconds, mode, target = sys.argv[1:7]
    os.setgroups([])
    os.setgid(int(user))
    os.setuid(int(user))
    selector, figures = selectors.DefaultSelector(), {"times": [], "refused": 0}
    ones = [One(path, mode, target, selector) for _ in range(int(count))]
    print("connected", flush=True)
    end = time.monotonic() + float(seconds)
    while (now := time.monotonic()) < end:
        for one in ones:
            one.act(now)
        for key, _ in selector.select(0.001):
            key.data.hear(time.monotonic(), figures)
    figures["times"].sort()
    figures["answered"] = len(figures["times"])
    for name, place in ("p50", 0.5), ("p99", 0.99):
        figures[name] = figures["times"][int(place * (len(figures["times"]) - 1))] if figures["times"] else None
    del figures["times"]
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
