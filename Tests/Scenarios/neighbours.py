"""Callers that flood, drip and hog a route, beside one that sends a request now and then.

The simulation plays the callers of a full route; connections and bytes that drip are here alone.
"""

import asyncio
import os

from world.figures import Figure
from world.upstream import after
from world.world import patient
from crowd import crowd, tally

TITLE = "Neighbours"
CONTROL = "without shares for users"
FLOOD, DRIP, HOG, GOOD = 54001, 54002, 54003, 54004
FIGURES = [
    Figure("p99 of the good caller in ms", at_most=patient(50, 400), fails=500),
    Figure("its answers ÷ those that it might have", at_least=patient(0.5, -0.4)),
    Figure("furthest from an equal share in %", at_most=patient(10, 5), fails=30),
]


def cases(is_quick):
    """Only root can be several users."""
    return [{}] if os.getuid() == 0 else []


async def play(world):
    seconds = 5 if world.is_quick else 20
    # Eight at once for 20 ms each: less than the others would like to have.
    upstream = await world.upstream(lambda attempt: after(0.02, attempt, 200))
    width = {"max_requests": 8, "max_pending_requests": 4096}
    await world.start(
        {"up": world.route(upstream.url, concurrency=width, timeouts={"attempt": "30s", "total": "60s"})},
        limits={"max_connections": 4096, "per_user": {"max_connections": 1024, "enabled": not world.is_control}})
    figures = {}

    async def beside(*others):
        """The reports of these crowds at the end; each crowd is (user, connections, seconds, mode)."""
        crowds = [await asyncio.to_thread(crowd, user, world.relay.jobs, count, last, mode)
                  for user, count, last, mode in others]
        return [await asyncio.to_thread(tally, one) for one in crowds]

    # The good one begins last and ends first.
    *_, good = await beside(
        (FLOOD, 500, seconds + 4, "flood"), (DRIP, 1000, seconds + 3, "drip"), (HOG, 100, seconds + 2, "flood"),
        (GOOD, 1, seconds, "paced"))
    figures["p99 of the good caller in ms"] = good["p99"]
    # One at a time, each of 20 ms and a pause of 10.
    figures["its answers ÷ those that it might have"] = good["answered"] / (seconds / 0.03)
    shares = [said["answered"] for said in await beside(
        (FLOOD, 100, seconds, "flood"), (HOG, 30, seconds, "flood"), (GOOD, 12, seconds, "flood"))]
    equal = sum(shares) / len(shares)
    figures["furthest from an equal share in %"] = max(abs(share - equal) for share in shares) / equal * 100
    return figures
