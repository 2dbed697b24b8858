"""procrastinate_lives.py work AT_ONCE | submit COUNT BYTES AT_ONCE one|copy: jobs of procrastinate that do nothing.

`submit` prints the seconds until all were handed over, and until all were done.
"""

import asyncio
import os
import sys
import time

import procrastinate

app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=os.environ["DATABASE"], min_size=4, max_size=20))


@app.task(name="nothing", queue="lives")
async def nothing(body):
    pass


async def submit(count, body, at_once, manner):
    left = iter(range(count))

    async def one():
        for _ in left:
            await nothing.defer_async(body=body)

    begin = time.monotonic()
    if manner == "one":
        await asyncio.gather(*(one() for _ in range(min(at_once, 20))))
    else:
        for first in range(0, count, at_once):
            await nothing.batch_defer_async(*[{"body": body}] * min(at_once, count - first))
    handed_over = time.monotonic() - begin
    while any(queue["todo"] + queue["doing"] for queue in await app.job_manager.list_queues_async()):
        await asyncio.sleep(0.05)
    print(handed_over, time.monotonic() - begin)


async def main():
    async with app.open_async():
        if not await app.check_connection_async():
            await app.schema_manager.apply_schema_async()
        if sys.argv[1] == "work":
            print("ready", flush=True)
            # Done jobs are kept, as everywhere here.
            await app.run_worker_async(concurrency=int(sys.argv[2]), install_signal_handlers=False, fetch_job_polling_interval=0.1)
        else:
            await submit(int(sys.argv[2]), "x" * int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])


asyncio.run(main())
