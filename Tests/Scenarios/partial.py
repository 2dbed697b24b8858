"""A share of a route's requests that fails or hangs, told from the others by path, method, size or nothing at all."""

import asyncio

from world.callers import steadily
from world.figures import P99, Figure, beside_twin
from world.upstream import after
from world.world import patient

TITLE = "A part that fails"
CONTROL = "a breaker that opens at four of ten, and nothing but the query to tell the requests apart by"
GOOD = "good calls answered ÷ sent"
FIGURES = [
    Figure(GOOD, at_least=0.99, fails=0.9),
    Figure(GOOD + ", hanging", at_least=0.95, fails=0.9),
    Figure("attempts ÷ arrivals", at_most=1.1),
    Figure(P99, at_most=patient(1, 4)),
]
OLD = {"failure_ratio": 0.4, "sampling_duration": "30s", "on": ["5xx"]}
# As (good request, failing request, what becomes of it).
KINDS = {
    "path": (("/good", "GET"), ("/bad", "GET"), 503),
    "method": (("/thing", "GET"), ("/thing", "POST", (), b"x"), 500),
    "unknown": (("/thing", "GET"), ("/thing", "PATCH", (), b"x"), 501),
    # A fault of SOAP, which looks like any other request.
    "fault": (("/service", "POST", (), b"good"), ("/service", "POST", (), b"no such customer"), 500),
    "size": (("/file", "POST", (), b"x"), ("/file", "POST", (), b"x" * 100_000), "cut"),
    # Answers that take a while need more than a few under way.
    "slow": (("/api/v1/good", "POST", (), b"x"), ("/api/v1/bad", "POST", (), b"x"), 503),
    "hanging": (("/good", "GET"), ("/hang", "GET"), "hangs"),
}
# The requests of the control.
HIDDEN = ("/same?good", "POST", (), b"good"), ("/same?bad", "POST", (), b"bad")
USERS = 54100


def cases(is_quick):
    if is_quick:
        return [{"kind": kind, "share": 60 if kind == "path" else 80, "users": 1}
                for kind in ("path", "fault", "size", "slow", "hanging")]
    return [{"kind": kind, "share": share, "users": users}
            for kind in KINDS for share in (45, 60, 80) for users in ((1, 20) if share == 60 else (1,))]


def words(kind, share, users):
    return f": {share} % by {kind}, of {users} user{'s' if users > 1 else ''}"


async def play(world, kind, share, users):
    # Requests that hang take a while to fill all that they can.
    settled, seconds = 4 if world.is_quick else 15, 4 if world.is_quick else 20
    if kind == "hanging":
        seconds = 8 if world.is_quick else 60
    rate = 100 if kind == "hanging" or not world.is_quick else 50
    good, bad, what = KINDS[kind]
    if world.is_control:
        good, bad = HIDDEN

    def serve(attempt):
        if (attempt.path, attempt.method, attempt.body) != (bad[0], bad[1], bad[3] if len(bad) > 3 else b""):
            return after(0.4 if kind == "slow" else 0.01, attempt, 200)
        if what == "cut":
            attempt.refuse()
        elif what != "hangs":
            after(0.01, attempt, what)

    upstream = await world.upstream(serve)
    await world.start(
        {"up": world.route(upstream.url, **({"circuit_breaker": OLD} if world.is_control else {}))}, limits={})
    await world.start_twin(upstream.url)
    calm = world.callers_of(world.twin)
    crowd = [world.callers] if users == 1 else [
        world.callers_of(world.relay, USERS + number) for number in range(users)]
    goods, bads = [], []

    async def ask(number):
        is_bad = (number + 1) * share // 100 > number * share // 100
        path, *members = bad if is_bad else good
        call = await crowd[number % users].request("/r/up" + path, *members)
        (bads if is_bad else goods).append(call)

    begin = world.now()
    await asyncio.gather(
        steadily(world.now, rate, seconds, ask), calm.requests("/r/up/calm", rate * (100 - share) / 100, seconds))
    late = [call for call in goods if kind != "hanging" or call.at >= begin + settled]
    served = [call for call in late if call.status == 200]
    return {
        GOOD + (", hanging" if kind == "hanging" else ""): len(served) / len(late),
        "attempts ÷ arrivals": (len(upstream.attempts) - len(calm.calls)) / (len(goods) + len(bads)),
        P99: beside_twin([call.seconds for call in served], [call.seconds for call in calm.calls]),
    }
