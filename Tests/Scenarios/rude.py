"""Callers in a hurry, callers that stall in their uploads and hang up, and heads that the upstream refuses by closing.

Only real sockets have callers that stall within a body, hang up, or are refused by closing: the simulation plays none
of it.
"""

import asyncio
import os

from world.figures import P99, Figure, beside_twin
from world.upstream import after
from world.world import patient

TITLE = "Rude callers"
CONTROL = "an upstream that hangs for them, a breaker that opens at three of ten, and all of one user"
RUDE, GOOD = 54001, 54004
KINDS = "hurried", "stalling", "refused"
FIGURES = [
    *(Figure(f"another user's calls answered ÷ sent, beside {kind} ones", at_least=1, fails=0.9) for kind in KINDS),
    Figure(P99, at_most=patient(1, 4)),
    # A head that is refused by closing is no answer: the breaker may open, and stops nobody else.
    Figure("breakers that opened for what callers did", at_most=0, fails=1),
]


def cases(is_quick):
    """Only root can be several users."""
    return [{}] if os.getuid() == 0 else []


async def play(world):
    def serve(attempt):
        if "x-large" in attempt.fields:
            return attempt.refuse()
        if "x-hang" not in attempt.fields:
            after(0.01, attempt, 200)

    upstream = await world.upstream(serve)
    old = {"circuit_breaker": {"failure_ratio": 0.3, "break_duration": "5s"}} if world.is_control else {}
    routes = {f"{kind}-{begin}": world.route(upstream.url, **old) for kind in KINDS for begin in ("cold", "warm")}
    await world.start(routes, limits={})
    await world.start_twin(upstream.url)
    good = {name: world.callers_of(world.relay, RUDE if world.is_control else GOOD) for name in routes}
    calm, opened = world.callers_of(world.twin), set()

    async def watch():
        while True:
            for name in routes:
                document = await world.control.document(f"/v1/routes/{name}")
                if document["upstreams"][0]["breaker"] != "closed":
                    opened.add(name)
            await asyncio.sleep(0.1)

    watching = asyncio.create_task(watch())
    for begin in "cold", "warm":
        names = [f"{kind}-{begin}" for kind in KINDS]
        if begin == "warm":
            await asyncio.gather(*(good[name].requests(f"/r/{name}/x", 50, 1) for name in names))
        seconds = 4 if world.is_control else 2 if world.is_quick else 15
        # Those that come first are theirs.
        rude = {name: asyncio.create_task(unleash(world, name)) for name in names}
        await asyncio.sleep(0.1)
        if world.is_control:
            # One good call among the refused ones would show that requests like it are answered.
            await rude[f"refused-{begin}"]
        await asyncio.gather(
            *(good[name].requests(f"/r/{name}/x", 20, seconds) for name in names),
            calm.requests("/r/up/x", 60, seconds))
        await asyncio.gather(*rude.values())
    watching.cancel()
    calls = {kind: good[f"{kind}-cold"].calls + good[f"{kind}-warm"].calls for kind in KINDS}
    served = [call.seconds for kind in KINDS for call in calls[kind] if call.status == 200]
    return {
        **{f"another user's calls answered ÷ sent, beside {kind} ones":
            sum(call.status == 200 for call in calls[kind]) / len(calls[kind]) for kind in KINDS},
        P99: beside_twin(served, [call.seconds for call in calm.calls]),
        "breakers that opened for what callers did": sum(not name.startswith("refused") for name in opened),
    }


async def unleash(world, name):
    """All of a kind at once; in the control they wait for an upstream that hangs, longer than it usually takes."""
    target = f"/r/{name}/x"
    if name.startswith("refused"):
        callers = world.callers_of(world.relay, RUDE)
        await asyncio.gather(*(callers.request(target, "GET", [("X-Large", "x" * 9000)]) for _ in range(30)))
    elif world.is_control or name.startswith("stalling"):
        await asyncio.gather(*(hang_up(world, target) for _ in range(60)))
    else:
        callers = world.callers_of(world.relay, RUDE)
        fields = [("Waystation-Attempt-Timeout", "1ms")]
        await asyncio.gather(*(callers.request(target, "GET", fields) for _ in range(40)))


async def hang_up(world, target):
    """Half of a body, a wait of a second or, in the full form, as long as anybody lets it, and the end."""
    socket = world.callers_of(world.relay, RUDE).socket
    _, writer = await socket.connect()
    head = f"GET {target} HTTP/1.1\r\nX-Hang: 1\r\n" if world.is_control else (
        f"PUT {target} HTTP/1.1\r\nContent-Length: 200000\r\n")
    writer.write(head.encode() + b"Host: relay\r\n\r\n" + (b"" if world.is_control else b"x" * 100_000))
    await asyncio.sleep(2.5 if world.is_control else 1 if world.is_quick else 12)
    writer.close()
