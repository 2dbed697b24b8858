"""One answer of many asks for twenty seconds of patience, while five hundred kept jobs wait."""

from world.figures import Figure
from world.upstream import after
from world.world import patient, retry

TITLE = "Retry-After"
CONTROL = "without throttling"
WIDTH, COUNT = 16, 500
FIGURES = [
    Figure("attempts that were on their way when it was asked for", at_most=patient(WIDTH, 3 * WIDTH)),
    Figure("attempts begun in spite of it", at_most=0, fails=50),
    Figure("seconds to the first after it", at_most=patient(1, 4)),
    Figure("requests with less time told rate_limited at once", at_least=1),
    Figure("jobs that did not succeed", at_most=0),
    Figure("explain tells of it", at_least=1),
]


async def play(world):
    hold = 5 if world.is_quick else 20
    asked = []

    def serve(attempt):
        if len(upstream.attempts) != 100:
            return after(0.1, attempt, 200)
        attempt.answer(429, b"", ("Retry-After", str(hold)))
        asked.append(world.now())

    upstream = await world.upstream(serve)
    await world.start({"up": world.route(
        upstream.url, off=("throttling",), recovery=[retry(100)], max_attempts=100,
        concurrency={"max_requests": WIDTH}, timeouts={"attempt": "2s", "total": "2s"})})
    await world.callers.keep_many("up", COUNT)
    await world.wait_for(lambda look: asked, 30)
    begin = asked[0]
    await world.until(begin + hold / 3)
    call = await world.callers.request("/r/up/x")
    told = await world.explained("throttled")
    await world.wait_for(lambda look: look["unfinished"] == 0, 60)
    # Those that the upstream saw a moment later had been sent before its answer was read.
    moment = patient(0.5, 1)
    seen = [attempt.at - begin for attempt in upstream.attempts]
    later = [at for at in seen if at >= hold]
    return {
        "attempts that were on their way when it was asked for": sum(0 < at <= moment for at in seen),
        "attempts begun in spite of it": sum(moment < at < hold - 0.01 for at in seen),
        "seconds to the first after it": min(later) - hold if later else None,
        "requests with less time told rate_limited at once": float(call.code == "rate_limited" and call.seconds < 1.5),
        "jobs that did not succeed": COUNT - world.looks[-1]["jobs"]["succeeded"],
        "explain tells of it": told,
    }
