"""Large bodies at the pace of a slow line, from many at once, beside another user's calls.

Only real sockets have bytes that come slowly: the simulation plays none of it.
"""

import asyncio
import os

from world.figures import Figure
from world.upstream import Upstream
from crowd import crowd, tally
from relay import Relay, route as plain_route

TITLE = "Uploads"
CONTROL = "with all of the time bounded, as timeouts.attempt used to"
GOOD, SLOW = 54004, 150_000
FIGURES = [
    Figure("uploads that succeeded in one attempt ÷ all", at_least=1, fails=0.1),
    Figure("attempts that the upstream saw ÷ uploads", at_most=1),
    Figure("p99 of another user's calls ÷ the greater of 20 ms and twice its undisturbed twin's", at_most=1),
    Figure("its calls that were answered", at_least=1),
]


def cases(is_quick):
    """Only root can be several users."""
    return [{}] if os.getuid() == 0 else []


class Sink(asyncio.Protocol):
    """One connection of the relay, whose requests' bodies are counted and thrown away."""

    def __init__(self, upstream):
        self.upstream, self.held, self.left = upstream, b"", None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        while data or self.left == 0:
            if self.left is None:
                head, mark, data = (self.held + data).partition(b"\r\n\r\n")
                if not mark:
                    self.held = head
                    return
                self.held, fields = b"", head.lower().split(b"\r\n")
                self.left = next((int(line[15:]) for line in fields if line.startswith(b"content-length:")), 0)
                self.upstream.bodies += self.left > 0
            taken = min(self.left, len(data))
            data, self.left = data[taken:], self.left - taken
            if self.left:
                return
            self.left = None
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
            if not data:
                return


class Bodies(Upstream):
    bodies = 0

    async def open(self):
        server = await asyncio.get_running_loop().create_server(lambda: Sink(self), "127.0.0.1", 0, backlog=256)
        self.server, self.url = server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        return self


async def upload(path, size, fields):
    """(status, attempts) of one body that is sent at the pace of a slow line."""
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        lines = ["PUT /r/up/body HTTP/1.1", "Host: relay", f"Content-Length: {size}", *fields]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        began, sent = asyncio.get_running_loop().time(), 0
        while sent < size:
            piece = min(SLOW // 10, size - sent)
            writer.write(b"x" * piece)
            sent += piece
            await writer.drain()
            await asyncio.sleep(began + sent / SLOW - asyncio.get_running_loop().time())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        return int(head.split(" ")[1]), int(head.partition("waystation-attempts: ")[2].partition("\r\n")[0] or 0)
    except (OSError, EOFError):
        return None, 0
    finally:
        writer.close()


async def play(world):
    size, count = (3_000_000, 8) if world.is_quick else (12 << 20, 24)
    upstream = await Bodies(world.now).open()
    world.upstreams.append(upstream)
    twin = Relay({"up": plain_route(upstream.url)})
    await world.start({"up": world.route(upstream.url)}, limits={})
    try:
        await asyncio.to_thread(twin.start)
        seconds = size / SLOW
        fields = ["Waystation-Timeout: 10s"] if world.is_control else []
        uploads = asyncio.gather(*(upload(world.relay.jobs, size, fields) for _ in range(count)))
        crowds = [await asyncio.to_thread(crowd, GOOD, path, 1, int(seconds) - 2, "paced")
                  for path in (world.relay.jobs, twin.jobs)]
        await asyncio.sleep(seconds - 2)
        good, calm = [await asyncio.to_thread(tally, one) for one in crowds]
        told = await uploads
    finally:
        await asyncio.to_thread(twin.clean)
    return {
        "uploads that succeeded in one attempt ÷ all": sum(one == (200, 1) for one in told) / count,
        "attempts that the upstream saw ÷ uploads": upstream.bodies / count,
        "p99 of another user's calls ÷ the greater of 20 ms and twice its undisturbed twin's":
            good["p99"] / max(20, 2 * calm["p99"]),
        "its calls that were answered": float(good["answered"] > 0 and good.get("refused", 0) == 0),
    }
