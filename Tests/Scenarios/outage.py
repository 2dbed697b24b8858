"""A hundred requests a second, three retries in the rules, and an upstream that answers nothing but 503."""

import asyncio

from world.figures import Figure, per_slice, since_when
from world.upstream import after
from world.world import retry

TITLE = "Full outage"
CONTROL = "without breaker, budget and window"
FIGURES = [
    Figure("attempts per arrival", at_most=1.1, fails=3),
    Figure("most attempts at once while the breaker is open", at_most=1),
    Figure("seconds from the outage's end to 95 % answered", at_most=20),
    # An outage is known as one; whoever waits for an answer is told at once, and not at the end of its time.
    Figure("share of the arrivals told breaker_open", at_least=0.5),
    Figure("explain tells why", at_least=1),
]
OFF = ("circuit_breaker", "retry_budget", "adaptive_concurrency")


async def play(world):
    calm, outage = (3, 8) if world.is_quick else (15, 60)
    end = calm + outage
    last = end + (6 if world.is_control else 10 if world.is_quick else 25)
    upstream = await world.upstream(
        lambda attempt: after(0.01, attempt, 503 if calm <= attempt.at < end else 200))
    await world.start({"up": world.route(upstream.url, off=OFF, recovery=[retry(4)])})
    load = asyncio.create_task(world.callers.requests("/r/up/x", 100, last))
    await world.until(calm + 0.8 * outage)
    told = await world.explained_failure(calm + 0.4 * outage, world.now())
    await load
    calls = world.callers.calls
    met = [call for call in calls if calm <= call.at < end]
    opened = [look["at"] for look in world.looks if look["breaker"] == "open"]
    good = per_slice([call.at for call in calls if call.status == 200], 2, last)
    wanted = per_slice([call.at for call in calls], 2, last)
    return {
        "attempts per arrival": len(upstream.seen(calm, end)) / len(met),
        "most attempts at once while the breaker is open":
            upstream.most_beside(opened[0] + 1, end) if opened else None,
        "seconds from the outage's end to 95 % answered": since_when(good, wanted, 0.95, end, 2),
        "share of the arrivals told breaker_open": sum(call.code == "breaker_open" for call in met) / len(met),
        "explain tells why": told,
    }
