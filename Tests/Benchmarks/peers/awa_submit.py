"""Hands COUNT jobs of BYTES to awa, each committed by itself, waits until all are done, prints the seconds of both."""

import asyncio
import os
import sys
import time

import awa
from awa_job import QUEUE, Deliver


async def main():
    count, job = int(sys.argv[1]), Deliver("x" * int(sys.argv[2]))
    client = awa.AsyncClient(os.environ["BROKER"], max_connections=20)
    # The worker does so, too; who is first matters to neither.
    await client.migrate()
    left = iter(range(count))

    async def submit():
        for _ in left:
            await client.insert(job, queue=QUEUE)

    begin = time.monotonic()
    await asyncio.gather(*(submit() for _ in range(20)))
    handed_over = time.monotonic() - begin
    while any(stat.total_queued + stat.running for stat in await client.queue_stats()):
        await asyncio.sleep(0.01)
    print(handed_over, time.monotonic() - begin)
    await client.close()


asyncio.run(main())
