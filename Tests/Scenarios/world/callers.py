"""Callers of the relay's socket: requests at a rate, whatever becomes of them, and jobs that are kept."""

import asyncio
import json
import socket

from users import acting_as

PATIENCE = 60


class Call:
    """One request of a caller, and what it was told; `status` is None where there was no answer."""

    __slots__ = ("at", "ended", "status", "job", "code")

    def __init__(self, at):
        self.at, self.ended, self.status, self.job, self.code = at, None, None, None, None

    @property
    def seconds(self):
        return self.ended - self.at


class Socket:
    """Connections to one Unix socket, each used by one request at a time, of another user where one is named."""

    def __init__(self, path, user=None):
        self.path, self.user, self.idle = path, user, []

    async def connect(self):
        if self.user is None:
            return await asyncio.open_unix_connection(self.path)
        made = socket.socket(socket.AF_UNIX)
        with acting_as(self.user):
            made.connect(self.path)
        return await asyncio.open_unix_connection(sock=made)

    async def ask(self, method, target, fields=(), body=None):
        """The answer as (status, fields by lower-case name, body); raises OSError or EOFError where there is none."""
        reader, writer = self.idle.pop() if self.idle else await self.connect()
        try:
            lines = [f"{method} {target} HTTP/1.1", "Host: relay", *(f"{name}: {value}" for name, value in fields)]
            if body is not None:
                lines.append(f"Content-Length: {len(body)}")
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            told = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            content = await reader.readexactly(int(told.get("content-length", 0)))
        except BaseException:
            writer.close()
            raise
        if told.get("connection") == "close":
            writer.close()
        else:
            self.idle.append((reader, writer))
        return int(head[0].split(" ")[1]), told, content

    async def document(self, target):
        status, _, body = await self.ask("GET", target)
        assert status == 200, (target, status, body)
        return json.loads(body)

    def close(self):
        for _, writer in self.idle:
            writer.close()


async def steadily(now, per_second, seconds, begin):
    """Begins one after the other at that rate; none waits for another's end. Returns when all have ended."""
    begun, first = set(), now()
    for number in range(int(per_second * seconds)):
        await asyncio.sleep(first + number / per_second - now())
        begun.add(asyncio.create_task(begin(number)))
    await asyncio.gather(*begun)


class Callers:
    """Those of one user, and of one daemon."""

    def __init__(self, clock, socket):
        self.now, self.socket = clock, socket
        # Requests that waited for their answers, and jobs that were handed over.
        self.calls, self.jobs = [], []

    async def _call(self, calls, method, target, fields=(), body=None, patience=PATIENCE):
        call = Call(self.now())
        calls.append(call)
        try:
            async with asyncio.timeout(patience):
                call.status, told, content = await self.socket.ask(method, target, fields, body)
            call.job = told.get("waystation-job")
            if told.get("content-type") == "application/problem+json":
                call.code = json.loads(content)["code"]
        except (OSError, EOFError, TimeoutError):
            pass
        call.ended = self.now()
        return call

    async def _steadily(self, per_second, seconds, begin):
        await steadily(self.now, per_second, seconds, lambda _: begin())

    async def request(self, target, method="GET", fields=(), body=None, **members):
        """`patience` are seconds after which the caller hangs up."""
        return await self._call(self.calls, method, target, fields, body, **members)

    async def requests(self, target, per_second, seconds, *members):
        await self._steadily(per_second, seconds, lambda: self.request(target, *members))

    async def keep(self, target):
        """Hands over one job with a key, so that it may be repeated."""
        key = ("Idempotency-Key", f'"{len(self.jobs)}"')
        return await self._call(self.jobs, "POST", target, [("Prefer", "respond-async"), key], b"kept")

    async def keeps(self, target, per_second, seconds):
        await self._steadily(per_second, seconds, lambda: self.keep(target))

    async def keep_many(self, route, count, path="/"):
        """Hands over so many at once; returns their ids."""
        ids = []
        for first in range(0, count, 1000):
            numbers = range(first, min(count, first + 1000))
            jobs = [{"route": route, "mode": "async", "request": {
                "method": "POST", "path": path, "text": "kept", "headers": {"Idempotency-Key": f"{path}{number}"}}}
                for number in numbers]
            body = json.dumps(jobs).encode()
            status, _, told = await self.socket.ask("POST", "/v1/jobs", [("Content-Type", "application/json")], body)
            told = json.loads(told)
            assert status == 200 and told["refused"] == 0, told
            ids += [one["job"] for one in told["jobs"]]
        return ids
