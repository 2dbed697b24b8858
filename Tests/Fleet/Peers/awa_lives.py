"""awa_lives.py work AT_ONCE | submit COUNT BYTES AT_ONCE one|copy: jobs of awa-pg that do nothing, on $DATABASE.

`submit` prints the seconds until all were handed over, and until all were done.
"""

import asyncio
import os
import sys
import time
from dataclasses import dataclass

import awa

QUEUE = "lives"


@dataclass
class Nothing:
    body: str


async def work(client, at_once):
    @client.task(Nothing, queue=QUEUE)
    async def nothing(job):
        pass

    # Loops that claim, as its documentation advises for a hot queue; without a deadline a claim is a receipt alone.
    await client.start(
        [{"name": QUEUE, "max_workers": at_once, "claimers": 4, "claim_batch_size": 512, "deadline_duration_ms": 0}],
        poll_interval_ms=20)
    print("ready", flush=True)
    await asyncio.Event().wait()


async def submit(client, count, job, at_once, manner):
    left = iter(range(count))

    async def one():
        for _ in left:
            await client.insert(job, queue=QUEUE)

    begin = time.monotonic()
    if manner == "one":
        await asyncio.gather(*(one() for _ in range(at_once)))
    else:
        for first in range(0, count, at_once):
            await client.enqueue_many_copy([job] * min(at_once, count - first), queue=QUEUE)
    handed_over = time.monotonic() - begin
    while any(stat.total_queued + stat.running for stat in await client.queue_stats()):
        await asyncio.sleep(0.5)
    print(handed_over, time.monotonic() - begin)


async def main():
    is_worker = sys.argv[1] == "work"
    # As many as its own benchmark gives it; too few leave its jobs waiting for one.
    connections = min(4 * int(sys.argv[2]) + 48, 400) if is_worker else 64
    client = awa.AsyncClient(os.environ["DATABASE"], max_connections=connections)
    await client.migrate()
    if is_worker:
        await work(client, int(sys.argv[2]))
    else:
        await submit(client, int(sys.argv[2]), Nothing("x" * int(sys.argv[3])), int(sys.argv[4]), sys.argv[5])
        await client.close()


asyncio.run(main())
