"""One answer of many asks for twenty seconds of patience, while five hundred kept jobs of its kind wait; then two do."""

import asyncio

from world.figures import Figure
from world.upstream import after
from world.world import patient, retry

TITLE = "Retry-After"
CONTROL = "without throttling"
WIDTH, COUNT, OTHERS = 16, 500, 20
FIGURES = [
    Figure("attempts that were on their way when it was asked for", at_most=patient(WIDTH, 3 * WIDTH)),
    Figure("attempts of its kind begun in spite of it", at_most=0, fails=50),
    Figure("seconds to the first after it", at_most=patient(1, 4)),
    Figure("requests of its kind with less time told rate_limited at once", at_least=1, fails=0),
    Figure("requests of other kinds answered meanwhile ÷ sent", at_least=1),
    Figure("attempts begun in spite of what two kinds were told", at_most=0, fails=OTHERS),
    Figure("requests told rate_limited at once, of those that come then", at_least=1, fails=0),
    Figure("jobs that did not succeed", at_most=0),
    Figure("explain tells of it", at_least=1),
]


async def play(world):
    hold = 5 if world.is_quick else 20
    asked = []

    def serve(attempt):
        is_hundredth = attempt.path == "/asked" and not asked and sum(a.path == "/asked" for a in upstream.attempts) == 100
        if is_hundredth:
            asked.append(world.now())
        if is_hundredth or attempt.path in ("/first", "/second"):
            return attempt.answer(429, b"", ("Retry-After", str(hold)))
        after(0.1, attempt, 200)

    upstream = await world.upstream(serve)
    await world.start({"up": world.route(
        upstream.url, off=("throttling",), recovery=[retry(100)], max_attempts=100,
        concurrency={"max_requests": WIDTH}, timeouts={"attempt": "2s", "total": "2s"})})
    await world.callers.keep_many("up", COUNT, "/asked")
    await world.wait_for(lambda look: asked, 30)
    begin = asked[0]
    await world.until(begin + hold / 3)
    same = await world.callers.request("/r/up/asked", "POST")
    neighbours = await others(world, "neighbour")
    told = await world.explained("throttled")
    await world.wait_for(lambda look: look["unfinished"] == 0, 60)
    # Those that the upstream saw a moment later had been sent before its answer was read.
    moment = patient(0.5, 1)
    seen = [attempt.at - begin for attempt in upstream.attempts if attempt.path == "/asked"]
    later = [at for at in seen if at >= hold]

    # An answer to one kind says nothing of the next; one that two kinds get is for all.
    for path in "first", "second":
        await world.callers.request(f"/r/up/{path}")
    before = len(upstream.attempts)
    late = await others(world, "late")
    return {
        "attempts that were on their way when it was asked for": sum(0 < at <= moment for at in seen),
        "attempts of its kind begun in spite of it": sum(moment < at < hold - 0.01 for at in seen),
        "seconds to the first after it": min(later) - hold if later else None,
        "requests of its kind with less time told rate_limited at once": float(is_held(same)),
        "requests of other kinds answered meanwhile ÷ sent": sum(call.status == 200 for call in neighbours) / OTHERS,
        "attempts begun in spite of what two kinds were told": len(upstream.attempts) - before,
        "requests told rate_limited at once, of those that come then": sum(map(is_held, late)) / OTHERS,
        "jobs that did not succeed": COUNT - world.looks[-1]["jobs"]["succeeded"],
        "explain tells of it": told,
    }


async def others(world, name):
    """Requests of a kind each."""
    return await asyncio.gather(*(world.callers.request(f"/r/up/{name}{number}") for number in range(OTHERS)))


def is_held(call):
    return call.code == "rate_limited" and call.seconds < 1.5
