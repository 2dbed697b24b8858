"""A thousand kept jobs that are with the upstream together and fail at one instant."""

from world.figures import Figure, densest, percentile
from world.upstream import after
from world.world import patient, retry

TITLE = "A thousand failures at one instant"
CONTROL = "without jitter, breaker, budget and window"
FIGURES = [
    Figure("largest share of the retries in 100 ms", at_most=patient(0.05, 0.05)),
    # A busy machine sends few in 100 ms, and all of them within seconds where they are due at once.
    Figure("seconds in which nine of ten retries come", at_least=7.5, fails=6),
    Figure("jobs that did not succeed", at_most=0),
    Figure("explain tells why", at_least=1),
]
OFF = ("circuit_breaker", "retry_budget", "adaptive_concurrency")
COUNT = 1000


async def play(world):
    first = []

    def serve(attempt):
        # All of the first answers are given when the last of them is there to be given.
        if len(upstream.attempts) > COUNT:
            return after(0.02, attempt, 200)
        first.append(attempt)
        if len(first) == COUNT:
            for waiting in first:
                waiting.answer(500)

    upstream = await world.upstream(serve)
    jitter = {"jitter": "none"} if world.is_control else {}
    await world.start({"up": world.route(
        upstream.url, off=OFF, recovery=[retry(100, base_interval="10s", **jitter)], max_attempts=100,
        concurrency={"max_requests": COUNT}, timeouts={"attempt": "60s", "idle": "60s", "total": "60s"})})
    await world.callers.keep_many("up", COUNT)
    await world.wait_for(lambda look: len(first) == COUNT, 60)
    told = await world.explained("breaker_open", "backoff", "throttled", "concurrency")
    await world.wait_for(lambda look: look["unfinished"] == 0, 60)
    retries = [attempt.at for attempt in upstream.attempts[COUNT:]]
    return {
        "largest share of the retries in 100 ms": densest(retries, 0.1) / len(retries),
        "seconds in which nine of ten retries come": percentile(retries, 0.95) - percentile(retries, 0.05),
        "jobs that did not succeed": COUNT - world.looks[-1]["jobs"]["succeeded"],
        "explain tells why": told,
    }
