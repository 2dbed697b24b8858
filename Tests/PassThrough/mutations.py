"""Mutated requests and answers, in pieces, against a daemon of one mode."""

import dataclasses
import random
import threading
import time

import streams
from peers import Daemon, Upstream, read_answer, request

ANSWERS = [
    b"HTTP/1.1 200 OK\r\nServer: u\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 404 Not Found\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
    b"HTTP/1.1 201 Created\r\nX-RateLimit-Remaining: 0\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nab",
    b"HTTP/1.1 200 OK\r\nETag: \"x\"\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nContent-Length: 3000\r\nX: 1\r\n\r\n"
    + b"k" * 3000,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n2\r\nab\r\n1f\r\n" + b"c" * 31
    + b"\r\n5;x=y\r\nabcde\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + b"m" * 90_000]
JUNK = [
    b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b"\0", b"\xff", b"/", b"..", b"%2e", b"?", b"0", b"9", b"-", b",",
    b"Host: a\r\n", b"Content-Length: 5\r\n", b"Connection: close\r\n", b"Connection: keep-alive\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Waystation-Job: x\r\n", b"Te: x\r\n", b"X: \r\n", b"Y:z\r\n", b"Date: x\r\n",
    b"Link: x\r\n", b"If-None-Match: x\r\n", b"Cookie: x\r\n", b"X-Tenant: x\r\n", b"Idempotency-Key: x\r\n"]
FIELDS = [
    b"User-Agent: a", b"Accept: */*", b"Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    b"Cookie: a=b", b"X-Y: z", b"If-None-Match: \"x\""]
TARGETS = [b"/r/p/mutated", b"/r/q/mutated", b"/r/e/mutated", b"/r/t/mutated", b"/r/s/a/b.c/mutated?x=1"]


def mutate(random, data):
    data = bytearray(data)
    for _ in range(random.choice([0, 0, 1, 1, 2, 3])):
        index = random.randrange(len(data) or 1)
        match random.randrange(4):
            case 0:
                data[index:index] = random.choice(JUNK)
            case 1:
                data[index:index + 1] = bytes([random.randrange(256)])
            case 2:
                del data[index:index + random.randrange(1, 6)]
            case _:
                lines = bytes(data).split(b"\r\n")
                lines.insert(random.randrange(len(lines)), random.choice(lines))
                data = bytearray(b"\r\n".join(lines))
    return bytes(data)


class MutatingUpstream(Upstream):
    def __init__(self, tls=None):
        self.random, self.mutated = random.Random(7), 0
        super().__init__(tls)

    def answer(self, connection, word, head):
        if word != "mutated":
            return super().answer(connection, "ok", head)
        with self.lock:
            answer = mutate(self.random, self.random.choice(ANSWERS))
            self.mutated += 1
            pieces, stays = self.random.random() < 0.5, self.random.random() < 0.9
            cuts = [self.random.random() for _ in range(6)]
        while pieces and answer and cuts:
            size = 1 + int(cuts.pop() * len(answer))
            connection.sendall(answer[:size])
            answer = answer[size:]
            time.sleep(0.0003)
        connection.sendall(answer)
        return stays


@dataclasses.dataclass
class Said:
    requests: int
    answers: int
    code: int | None
    left: dict
    trouble: str

    @property
    def is_well(self):
        return not self.code and not self.left and not self.trouble and self.requests > 100

    def __str__(self):
        text = f"{self.requests} mutated requests, {self.answers} mutated answers, the daemon ended with {self.code}"
        return text + (f"; left behind: {self.left}" if self.left else "") + (f"\n{self.trouble}" if self.trouble else "")


def campaign(binary, mode, seconds, seed):
    daemon = Daemon(binary, mode, MutatingUpstream)
    try:
        end, counts = time.monotonic() + seconds, []
        threads = [threading.Thread(target=target, args=[daemon, random.Random(seed * 100 + index), end, counts])
                   for index, target in enumerate([call] * 6 + [call_streams] * 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left, trouble = {}, ""
        if daemon.process.poll() is None:
            left = held(daemon)
        code = daemon.stop()
        if code:
            trouble = daemon.said()[-3000:]
        if "canary-credential" in daemon.said():
            trouble += "\nthe daemon told its credential"
        return Said(sum(counts), daemon.upstream.mutated + daemon.sealed.mutated, code, left, trouble)
    finally:
        daemon.clean()


def held(daemon):
    """Permits that nobody gives back, a while after the last caller has gone."""
    end = time.monotonic() + 15
    while True:
        left = {name: value for name, value in daemon.figures().items()
                if name.startswith(("waystation_requests_in_flight", "waystation_requests_waiting")) and value != "0"}
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.1)


def call(daemon, chance, end, counts):
    count = 0
    while time.monotonic() < end and daemon.process.poll() is None:
        try:
            connection = daemon.connect()
            connection.settimeout(0.3)
            target = chance.choice(TARGETS)
            connection.sendall(request(b"GET", target.replace(b"mutated", b"ok")))
            _, buffer, is_over = read_answer(connection, b"")
            for _ in range(6):
                method = chance.choice([b"GET", b"POST", b"PUT", b"DELETE", b"PATCH"])
                body = b"" if method in (b"GET", b"DELETE") else b"y" * chance.choice([0, 1, 30, 2000, 20_000])
                data = request(method, target, chance.sample(FIELDS, 3), body)
                if chance.random() < 0.5:
                    data = mutate(chance, data)
                cut = chance.randrange(1, len(data)) if len(data) > 1 and chance.random() < 0.2 else len(data)
                connection.sendall(data[:cut])
                if cut < len(data):
                    time.sleep(0.0003)
                    connection.sendall(data[cut:])
                count += 1
                if chance.random() < 0.05:
                    break
                _, buffer, is_over = read_answer(connection, b"")
                if is_over:
                    break
            connection.close()
        except (OSError, ValueError):
            pass
    counts.append(count)


def call_streams(daemon, chance, end, counts):
    """Streams of which every second line is mutated, and one in five is left in its midst."""
    count = 0
    while time.monotonic() < end and daemon.process.poll() is None:
        try:
            stream = streams.Stream(daemon, f"max_in_flight={chance.choice([1, 4, 16])}&order="
                                    + chance.choice(["input", "completion"]))
            stream.connection.settimeout(0.5)
            stream.ask(streams.WARM % chance.choice([b"p", b"q", b"e", b"t"]))
            for _ in range(6):
                lines = [streams.mutation_base(chance, ["mutated", "/a/mutated?x=y", "ok"]) for _ in range(8)]
                lines = [streams.mutate(chance, line) if chance.random() < 0.5 else line for line in lines]
                lines = [line for line in lines if line.strip(b" \t\r")]
                stream.send(*lines)
                count += len(lines)
                if chance.random() < 0.05:
                    break
                for _ in lines:
                    stream.read()
            stream.close()
        except (OSError, ValueError):
            pass
    counts.append(count)
