"""An upstream that answers nothing but 429, or 503, or hangs, for twenty seconds, and is then well at once."""

import asyncio

from world.callers import steadily
from world.figures import Figure, per_slice, since_when
from world.upstream import after
from world.world import patient

TITLE = "Seconds of refusals"
CONTROL = "an upstream that asks for a minute, or a breaker that stays open for one"
FIGURES = [
    Figure("seconds from its end to 95 % of the arrivals answered", at_most=30, fails=30),
    # The wait of one kind of request is no reason to refuse another route's.
    Figure("requests to a route that is well told overloaded", at_most=patient(0, 3)),
    Figure("attempts ÷ arrivals", at_most=1.1),
]
SLICE = 1
# A short form looks on for as long as it takes: what was refused is sent faster by the second, what hangs ends in ten.
LATER = {"429": 18, "503": 5, "hanging": 12}


def cases(is_quick):
    return [{"with": what} for what in ("429", "503", "hanging")]


async def play(world, **case):
    what = case["with"]
    calm, trouble, later = (2, 5, LATER[what]) if world.is_quick else (5, 20, 40)
    end = calm + trouble
    last = end + (4 if world.is_control and world.is_quick else later)

    def serve(attempt):
        if not calm <= attempt.at < end or attempt.path == "/well":
            return after(0.01, attempt, 200)
        if what != "hanging":
            asks = [("Retry-After", "60")] if world.is_control and what == "429" else []
            after(0.01, attempt, int(what), b"", *asks)

    upstream, well = await world.upstream(serve), await world.upstream(lambda attempt: after(0.01, attempt, 200))
    slow = {"break_duration": "1m", "max_break_duration": "1m"}
    breaker = {"circuit_breaker": slow} if world.is_control else {}
    await world.start({"up": world.route(upstream.url, **breaker), "well": world.route(well.url)}, limits={})
    beside = world.callers_of(world.relay)

    async def ask(number):
        # Of two kinds, as requests are.
        await world.callers.request("/r/up/one" if number % 3 else "/r/up/two")

    await asyncio.gather(steadily(world.now, 100, last, ask), beside.requests("/r/well/x", 10, last))
    calls = world.callers.calls
    good = per_slice([call.at for call in calls if call.status == 200], SLICE, last)
    wanted = per_slice([call.at for call in calls], SLICE, last)
    return {
        "seconds from its end to 95 % of the arrivals answered": since_when(good, wanted, 0.95, end, SLICE),
        "requests to a route that is well told overloaded": sum(call.code == "overloaded" for call in beside.calls),
        "attempts ÷ arrivals": len(upstream.attempts) / len(calls),
    }
