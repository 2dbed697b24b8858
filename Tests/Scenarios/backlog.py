"""Four thousand kept jobs of one user for an upstream that takes fifty at once, and then fifty jobs of another."""

import collections
import json
import os

from world.figures import Figure
from world.upstream import Ceiling
from world.world import patient

TITLE = "A backlog of another's"
CONTROL = "all jobs of one user, and nothing but the query to tell them apart by"
FLOOD, GOOD = 54001, 54002
MOST, SECONDS, FEW = 50, 0.25, 50
FIGURES = [
    # Half of what the upstream takes is theirs while they last.
    Figure("seconds until nine of ten of the other's are done ÷ what its half of the upstream takes", at_most=4, fails=8),
    Figure("seconds until the last of the backlog is done ÷ ideal", at_most=patient(1.5, 0.5)),
    # A 429 speaks of a rate, and this upstream has none: the pace that is learnt is below what it takes for a while.
    Figure("seconds until the last of the backlog is done ÷ ideal, by 429", at_most=patient(2.5, 1)),
    Figure("share refused twice and more, in %", at_most=1),
]


def cases(is_quick):
    """Only root can be several users."""
    return [{"status": status} for status in (429, 503)] if os.getuid() == 0 else []


def words(status):
    return f", refused with {status}"


async def keep(world, user, path, count):
    """Hands over so many at once."""
    socket = world.callers_of(world.relay, user).socket
    for first in range(0, count, 400):
        jobs = [{"route": "up", "mode": "async", "request": {
            "method": "PUT", "path": path, "headers": {"Idempotency-Key": f"{path}{number}"}}}
            for number in range(first, min(count, first + 400))]
        status, _, told = await socket.ask(
            "POST", "/v1/jobs", [("Content-Type", "application/json")], json.dumps(jobs).encode())
        assert status == 200 and json.loads(told)["refused"] == 0, told


async def play(world, status):
    count = 2_000 if world.is_quick else 4_000
    ceiling = Ceiling(MOST, SECONDS, status)
    upstream = await world.upstream(ceiling)
    # The limit of the upstream is not known: the window finds it.
    await world.start({"up": world.route(upstream.url)}, limits={})
    begin = world.now()
    await keep(world, FLOOD, "/backlog", count)
    await world.until(begin + (6 if world.is_quick else 8))
    came = world.now()
    few_path = "/backlog?few" if world.is_control else "/few"
    await keep(world, FLOOD if world.is_control else GOOD, few_path, FEW)

    def done(path):
        return [attempt.ended for attempt in upstream.attempts if attempt.path == path and attempt.status == 200]

    ideal = count / MOST * SECONDS
    await world.wait_for(lambda look: look["at"] > came + 1 and look["unfinished"] == 0, 2 * ideal + 20)
    few, most = sorted(done(few_path))[:int(0.9 * FEW)], sorted(done("/backlog"))
    return {
        "seconds until nine of ten of the other's are done ÷ what its half of the upstream takes":
            (few[-1] - came) / (2 * FEW / MOST * SECONDS) if len(few) == int(0.9 * FEW) else None,
        "seconds until the last of the backlog is done ÷ ideal" + (", by 429" if status == 429 else ""):
            (most[-1] - begin) / ideal if len(most) == count else None,
        "share refused twice and more, in %": refused_twice(upstream) / count * 100,
    }


def refused_twice(upstream):
    """Jobs with two refusals or more."""
    refusals = collections.Counter(
        attempt.fields.get("idempotency-key") for attempt in upstream.attempts if attempt.status in (429, 503))
    return sum(times > 1 for times in refusals.values())
