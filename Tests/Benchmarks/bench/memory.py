"""The memory of a proxy, idle and per connection, request and job: bytes that no file stands behind."""

import socket
import time

from .system import Unavailable

REQUEST = (
    b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
    + b"x" * 500)


def measure(server, count):
    """Bytes, each figure from a fresh start."""
    result = {}
    with fresh(server):
        resident, result["idle_anonymous_bytes"] = server.memory_bytes()
        result["idle_resident_bytes"] = resident
    result["idle_connection_bytes"] = _per_item(server, count, b"/r/bench/x", answers=True)
    result["in_flight_bytes"] = _per_item(server, count, b"/r/bench/hold", answers=False)
    if server.name == "waystation":
        result["in_backoff_bytes"] = _per_item(server, count, b"/r/slow/fail", answers=False)
    return result


class fresh:
    """A server that has just been started, and has answered once: the first request pays for what is made then."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        self.server.stop()
        self.server.start()
        with opened(self.server) as first:
            ask(first, b"/r/bench/x")
            read(first)
        settled(self.server)

    def __exit__(self, *_):
        self.server.stop()


def _per_item(server, count, path, answers):
    sockets = []
    with fresh(server):
        before = settled(server)
        try:
            for _ in range(count):
                sockets.append(opened(server))
                ask(sockets[-1], path)
                if answers:
                    read(sockets[-1])
            after = settled(server)
            if not answers:
                _expect_silence(sockets)
        finally:
            for each in sockets:
                each.close()
    return (after - before) / count


def settled(server):
    """The anonymous size once two readings a tenth of a second apart agree."""
    last = -1
    for _ in range(50):
        _, size = server.memory_bytes()
        if size == last:
            return size
        last = size
        time.sleep(0.1)
    raise Unavailable(f"the memory of {server.name} does not settle")


def opened(server):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(5)
    connection.connect(server.socket)
    return connection


def ask(connection, path):
    connection.sendall(REQUEST % path)


def read(connection):
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
