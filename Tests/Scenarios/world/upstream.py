"""The upstream of a scenario: serves as its model says, and remembers every attempt."""

import asyncio

REASONS = {
    200: "OK", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error",
    501: "Not Implemented", 503: "Service Unavailable"}


class Attempt:
    """One request as it came in, and what it was answered."""

    __slots__ = ("connection", "at", "beside", "method", "path", "fields", "body", "ended", "status")

    def __init__(self, connection, at, beside, method, path, fields, body):
        self.connection, self.at, self.method, self.path = connection, at, method, path
        self.fields, self.body = fields, body
        # Attempts that were with the upstream when this one came, itself included.
        self.beside = beside
        self.ended = self.status = None

    def answer(self, status, body=b"", *fields):
        """Answers; an attempt that the relay has given up meanwhile was served in vain."""
        if self.ended is not None:
            return
        self.status = status
        head = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Length: {len(body)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in fields)
        self.connection.transport.write(head.encode() + b"\r\n" + body)
        self.connection.end()

    def refuse(self):
        """Closes its connection without a word."""
        self.connection.transport.close()


class Connection(asyncio.Protocol):
    """One connection of the relay: one request after the other."""

    def __init__(self, upstream):
        self.upstream, self.held, self.attempt = upstream, b"", None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.held += data
        if self.attempt is None:
            self.read()

    def read(self):
        head, mark, rest = self.held.partition(b"\r\n\r\n")
        if not mark:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(fields.get("content-length", 0))
        if len(rest) < length:
            return
        self.held = rest[length:]
        self.upstream.active += 1
        upstream = self.upstream
        self.attempt = Attempt(self, upstream.now(), upstream.active, *first.split(" ")[:2], fields, rest[:length])
        upstream.attempts.append(self.attempt)
        upstream.model(self.attempt)

    def end(self):
        self.attempt.ended = self.upstream.now()
        self.attempt = None
        self.upstream.active -= 1
        if self.held:
            self.read()

    def connection_lost(self, _):
        if self.attempt is not None:
            self.end()


class Upstream:
    """Listens on a loopback port; `model` is called with every attempt and answers it, at once, later or never."""

    def __init__(self, clock, model=None):
        self.now, self.model = clock, model or (lambda attempt: attempt.answer(200))
        self.attempts, self.active = [], 0

    async def open(self):
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: Connection(self), "127.0.0.1", 0, backlog=4096)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}/"
        return self

    def close(self):
        self.server.close()

    def seen(self, begin=0, end=float("inf")):
        """The attempts that came from then until then."""
        return [attempt for attempt in self.attempts if begin <= attempt.at < end]

    def most_beside(self, begin, end):
        """The most attempts that were there at once, of those that came from then until then."""
        return max((attempt.beside for attempt in self.seen(begin, end)), default=0)


class Queue:
    """Serves `rate` requests a second in their order, but none in `stalls`, pairs of moments.

    It does not see that somebody has given up: as with most servers, what waits is served though nobody is there.
    """

    def __init__(self, clock, rate, stalls=()):
        self.now, self.step, self.stalls, self.free = clock, 1 / rate, stalls, 0.0

    def __call__(self, attempt):
        now = self.now()
        self.free = max(self.free, now) + self.step
        for begin, end in self.stalls:
            if begin <= self.free < end:
                self.free = end + self.step
        asyncio.get_running_loop().call_later(self.free - now, attempt.answer, 200)


class Ceiling:
    """Takes so many at once, each for so many seconds, and refuses those above."""

    def __init__(self, most, seconds, status=503):
        self.most, self.seconds, self.status = most, seconds, status
        self.inside = 0

    def __call__(self, attempt):
        if self.inside >= self.most:
            attempt.answer(self.status)
            return
        self.inside += 1
        asyncio.get_running_loop().call_later(self.seconds, self._leave, attempt)

    def _leave(self, attempt):
        self.inside -= 1
        attempt.answer(200)


def after(seconds, attempt, status, *rest):
    """Answers a moment later, as what crosses a network is."""
    asyncio.get_running_loop().call_later(seconds, attempt.answer, status, *rest)
