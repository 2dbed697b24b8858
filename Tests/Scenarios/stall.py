"""An upstream of 200 requests a second that stops for a while and then serves first what it has: a metastable trap."""

import asyncio

from world.figures import Figure, per_slice, since_when
from world.upstream import Queue
from world.world import patient, retry

TITLE = "Stall"
CONTROL = "without breaker, budget and window"
FIGURES = [
    Figure("seconds from the stall's end to 95 % goodput", at_most=30, fails=30),
    # At 85 % the upstream has 30 requests a second to spare: who takes some of the machine takes much of the drain.
    Figure("time to drain the backlog ÷ ideal", at_most=patient(1.25, 0.5), fails=2),
    Figure("attempts per success since the stall's end", at_most=1.1, fails=1.3),
    Figure("explain tells why", at_least=1),
]
OFF = ("circuit_breaker", "retry_budget", "adaptive_concurrency")
RATE, SLICE = 200, 2
# A request gives up after a second, and so does an attempt at a kept job.
TIMEOUTS = {"attempt": "1s", "total": "10s"}


def cases(is_quick):
    if is_quick:
        return [{"seconds": 10, "load": 50, "kind": "synchronous"}, {"seconds": 10, "load": 50, "kind": "kept"}]
    return [{"seconds": seconds, "load": load, "kind": kind}
            for kind in ("synchronous", "kept") for seconds in (10, 60) for load in (50, 70, 85)]


def words(seconds, load, kind):
    return f" of {seconds} s at {load} % of what the upstream can, {kind}"


async def play(world, seconds, load, kind):
    rate, calm = RATE * load / 100, 3 if world.is_quick else 15
    end = calm + seconds
    upstream = await world.upstream()
    upstream.model = Queue(world.now, RATE, [(calm, end)])
    await world.start({"up": world.route(
        upstream.url, off=OFF, timeouts=TIMEOUTS, recovery=[retry(4 if kind == "synchronous" else 100)],
        max_attempts=100)})
    if kind == "synchronous":
        return await synchronous(world, upstream, rate, calm, end, load)
    return await kept(world, upstream, rate, calm, end, seconds)


async def synchronous(world, upstream, rate, calm, end, load):
    # Without retries it takes 9, 21 and 53 s: what waits at the upstream has to be served first.
    last = end + (12 if world.is_quick else 30 if load == 50 else 60)
    task = asyncio.create_task(world.callers.requests("/r/up/x", rate, last))
    await world.until(end - 0.5)
    told = await world.explained_failure(calm, end)
    await task
    calls = [call for call in world.callers.calls if call.at < last]
    good = per_slice([call.at for call in calls if call.status == 200], SLICE, last)
    wanted = per_slice([call.at for call in calls], SLICE, last)
    return {
        "seconds from the stall's end to 95 % goodput": since_when(good, wanted, 0.95, end, SLICE),
        "attempts per success since the stall's end": per_success(upstream, end, world.now()),
        # A stall may be short enough for all to be answered in the end.
        **({} if told is None else {"explain tells why": told}),
    }


async def kept(world, upstream, rate, calm, end, seconds):
    ideal = seconds * rate / (RATE - rate)
    # The control shows within a minute that it does not come back.
    last = end + max(15, min(1.5 * ideal, 60 if world.is_control else 600))
    load = asyncio.create_task(world.callers.keeps("/r/up/x", rate, last))
    await world.until(end - 1)
    told = await world.explained("breaker_open", "concurrency", "throttled")
    await world.until(end)
    backlog = world.looks[-1]["unfinished"]
    ideal = backlog / (RATE - rate)
    is_drained = await world.wait_for(lambda look: look["unfinished"] <= rate / 5, last - end)
    drained = world.now()
    load.cancel()
    return {
        "time to drain the backlog ÷ ideal": (drained - end) / ideal if is_drained else None,
        "attempts per success since the stall's end": per_success(upstream, end, drained),
        "explain tells why": told,
    }


def per_success(upstream, begin, end):
    attempts = upstream.seen(begin, end - 1)
    good = sum(attempt.status == 200 for attempt in attempts)
    return len(attempts) / good if good else None
