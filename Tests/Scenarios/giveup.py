"""An upstream that takes every connection and answers none, whose callers give up before the route does."""

from world.callers import steadily
from world.figures import Figure

TITLE = "A black hole whose callers give up"
CONTROL = "callers that give up within a second, of which the upstream is not to blame"
FIGURES = [
    Figure("attempts ÷ arrivals, once the first have given up", at_most=0.2, fails=0.7),
    Figure("explain tells why", at_least=1),
]
RATE = 20


def cases(is_quick):
    return [{"by": by} for by in ("limit", "hanging-up")]


def words(by):
    return ", by " + {"limit": "a limit of 5 s of their own", "hanging-up": "hanging up after 3 s"}[by]


async def play(world, by):
    upstream = await world.upstream(lambda attempt: None)
    await world.start({"up": world.route(upstream.url)}, limits={})
    patience = 0.8 if world.is_control else 5 if by == "limit" else 3
    fields = [("Waystation-Timeout", f"{int(patience * 1000)}ms")] if by == "limit" else []
    members = {} if by == "limit" else {"patience": patience}

    # A breaker needs some attempts that have ended.
    settled = patience + 2.5
    seconds = settled + (4 if world.is_quick else 30)
    await steadily(world.now, RATE, seconds, lambda _: world.callers.request("/r/up/", fields=fields, **members))
    arrivals = sum(call.at >= settled for call in world.callers.calls)
    attempts = sum(attempt.at >= settled for attempt in upstream.attempts)
    figures = {"attempts ÷ arrivals, once the first have given up": attempts / arrivals}
    told = await world.explained_failure(settled, seconds)
    return figures if told is None else {**figures, "explain tells why": told}
