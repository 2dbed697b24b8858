"""An upstream that is there for a second (200 requests a second) and away for one, and a hundred kept jobs a second."""

from world.figures import Figure
from world.upstream import Queue
from world.world import patient, retry

TITLE = "Flapping"
CONTROL = "without breaker, budget and window"
FIGURES = [
    Figure("share of the arrivals that succeed in time", at_least=patient(0.6, -0.2)),
    Figure("attempts per arrival", at_most=patient(1.2, 0.15), fails=1.7),
    Figure("explain tells why", at_least=1),
]
OFF = ("circuit_breaker", "retry_budget", "adaptive_concurrency")


async def play(world):
    last = 20 if world.is_quick else 120
    upstream = await world.upstream()
    serve = Queue(world.now, 200)
    upstream.model = lambda attempt: serve(attempt) if attempt.at % 2 < 1 else attempt.answer(503)
    await world.start({"up": world.route(upstream.url, off=OFF, recovery=[retry(100)], max_attempts=100)})
    await world.callers.keeps("/r/up/x", 100, last)
    jobs = world.looks[-1]["jobs"]
    attempts = len(upstream.attempts)
    told = await world.explained("breaker_open", "backoff", "throttled", "concurrency")
    arrived = len(world.callers.jobs)
    return {
        "share of the arrivals that succeed in time": jobs["succeeded"] / arrived,
        "attempts per arrival": attempts / arrived,
        "explain tells why": told,
    }
