"""Answers that ask for a year of patience, on one path, and with one named limit, while others of the route go on."""

import asyncio
import pathlib
import os

from world.figures import P99, Figure, beside_twin
from world.upstream import after
from world.world import patient
from relay import daemon

TITLE = "A year of patience"
CONTROL = "two paths and no limit's name, and no command"
FIGURES = [
    Figure("requests to other paths answered ÷ sent", at_least=1, fails=0.1),
    Figure(P99, at_most=patient(1, 4)),
    Figure("attempts on the paths that were told so", at_most=0),
    Figure("waystation limits names what waits", at_least=1),
    # The command itself is a process of its own.
    Figure("seconds from the command's end to an answer", at_most=patient(0.1, 0.4), fails=1),
]
YEAR = 31_536_000


async def play(world):
    seconds = 4 if world.is_quick else 20
    told = []

    def serve(attempt):
        if attempt.path in told:
            return after(0.01, attempt, 200)
        if attempt.path == "/once" or world.is_control and attempt.path == "/find":
            told.append(attempt.path)
            return after(0.01, attempt, 503, b"", ("Retry-After", str(YEAR)))
        if attempt.path == "/find":
            told.append(attempt.path)
            fields = ("Limit", "10"), ("Remaining", "0"), ("Reset", str(YEAR)), ("Resource", "search")
            return after(0.01, attempt, 200, b"", *((f"X-RateLimit-{name}", value) for name, value in fields))
        after(0.01, attempt, 200)

    upstream = await world.upstream(serve)
    await world.start({"up": world.route(upstream.url)}, limits={})
    await world.start_twin(upstream.url)
    calm, asked = world.callers_of(world.twin), world.callers_of(world.relay)
    for path in "once", "find":
        await asked.request(f"/r/up/{path}")
    before = len(upstream.attempts)
    await asyncio.gather(
        world.callers.requests("/r/up/other", 50, seconds), calm.requests("/r/up/calm", 50, seconds),
        asked.requests("/r/up/once", 5, seconds), asked.requests("/r/up/find", 5, seconds))
    shown = await limits(world)
    if not world.is_control:
        await limits(world, "--clear")
    began = world.now()
    answers = [await asked.request(f"/r/up/{path}") for path in ("once", "find")]
    is_answered = all(call.status == 200 for call in answers)
    calls = world.callers.calls
    served = [call.seconds for call in calls if call.status == 200]
    return {
        "requests to other paths answered ÷ sent": len(served) / len(calls),
        P99: beside_twin(served, [call.seconds for call in calm.calls]),
        "attempts on the paths that were told so":
            sum(attempt.path in ("/once", "/find") for attempt in upstream.attempts[before:]) - 2 * is_answered,
        "waystation limits names what waits": float("GET /once" in shown and "the limit search" in shown),
        "seconds from the command's end to an answer": world.now() - began if is_answered else None,
    }


async def limits(world, *words):
    process = await asyncio.create_subprocess_exec(
        pathlib.Path(daemon()).with_name("waystation"), "limits", "up", *words, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "WAYSTATION_CONTROL_SOCKET": world.relay.control})
    out, _ = await process.communicate()
    assert process.returncode == 0, out
    return out.decode()
