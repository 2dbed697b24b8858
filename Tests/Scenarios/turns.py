"""Kept jobs, streams and idle connections of users who take all they can, beside another who wants a little.

The simulation plays the kept jobs; streams and idle connections are the server's, and are here alone.
"""

import asyncio
import json
import os
import time

from world.figures import Figure, percentile
from world.upstream import after
from caller import request
from test_access import hold_as
from users import caller_as

TITLE = "Turns"
CONTROL = "all jobs of one user and one urgency, and users not told apart"
FLOOD, IDLE, GOOD = 54001, 54002, 54003
RATE = 40
FIGURES = [
    Figure("seconds until another user's kept job is sent", at_most=1, fails=5),
    Figure("seconds until a less urgent one of the same user is", at_most=30),
    Figure("p99 in ms beside 8 endless streams of one user", at_most=50, fails=500),
    Figure("p99 in ms beside 600 idle connections each of two users", at_most=50, fails=500),
    Figure("streams that ended for it", at_most=0),
]


def cases(is_quick):
    """Only root can be several users."""
    return [{}] if os.getuid() == 0 else []


def endless(attempt):
    """Events without an end."""
    attempt.connection.transport.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ndata:\n\r\n")


def ask_as(user, path, method, target, fields=(), body=None, patience=5):
    """The answer; None where there is none in time."""
    caller = caller_as(user, path, patience)
    try:
        caller.send(request(method, target, fields, body))
        return caller.answer(method)
    except Exception:
        return None
    finally:
        caller.close()


def p99(path, target, count=200):
    """In milliseconds, of a user's requests one after the other; None where one is not served."""
    times = []
    for _ in range(count):
        began = time.monotonic()
        got = ask_as(GOOD, path, "GET", target)
        if got is None or got.status != 200:
            return None
        times.append((time.monotonic() - began) * 1000)
    return percentile(times, 0.99)


async def play(world):
    sent = {}

    def serve(attempt):
        if attempt.path == "/events":
            return endless(attempt)
        sent.setdefault(attempt.path, world.now())
        after(0.002, attempt, 200)

    upstream = await world.upstream(serve)
    await world.start({
        "kept": world.route(upstream.url, delivery={"mode": "durable"}, rate_limit={"max_requests": RATE, "per": "1s"}),
        "streams": world.route(upstream.url, concurrency={"max_requests": 8}),
        "plain": world.route(upstream.url)},
        limits={"per_user": {"enabled": False}} if world.is_control else {})
    jobs, figures = world.relay.jobs, {}

    async def asked(*members, **more):
        return await asyncio.to_thread(ask_as, *members, **more)

    # Kept jobs: a flood that takes a while, and one of each behind it.
    count = 400 if world.is_quick else 1600
    flood = [{"route": "kept", "mode": "async", "request": {"method": "PUT", "path": "flood"}, "options": {"priority": 0}}]
    for _ in range(0, count, 400):
        got = await asked(FLOOD, jobs, "POST", "/v1/jobs", [("Content-Type", "application/json")],
                          json.dumps(flood * 400).encode(), patience=30)
        assert got.status == 200 and got.json()["refused"] == 0, got
    begun = {}
    for path, user, urgency in ("other", GOOD, 3), ("own", FLOOD, 3):
        if world.is_control:
            user, urgency = FLOOD, 0
        begun[path] = world.now()
        got = await asked(user, jobs, "PUT", f"/r/kept/{path}", [("Prefer", "respond-async"), ("Priority", f"u={urgency}")], b"b")
        assert got.status == 202, got
    await world.wait_for(lambda look: "/other" in sent and "/own" in sent, count / RATE + 5)
    figures["seconds until another user's kept job is sent"] = sent["/other"] - begun["other"] if "/other" in sent else None
    figures["seconds until a less urgent one of the same user is"] = sent["/own"] - begun["own"] if "/own" in sent else None

    # The time that the machine itself takes, before and after anything disturbs it.
    alone = [await asyncio.to_thread(p99, jobs, "/r/plain/x")]
    streams = []
    for _ in range(8):
        stream = caller_as(FLOOD, jobs, 1)
        stream.send(request("GET", "/r/streams/events", [("Accept", "text/event-stream")]))
        streams.append(stream)
        await asyncio.sleep(0.05)
    beside_streams = await asyncio.to_thread(p99, jobs, "/r/streams/x")
    ended = 0
    for stream in streams:
        stream.socket.setblocking(False)
        try:
            while stream.socket.recv(65536):
                pass
            ended += 1
        except BlockingIOError:
            pass
        stream.close()
    figures["streams that ended for it"] = ended

    holders = [hold_as(user, jobs, 600) for user in (FLOOD, IDLE)]
    try:
        for holder in holders:
            assert await asyncio.to_thread(holder.stdout.readline) == "connected\n"
        beside_idle = await asyncio.to_thread(p99, jobs, "/r/plain/x")
    finally:
        for holder in holders:
            holder.kill()
            holder.communicate()
    await world.wait_for(lambda look: True, 1)
    alone.append(await asyncio.to_thread(p99, jobs, "/r/plain/x"))

    def judged(value):
        """As it is, but what is no more than twice as much as alone counts as no more than what is promised."""
        return value if value is None or value > 2 * max(each or 0 for each in alone) else min(value, 50.0)

    figures["p99 in ms beside 8 endless streams of one user"] = judged(beside_streams)
    figures["p99 in ms beside 600 idle connections each of two users"] = judged(beside_idle)
    return figures
