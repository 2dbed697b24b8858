#!/usr/bin/env python3
"""Tests/Fleet/upstream.py LOG MILLISECONDS SCRIPT: an upstream that writes down every request, as a process of its own.

It prints its port. A request for /job/N is answered after up to MILLISECONDS, in SCRIPT `smooth` by 200, and in SCRIPT
`rough` some are answered by 503 or not at all when they come for the first time. In SCRIPT `holding` the first requests of
the first 64 jobs are held. A line of LOG is a request that is over: N, node, its place among all, when it came and when it
was over (nanoseconds of the monotonic clock), and its outcome.
"""

import asyncio
import os
import signal
import sys
import time

FLUSH = 0.02
HELD, HOLD = 64, 120


class Log:
    def __init__(self, path):
        self.file, self.lines, self.count, self.turns = open(path, "w"), [], 0, {}

    def begin(self, number):
        turn = self.turns.get(number, 0)
        self.turns[number] = turn + 1
        self.count += 1
        return self.count, turn

    def end(self, number, node, place, came, outcome):
        self.lines.append(f"{number} {node} {place} {came} {time.monotonic_ns()} {outcome}\n")

    def flush(self):
        if self.lines:
            self.file.write("".join(self.lines))
            self.file.flush()
            self.lines = []


class Connection(asyncio.Protocol):
    log, wait, script = None, 0, "smooth"

    def connection_made(self, transport):
        self.transport, self.held, self.open, self.timer = transport, b"", None, None

    def data_received(self, data):
        self.held += data
        while self.open is None and (end := self.held.find(b"\r\n\r\n")) >= 0:
            lines = self.held[:end].decode("latin-1").split("\r\n")
            fields = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
            length = int(fields.get("content-length", 0))
            if len(self.held) < end + 4 + length:
                return
            self.held = self.held[end + 4 + length:]
            self.request(int(lines[0].split(" ")[1].rsplit("/", 1)[1]), fields.get("x-node", "?"))

    def request(self, number, node):
        place, turn = self.log.begin(number)
        self.open = (number, node, place, time.monotonic_ns())
        status = 200
        if self.script == "rough" and turn == 0:
            status = 503 if number % 20 == 7 else 0 if number % 50 == 11 else 200
        wait = self.wait * (number * 7919 % 100) / 100
        if self.script == "holding" and turn == 0 and number <= HELD:
            wait = HOLD
        if wait:
            self.timer = asyncio.get_running_loop().call_later(wait, self.answer, status)
        else:
            self.answer(status)

    def answer(self, status):
        record, self.open, self.timer = self.open, None, None
        if not status:
            self.log.end(*record, "reset")
            return self.transport.abort()
        self.transport.write(b"HTTP/1.1 %d Scripted\r\nContent-Length: 2\r\n\r\nok" % status)
        self.log.end(*record, status)
        self.data_received(b"")

    def connection_lost(self, _):
        if self.timer:
            self.timer.cancel()
        if self.open:
            self.log.end(*self.open, "cut")
            self.open = None


async def main(path, milliseconds, script):
    Connection.log, Connection.wait, Connection.script = Log(path), int(milliseconds) / 1000, script
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    parent = os.getppid()
    while not over.is_set() and os.getppid() == parent:
        Connection.log.flush()
        await asyncio.sleep(FLUSH)
    Connection.log.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
