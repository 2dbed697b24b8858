"""A daemon, its upstreams and its callers for the time of one scenario, and what was seen of them."""

import asyncio
import json
import os
import pathlib
import sys
import time

from world.callers import Callers, Socket
from world.figures import per_slice
from world.upstream import Upstream
from relay import Relay, daemon, route as plain_route

# Seconds between two looks at the route, and width of the slices in which arrivals and attempts are counted.
LOOK, SLICE = 0.2, 0.5
# Waits are longer on a machine that does other things; where it is quiet (Tests/run nightly) they are as promised.
IS_TIMED = "RELAY_TESTS_TIMED" in os.environ
# Callers that wait for an outage to end are many connections of one user.
LIMITS = {"max_connections": 16_384, "per_user": {"max_connections": 16_384}}


def patient(bound, slack):
    """A bound as it is on a quiet machine, and how much further it is where others take their turns as well."""
    return bound if IS_TIMED else bound + slack


def retry(attempts, **backoff):
    """A rule that sends again whatever is wrong with the upstream."""
    return {"name": "again", "on": ["5xx", "connection", "timeout", "429"], "retry": {
        "max_attempts": attempts, "backoff": backoff}}


class World:
    """`is_control` switches off what a scenario names; a scenario that is `quick` takes a part of its time."""

    def __init__(self, is_control=False, is_quick=False):
        self.is_control, self.is_quick = is_control, is_quick
        self.began = time.monotonic()
        self.upstreams, self.looks, self.relay, self.twin = [], [], None, None
        self._sockets = []
        self._looking = None

    def now(self):
        """Seconds of the scenario."""
        return time.monotonic() - self.began

    async def upstream(self, model=None):
        upstream = await Upstream(self.now, model).open()
        self.upstreams.append(upstream)
        return upstream

    def route(self, *upstreams, off=(), **members):
        """A route with its defaults; in the control the parts `off` are switched off."""
        switched = {part: {"enabled": False} for part in off if self.is_control}
        tried = json.loads(os.environ.get("SCENARIO_ROUTE", "{}"))
        return plain_route(*upstreams, **{**tried, **switched, **members})

    async def start(self, routes, **members):
        """Starts the daemon, and the clock with it; the first route is the one that is looked at."""
        self.name = next(iter(routes))
        self.relay = Relay(routes, **{"limits": LIMITS, **members})
        self.control, self.callers = Socket(self.relay.control), self.callers_of(self.relay)
        self._sockets.append(self.control)
        await asyncio.to_thread(self.relay.start)
        self.began = time.monotonic()
        self._looking = asyncio.create_task(self._look())

    async def start_twin(self, *upstreams):
        """Starts a second daemon that nothing disturbs but what disturbs the machine, with a plain route `up`."""
        self.twin = Relay({"up": plain_route(*upstreams)})
        await asyncio.to_thread(self.twin.start)

    def callers_of(self, relay, user=None):
        made = Callers(self.now, Socket(relay.jobs, user))
        self._sockets.append(made.socket)
        return made

    async def until(self, moment):
        await asyncio.sleep(max(0, moment - self.now()))

    async def _look(self):
        while True:
            document = await self.control.document(f"/v1/routes/{self.name}")
            upstream = document["upstreams"][0]
            jobs = document["jobs"]
            self.looks.append({
                "at": self.now(), "breaker": upstream["breaker"], "window": upstream.get("window"),
                "under_way": upstream["under_way"], "pending": document["pending"], "jobs": jobs,
                "unfinished": sum(jobs[state] for state in ("scheduled", "queued", "running", "retrying", "held"))})
            await asyncio.sleep(LOOK)

    async def wait_for(self, condition, seconds):
        """Whether a look at the route comes to be so in time."""
        end = self.now() + seconds
        while self.now() < end:
            if self._looking.done():
                self._looking.result()
            if self.looks and condition(self.looks[-1]):
                return True
            await asyncio.sleep(LOOK / 2)
        return False

    # Whether the relay tells why it does what it does.

    async def _explain(self, job):
        command = pathlib.Path(daemon()).with_name("waystation")
        environment = {**os.environ, "WAYSTATION_CONTROL_SOCKET": self.relay.control}

        async def told(*words):
            process = await asyncio.create_subprocess_exec(
                command, "explain", job, *words, env=environment, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE)
            out, error = await process.communicate()
            assert process.returncode == 0, (job, out, error)
            return out.decode()
        return json.loads(await told("-o", "json")), await told()

    async def explained(self, *reasons, tries=30):
        """1 when `waystation explain` tells one of the reasons of a job from the middle of those that wait, else 0.

        None in a control. Jobs move while they are looked at; that one is under way just now is no wrong answer, and
        another is asked.
        """
        if self.is_control:
            return None
        seen = set()
        for _ in range(tries):
            listed = (await self.control.document(
                f"/v1/jobs?route={self.name}&state=queued,retrying,held&limit=200"))["jobs"]
            if listed:
                job = listed[len(listed) // 2]["id"]
                document, text = await self._explain(job)
                reason = (document.get("blocker") or {}).get("reason")
                seen.add(reason)
                # Asked for twice, as a document and in words, it may have moved between.
                if reason in reasons and f"Why it waits: {reason}." in text and self._may_be(reason, text):
                    return 1.0
                if reason not in (None, "running", "due", *reasons):
                    break
            await asyncio.sleep(0.1)
        print(f"explain told {seen}, not {reasons}", file=sys.stderr)
        return 0.0

    def _may_be(self, reason, text):
        """Whether the route's own document says so, too, of the last second, or of the turn that the job had before."""
        is_past = "the circuit breaker of its upstream was open when its turn came" in text
        breakers = {look["breaker"] for look in (self.looks if is_past else self.looks[-5:])}
        return bool(breakers - {"closed"}) if reason == "breaker_open" else breakers != {"open"}

    async def explained_failure(self, begin, end):
        """1 when `waystation explain` tells why a request of that time failed, else 0; None in a control, or if none did."""
        failed = [call for call in self.callers.calls if begin <= call.at < end and call.job and call.code]
        if not failed or self.is_control:
            return None
        # The daemon remembers the latest only.
        latest = sorted(failed, key=lambda call: call.ended)[-200:]
        call = latest[len(latest) // 2]
        # Where the problem's code and the failure's kind are two words; a stall fails in one of two ways.
        kinds = {"upstream_timeout": ["http_response_timeout"],
                 "upstream_failed": ["http_response_timeout", "breaker_open"]}.get(call.code, [call.code])
        _, text = await self._explain(call.job)
        tells = any(kind in text for kind in kinds)
        if not tells:
            print(f"explain does not tell {' or '.join(kinds)}:\n{text}", file=sys.stderr)
        return float(tells)

    def record(self, good=None):
        """The data of a picture; `good` are the moments of success, by default those of the upstream's answers."""
        end = self.now()
        begun = [call.at for call in self.callers.calls + self.callers.jobs]
        seen = self.upstreams[0].attempts
        if good is None:
            good = [attempt.ended for attempt in seen if attempt.status == 200 and attempt.ended]
        return {
            "end": end, "slice": SLICE, "offered": per_slice(begun, SLICE, end), "good": per_slice(good, SLICE, end),
            "attempts": per_slice([attempt.at for attempt in seen], SLICE, end),
            "looks": [[look[key] for key in ("at", "unfinished", "pending", "window", "under_way", "breaker")]
                      for look in self.looks]}

    async def close(self):
        if self._looking:
            self._looking.cancel()
        for upstream in self.upstreams:
            upstream.close()
        for socket in self._sockets:
            socket.close()
        for relay in filter(None, (self.relay, self.twin)):
            await asyncio.to_thread(relay.clean)
