"""One session: contestants take turns, each with an empty store, on the same disk and the same core."""

import os
import shutil
import sys
import tempfile
import time

from relaybench import load, system
from relaybench.system import Unavailable

from . import disk, handover, stalls
from .handover import Handover
from .peers import Beanstalkd, Celery, Redis
from .relay import Waystation

CONNECTIONS = (64, 16, 1)


class Session:
    def __init__(self, options):
        self.options = options
        self.directory = tempfile.mkdtemp(prefix="relay-durable-", dir=options.directory)
        self.upstream = None
        self.running = []
        # Scenario, contestant, the figures of each round.
        self.results = {}
        self.notes = []

    def __enter__(self):
        try:
            disk.check(self.directory)
            system.pin(system.LOAD_CORE)
            # What is started later inherits it.
            system.raise_priority(os.getpid(), self.options.priority)
            load.build(self.directory)
            handover.build(self.directory)
            self.upstream = load.Upstream(self.directory, 0)
            self.notes.append(
                f"disk: {disk.kind(self.directory)}, 4 KiB and fdatasync take "
                f"{disk.sync_microseconds(self.directory):.0f} us")
            if (load_average := os.getloadavg()[0]) > 0.5:
                self.notes.append(
                    f"others work on this machine (load average {load_average:.1f}): whoever syncs for every job waits "
                    "longest for a processor, so ratios of jobs/s flatter; CPU us/job holds")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for each in self.running:
            each.stop()
        if self.upstream:
            self.upstream.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def run(self):
        for name, scenario in (
            ("accept", self._accept), ("life", self._life), ("backlog", self._backlog),
            ("checkpoint", self._checkpoint),
        ):
            if name in self.options.scenarios:
                scenario()
        return self.results

    def _make(self, name):
        port = self.upstream.port
        return {
            "waystation": lambda: Waystation(self.directory, port, self.options.daemon),
            "redis": lambda: Redis(self.directory), "beanstalkd": lambda: Beanstalkd(self.directory),
            "celery": lambda: Celery(self.directory, port),
        }[name]()

    def _contestants(self, *names):
        made = [self._make(name) for name in names if name in self.options.only]
        self.running += made
        return made

    def _turns(self, title, contestants, measure):
        """Each round begins with another contestant, so that none always follows the same one."""
        table = self.results.setdefault(title, {each.name: [] for each in contestants})
        failed = set()
        for turn in range(self.options.rounds):
            shift = turn % max(len(contestants), 1)
            for each in contestants[shift:] + contestants[:shift]:
                if each.name in failed:
                    continue
                self._say(f"{title}: round {turn + 1}, {each.name}")
                try:
                    table[each.name].append(measure(each))
                except Unavailable as error:
                    failed.add(each.name)
                    print(f"{title}: {error}", file=sys.stderr)
                    each.stop()

    def _say(self, what):
        if sys.stderr.isatty() or self.options.verbose:
            print(time.strftime("%H:%M:%S"), what, file=sys.stderr)

    # MARK: What is measured

    def _accept(self):
        contestants = self._contestants("waystation", "redis", "beanstalkd")

        def measure(each, connections):
            each.start()
            figures = Handover(self.directory, each, connections).later().for_seconds(self.options.seconds)
            each.stop()
            return figures

        for connections in CONNECTIONS:
            clients = f"{connections} clients" if connections > 1 else "1 client"
            self._turns(f"accept, {clients}", contestants, lambda each, count=connections: measure(each, count))

    def _life(self):
        contestants = self._contestants("waystation", "celery")

        def measure(each):
            each.start()
            figures = self._lives(each) if each.name == "waystation" else self._celery_lives(each)
            each.stop()
            return figures

        self._turns("life, 64 clients", contestants, measure)

    def _lives(self, each):
        """From the first accept until all have succeeded; what comes meanwhile is delivered meanwhile."""
        before = each.jobs()["succeeded"]
        cpu = each.cpu_seconds()
        count = self.options.lives
        figures = Handover(self.directory, each, 64).count(count)
        seconds = each.wait_for_succeeded(before + count, figures["begin"])
        return {
            "jobs_per_second": count / seconds,
            "cpu_us": (each.cpu_seconds() - cpu) * 1e6 / count,
            "accepted_per_second": figures["jobs_per_second"],
            "p99_us": figures["p99_us"],
            "client_busy": figures["client_busy"],
        }

    def _celery_lives(self, each):
        count = max(100, self.options.lives // 20)
        cpu = each.cpu_seconds()
        handed_over, settled = each.submit(count)
        return {
            "jobs_per_second": count / settled,
            "cpu_us": (each.cpu_seconds() - cpu) * 1e6 / count,
            "accepted_per_second": count / handed_over,
        }

    def _backlog(self):
        if "waystation" not in self.options.only:
            return
        full = self._fill(self.options.backlog)
        empty = Waystation(self.directory, self.upstream.port, self.options.daemon, "empty")
        self.running.append(empty)
        size = f"{self.options.backlog:,} jobs"
        full.name, empty.name = size, "0 jobs"

        def with_store(each, action):
            # Both run only while they are measured: what one does in the background must not cost the other.
            each.start(keep=each is full)
            figures = action(each)
            figures["resident_mb"] = each.resident / 1e6
            each.stop()
            return figures

        def accept(each):
            return Handover(self.directory, each, 64).later().for_seconds(self.options.seconds)

        def restart(each):
            seconds = each.start(keep=each is full)
            figures = {"ready_ms": seconds * 1000, "resident_mb": each.resident / 1e6}
            each.stop()
            return figures

        both = [empty, full]
        self._turns("restart behind a backlog", both, restart)
        self._turns("accept behind a backlog, 64 clients", both, lambda each: with_store(each, accept))
        self._turns("life behind a backlog, 64 clients", both, lambda each: with_store(each, self._lives))
        self._stalls("checkpoint behind a backlog", both, keep=full)

    def _fill(self, count):
        """Jobs that are due in a day, on the route that is measured, handed over as any other."""
        full = Waystation(self.directory, self.upstream.port, self.options.daemon, "full")
        self.running.append(full)
        full.start()
        begin = time.monotonic()
        self._say(f"filling {count:,}")
        Handover(self.directory, full, min(512, count)).later().count(count)
        seconds = time.monotonic() - begin
        if full.unfinished != count:
            raise Unavailable(f"the backlog is {full.unfinished} of {count}")
        resident = full.resident
        full.stop()
        self.notes.append(
            f"backlog: {count:,} jobs of 1 KiB accepted in {seconds:.0f} s ({count / seconds:,.0f}/s), "
            f"{disk.used_bytes(full.directory) / 1e9:.2f} GB on disk, {resident / 1e6:.1f} MB resident at the end")
        return full

    def _checkpoint(self):
        if "waystation" in self.options.only:
            self._stalls("checkpoint", self._contestants("waystation"))

    def _stalls(self, title, contestants, keep=None):
        table = self.results.setdefault(f"{title}, {self.options.rate:,.0f} jobs/s", {})
        for each in contestants:
            self._say(f"{title}: {each.name}")
            each.start(keep=each is keep)
            figures, slowest = stalls.measure(
                self.directory, each, 64, self.options.rate, self.options.steady_seconds)
            table[each.name] = [figures]
            each.stop()
            shown = ", ".join(f"{wait / 1000:.1f} ms at {at:.2f} s" for wait, at in slowest[:5])
            self.notes.append(f"{title}, {each.name}: the slowest took {shown}")
