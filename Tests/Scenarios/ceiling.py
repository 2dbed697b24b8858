"""An upstream that takes fifty requests at once and answers 503 to those above, and thousands of kept jobs."""

from world.figures import Figure, percentile
from world.upstream import Ceiling
from world.world import retry

TITLE = "A hard limit of fifty at once"
CONTROL = "a fixed width of 256"
MOST = 50
FIGURES = [
    Figure("the window's median, away from the limit in %", at_most=20),
    Figure("share refused", at_most=0.05, fails=0.1),
    Figure("share refused, once it has settled", at_most=0.05, fails=0.1),
    Figure("explain tells the window", at_least=1),
]


async def play(world):
    count, settled = (2_400, 6) if world.is_quick else (20_000, 10)
    upstream = await world.upstream(Ceiling(MOST, 0.25))
    await world.start({"up": world.route(
        upstream.url, off=("adaptive_concurrency",), recovery=[retry(100)], max_attempts=100)})
    await world.callers.keep_many("up", count)
    await world.until(settled)
    told = await world.explained("concurrency", "breaker_open")
    limit = 12 if world.is_control else count / MOST * 0.25 * 2 + 20
    await world.wait_for(lambda look: look["unfinished"] <= MOST, limit)
    last = world.now()

    def refused(begin):
        attempts = upstream.seen(begin)
        return sum(attempt.status == 503 for attempt in attempts) / len(attempts) if attempts else None

    windows = [look["window"] for look in world.looks if settled <= look["at"] < last and look["window"]]
    figures = {
        "the window's median, away from the limit in %":
            abs(percentile(windows, 0.5) - MOST) / MOST * 100 if windows else None,
        "share refused, once it has settled": refused(settled),
        "explain tells the window": told,
    }
    # The first seconds weigh little among twenty thousand jobs, and much among a few.
    return figures if world.is_quick else {**figures, "share refused": refused(0)}
