"""Thousands of kept jobs to one path of a route that always fails, then a few of both kinds to one that does not."""

import asyncio

from world.figures import P99, Figure, beside_twin
from world.upstream import after
from world.world import patient

TITLE = "One bad path"
CONTROL = "a breaker that opens at half, and nothing before the third segment to tell the paths apart by"
FIGURES = [
    Figure("kept jobs to the good path sent within a second ÷ accepted", at_least=patient(0.99, -0.24), fails=0.65),
    Figure("requests to the good path answered 200 ÷ sent", at_least=1, fails=0.5),
    Figure(P99, at_most=patient(1, 4)),
    Figure("attempts on the bad path ÷ those that its rules ask for", at_most=1.1),
    Figure("explain tells why", at_least=1),
]
BAD = 2_500
SOON = patient(1, 2)


def cases(is_quick):
    answers = [{"status": status} for status in ((500, 503) if is_quick else (500, 404, 503))]
    # Without requests nothing is known to be answered until a kept job is.
    return [*answers, {"status": 503, "alone": "kept"}]


def words(status, alone=None):
    return f", which answers {status}{', and kept jobs alone' if alone else ''}"


async def play(world, status, alone=None):
    seconds = 5 if world.is_quick else 60
    base = "same/kind/" if world.is_control else "api/v1/"
    bad, good = f"/{base}bad", f"/{base}good"
    upstream = await world.upstream(lambda attempt: after(0.01, attempt, status if attempt.path == bad else 200))
    old = {"consecutive_failures": 10, "failure_ratio": 0.5, "sampling_duration": "30s", "on": [str(status)]}
    await world.start(
        {"up": world.route(upstream.url, **({"circuit_breaker": old} if world.is_control else {}))}, limits={})
    await world.start_twin(upstream.url)
    calm = world.callers_of(world.twin)
    await world.callers.keep_many("up", BAD, bad)
    # They begin when they have had their first turns.
    await asyncio.sleep(1)
    load = [world.callers.keeps(f"/r/up{good}", 2, seconds)]
    if alone:
        # The first of them is looked for among all of the others.
        await world.callers.keep_many("up", 1, good)
        await asyncio.sleep(patient(10, 5))
    else:
        load += [world.callers.requests(f"/r/up{good}", 50, seconds, "POST"), calm.requests("/r/up/calm", 50, seconds)]
    running = asyncio.gather(*load)
    await asyncio.sleep(seconds / 2)
    # A job that an answer of 404 ends for good waits for nothing.
    told = await world.explained("backoff", "throttled", "breaker_open", "concurrency") if status != 404 else None
    await running
    end = world.now()
    await asyncio.sleep(SOON)
    kept = [call for call in world.callers.jobs if call.status == 202]
    sent = {attempt.fields.get("idempotency-key"): attempt.at for attempt in reversed(upstream.attempts)
            if attempt.path == good and "idempotency-key" in attempt.fields}
    soon = sum(sent.get(f'"{number}"', end + 9) - call.ended <= SOON for number, call in enumerate(world.callers.jobs)
               if call.status == 202)
    calls = [call for call in world.callers.calls]
    # The first retry is due five seconds, or four to six, after the first attempt, the second after five minutes.
    due = BAD * (2 if status != 404 and end > 4 else 1)
    figures = {
        "attempts on the bad path ÷ those that its rules ask for":
            sum(attempt.path == bad for attempt in upstream.attempts) / due,
        "kept jobs to the good path sent within a second ÷ accepted": soon / len(kept) if kept else None,
    }
    if not alone:
        figures |= {
            "requests to the good path answered 200 ÷ sent": sum(call.status == 200 for call in calls) / len(calls),
            P99: beside_twin(
                [call.seconds for call in calls if call.status == 200], [call.seconds for call in calm.calls])}
    return figures if told is None else {**figures, "explain tells why": told}
