"""Thousands of kept jobs for an upstream that takes every connection and answers none, beside a route that is well."""

import asyncio

from world.figures import Figure, percentile
from world.upstream import after
from world.world import patient, retry

TITLE = "A black hole beside a route that is well"
CONTROL = "one shared queue of a fixed width"
OFF = ("circuit_breaker", "adaptive_concurrency")
FIGURES = [
    Figure("throughput of the other route ÷ before", at_least=patient(0.95, -0.1), fails=0.75),
    Figure("its p99 ÷ before", at_most=patient(2, 30)),
    Figure("explain tells why", at_least=1),
]
RATE = 100


async def play(world):
    count, calm, trouble = (2_000, 5, 10) if world.is_quick else (10_000, 20, 60)
    hole = await world.upstream(lambda attempt: None if attempt.path == "/hole" else after(0.005, attempt, 200))
    well = hole if world.is_control else await world.upstream(lambda attempt: after(0.005, attempt, 200))
    timeouts = {"attempt": "5s", "total": "5s"}
    await world.start({
        "up": world.route(hole.url, off=OFF, recovery=[retry(100)], max_attempts=100, timeouts=timeouts),
        "well": world.route(well.url, timeouts=timeouts)})
    # The control sends both through one route, which is one queue.
    target = "/r/up/well" if world.is_control else "/r/well/well"
    load = asyncio.create_task(both(world, target, 10 * trouble))
    await world.until(calm)
    before = world.now()
    await world.callers.keep_many("up", count, "/hole")
    began = world.now()
    await world.until(began + trouble / 2)
    told = await world.explained("breaker_open", "concurrency", "backoff", "throttled")
    await world.until(began + trouble)
    ended = world.now()
    load.cancel()
    good = [call for call in world.callers.calls if call.status == 200]
    calmly = [call.seconds for call in good if call.ended < before]
    beside = [call.seconds for call in good if call.at >= began]
    throughput = [served(well, 0, before) / before, served(well, began, ended) / (ended - began)]
    return {
        "throughput of the other route ÷ before": throughput[1] / throughput[0],
        # On a machine that does other things a tail says as much of them.
        "its p99 ÷ before": percentile(beside, 0.99) / percentile(calmly, 0.99) if beside else None,
        "explain tells why": told,
    }


async def both(world, target, seconds):
    """Half of them wait for their answers, half are kept."""
    await asyncio.gather(
        world.callers.requests(target, RATE / 2, seconds), world.callers.keeps(target, RATE / 2, seconds))


def served(upstream, begin, end):
    return sum(attempt.status == 200 for attempt in upstream.seen(begin, end))


def record(world):
    well = world.upstreams[-1]
    return world.record(good=[attempt.ended for attempt in well.attempts if attempt.status == 200])
