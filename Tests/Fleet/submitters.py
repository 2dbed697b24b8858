"""Clients that hand over jobs at any node of a fleet, and write down what they were told."""

import asyncio
import json
import random
import time

PATIENCE = 40
# In seconds, between two tries at something that is away.
PAUSE = 0.05


class Lost(Exception):
    """The connection ended, and with it the answer."""


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def __getitem__(self, name):
        return self.fields.get(name.lower())

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:300]!r}"


class Connection:
    """A kept connection to a node's socket."""

    def __init__(self, path):
        self.path, self.reader, self.writer = path, None, None

    async def ask(self, method, target, fields=(), body=b""):
        """The answer; OSError where nothing was sent, Lost where that is not known."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_unix_connection(self.path)
        try:
            return await asyncio.wait_for(self._ask(method, target, fields, body), PATIENCE)
        except (OSError, EOFError, asyncio.IncompleteReadError, TimeoutError, asyncio.TimeoutError) as error:
            self.close()
            raise Lost(repr(error)) from None

    async def _ask(self, method, target, fields, body):
        lines = [f"{method} {target} HTTP/1.1", "Host: fleet.of.tests", *(f"{name}: {value}" for name, value in fields)]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        got = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in head[1:] if line)}
        if got.get("transfer-encoding") == "chunked":
            text = b""
            while size := int(await self.reader.readline(), 16):
                text += await self.reader.readexactly(size)
                await self.reader.readline()
            await self.reader.readline()
        else:
            text = await self.reader.readexactly(int(got.get("content-length", 0)))
        if got.get("connection") == "close":
            self.close()
        return Answer(int(head[0].split(" ")[1]), got, text)

    def close(self):
        if self.writer:
            self.writer.close()
        self.writer = None


class Job:
    """A job as its client knows it; `end` is accepted, refused, unknown or lost."""

    __slots__ = ("number", "client", "method", "key", "order", "id", "end", "refusals", "began", "answered", "node", "told")

    def __init__(self, number, client):
        self.number, self.client, self.method, self.key, self.order = number, client, "PUT", None, None
        self.id, self.end, self.refusals, self.began, self.answered, self.node = None, None, 0, None, None, None
        # Every answer, in words, for who looks at a fault.
        self.told = []

    @property
    def may_repeat(self):
        return self.method == "PUT" or self.key is not None

    def __repr__(self):
        return f"job {self.number} ({self.method}, key {self.key}, order {self.order}, id {self.id}, {self.end}, told {self.told[-8:]})"


class Submitters:
    """`count` clients that hand over `jobs` jobs, `rate` a second together, with `keys` ordering keys among them."""

    def __init__(self, nodes, count, jobs, rate, keys, seed=0, size=300):
        self.nodes, self.count, self.wanted, self.pace, self.keys, self.size = nodes, count, jobs, count / rate, keys, size
        self.seed, self.jobs, self.faults = seed, [], []
        self.repeats = self.lost = self.unknown = self.refused = 0
        self.is_over = False
        # Says whether nothing more is handed over for now.
        self.is_held = lambda: False

    def run(self):
        """Until all jobs are handed over, or `is_over` says so."""
        asyncio.run(self._run())

    async def _run(self):
        await asyncio.gather(*(self._client(index) for index in range(self.count)))

    async def _client(self, index):
        dice = random.Random(f"{self.seed}-{index}")
        own = [key for key in range(self.keys) if key % self.count == index]
        lines = {node: (Connection(node.jobs), Connection(node.jobs)) for node in self.nodes}
        due = time.monotonic() + dice.uniform(0, self.pace)
        while not self.is_over and len(self.jobs) < self.wanted:
            while self.is_held() and not self.is_over:
                await asyncio.sleep(PAUSE)
            job = Job(len(self.jobs) + 1, index)
            self.jobs.append(job)
            if job.number % 10 == 3:
                job.key = f"key-{self.seed}-{job.number}"
            if job.number % 10 in (3, 9):
                job.method = "POST"
            if own and dice.random() < 0.7:
                job.order = f"order-{dice.choice(own)}"
            try:
                await self._hand_over(job, lines, dice)
            except Exception as error:
                self.faults.append(f"{job}: {error!r}")
            due += dice.expovariate(1 / self.pace)
            if (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            else:
                # A time in which the fleet was away is not made up for.
                due = max(due, time.monotonic() - 1)
        for pair in lines.values():
            for line in pair:
                line.close()

    def _some(self, dice):
        """A node that is not stopped, as a balancer chooses."""
        running = [node for node in self.nodes if not node.is_paused]
        return dice.choice(running or self.nodes)

    def _request(self, job):
        fields = [("Prefer", "respond-async"), ("Waystation-Label", f"n={job.number}")]
        if job.key:
            fields.append(("Idempotency-Key", f'"{job.key}"'))
        if job.order:
            fields.append(("Waystation-Ordering-Key", job.order))
        return job.method, f"/r/main/job/{job.number}", fields, b"%d\n" % job.number + b"x" * self.size

    async def _hand_over(self, job, lines, dice):
        job.began, end = time.monotonic(), time.monotonic() + PATIENCE
        request, twice = self._request(job), job.key and dice.random() < 0.5
        is_doubtful = False
        while time.monotonic() < end:
            node = self._some(dice)
            if twice and not is_doubtful:
                other = self._some(dice)
                first, second = await asyncio.gather(
                    lines[node][0].ask(*request), lines[other][1].ask(*request), return_exceptions=True)
                twice = False
                job.told.append((other.name, "second", self._words(second)))
                if isinstance(second, Answer) and second.status in (200, 202):
                    self.repeats += 1
                    self._name(job, second)
                is_doubtful = self._is_doubtful(second)
                answer = first
            else:
                try:
                    answer = await lines[node][0].ask(*request)
                except (Lost, OSError) as error:
                    answer = error
            job.told.append((node.name, self._words(answer)))
            is_doubtful |= self._is_doubtful(answer)
            if isinstance(answer, Lost):
                self.lost += 1
                if job.key:
                    continue
                job.end = "lost"
                return
            if isinstance(answer, OSError):
                await asyncio.sleep(PAUSE)
                continue
            if isinstance(answer, BaseException):
                raise answer
            if answer.status in (200, 202):
                return await self._accepted(job, answer, request, lines, dice, node)
            if answer.status == 503 or answer.status == 409:
                job.refusals += answer.status == 503
                if job.id is None and not is_doubtful and dice.random() < 0.05:
                    job.end = "refused"
                    self.refused += 1
                    return
                await asyncio.sleep(PAUSE)
                continue
            if answer.status == 504:
                self.unknown += 1
                if await self._settle(job, answer, lines, dice) or not job.key:
                    return
                continue
            return self.faults.append(f"{job}: answered {answer}")
        job.end = job.end or ("accepted" if job.id else "lost" if is_doubtful else "refused")

    @classmethod
    def _is_doubtful(cls, answer):
        """Whether nobody knows what became of the request; one that has a key goes on although the store stalls."""
        return isinstance(answer, Lost) or isinstance(answer, Answer) and (
            answer.status in (202, 504) or "storage_stalled" in cls._words(answer))

    @staticmethod
    def _words(answer):
        if not isinstance(answer, Answer):
            return type(answer).__name__
        return f"{answer.status} {'' if answer.status < 300 else json.loads(answer.body).get('code')}"

    def _name(self, job, answer):
        id = answer["Waystation-Job"]
        if job.id and job.id != id:
            self.faults.append(f"TWICE: {job} is {id} as well")
        job.id = id

    async def _settle(self, job, answer, lines, dice):
        """Asks for the job that may have been accepted until it is known; returns whether it was."""
        id, end = answer["Waystation-Job"], time.monotonic() + PATIENCE
        if not id or json.loads(answer.body)["code"] != "acceptance_unknown":
            self.faults.append(f"{job}: answered {answer}")
            return True
        while time.monotonic() < end:
            try:
                line = Connection(self._some(dice).control)
                found = await line.ask("GET", f"/v1/jobs/{id}")
                line.close()
            except (OSError, Lost):
                found = None
            if found and found.status == 200:
                job.id, job.end, job.answered = id, "accepted", time.monotonic()
                return True
            if found and found.status == 404:
                break
            await asyncio.sleep(PAUSE)
        job.end = "unknown"
        return False

    async def _accepted(self, job, answer, request, lines, dice, node):
        self._name(job, answer)
        job.end, job.answered, job.node = "accepted", time.monotonic(), node.name
        if not job.key or dice.random() < 0.5:
            return
        try:
            again = await lines[self._some(dice)][0].ask(*request)
        except (Lost, OSError):
            return
        if again.status in (200, 202):
            self.repeats += 1
            self._name(job, again)
            if again.status != 200 or again["Waystation-Replayed"] != "true":
                self.faults.append(f"{job}: handed over again it was answered {again}")
        elif again.status not in (409, 503, 504):
            self.faults.append(f"{job}: handed over again it was answered {again}")
