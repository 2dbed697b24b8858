"""The awa side of a full life: a task that posts its body to the upstream over a kept connection."""

import asyncio
import os
from dataclasses import dataclass

import awa

QUEUE = "bench"


@dataclass
class Deliver:
    body: str


async def main():
    client = awa.AsyncClient(os.environ["BROKER"], max_connections=20)
    await client.migrate()
    idle = []

    @client.task(Deliver, queue=QUEUE)
    async def deliver(job):
        reader, writer = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", int(os.environ["UPSTREAM"]))
        body = job.args.body.encode()
        writer.write(
            b"POST /x HTTP/1.1\r\nHost: u\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            + body)
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:] if line)
        await reader.readexactly(int(fields[b"content-length"]))
        if head.split(b" ", 2)[1] != b"200":
            raise RuntimeError(head)
        idle.append((reader, writer))

    await client.start([(QUEUE, 32)], poll_interval_ms=20)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
