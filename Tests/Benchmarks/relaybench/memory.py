"""Scenario 6: what a proxy holds, idle and per connection, request and job."""

import socket
import time

from . import system
from .system import Unavailable

REQUEST = (
    b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
    + b"x" * 500)


def measure(contestant, count, authority):
    """Bytes, each from a fresh start: idle, per idle connection, per request in flight, per job in backoff."""
    result = {}
    result["idle_bytes"] = _fresh(contestant, authority, lambda: 0)[0]
    result["idle_connection_bytes"] = _per_item(contestant, authority, count, b"/r/bench/x", answers=True)
    result["in_flight_bytes"] = _per_item(contestant, authority, count, b"/r/bench/hold", answers=False)
    if contestant.name == "waystation":
        result["in_backoff_bytes"] = _per_item(contestant, authority, count, b"/r/slow/fail", answers=False)
    return result


def _fresh(contestant, authority, action):
    contestant.stop()
    contestant.start(authority)
    # The first request pays for what is made on first use.
    with _open(contestant) as first:
        _ask(first, b"/r/bench/x")
        _read(first)
    before = _settled(contestant)
    action()
    return before, _settled(contestant)


def _per_item(contestant, authority, count, path, answers):
    sockets = []

    def open_all():
        for _ in range(count):
            sockets.append(_open(contestant))
            _ask(sockets[-1], path)
            if answers:
                _read(sockets[-1])

    try:
        before, after = _fresh(contestant, authority, open_all)
        if not answers:
            _expect_silence(sockets)
    finally:
        for each in sockets:
            each.close()
    return (after - before) / count


def _settled(contestant):
    """The resident size once two readings a fifth of a second apart agree."""
    last = -1
    for _ in range(25):
        size = system.resident_bytes(contestant.pid)
        if size == last:
            return size
        last = size
        time.sleep(0.2)
    return last


def _open(contestant):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(5)
    connection.connect(contestant.socket)
    return connection


def _ask(connection, path):
    connection.sendall(REQUEST % path)


def _read(connection):
    received = b""
    while len(received) < 1024 or received.count(b"y") < 1024:
        piece = connection.recv(65536)
        if not piece:
            raise Unavailable("the connection closed before the answer was there: " + repr(received[:300]))
        received += piece
    if not received.startswith(b"HTTP/1.1 200 "):
        raise Unavailable("the answer is no 200: " + repr(received[:300]))


def _expect_silence(sockets):
    """A request that should be waiting and has an answer would make the figure a lie."""
    for each in sockets:
        each.setblocking(False)
        try:
            answer = each.recv(300)
        except BlockingIOError:
            continue
        raise Unavailable("a request that should wait was answered: " + repr(answer))
