"""One session: everything is started once, then measured round by round, contestants taking turns."""

import shutil
import sys
import tempfile

from . import contestants, load, memory, system
from .system import Unavailable

# Name, target, connections, requests per second.
LOADS = {
    "1": ("relay", "/r/bench/x", 64, None),
    "1b-1k": ("relay at 1,000 requests/s", "/r/bench/x", 64, 1_000),
    "1b-20k": ("relay at 20,000 requests/s", "/r/bench/x", 64, 20_000),
    "2": ("relay to TLS upstream", "/r/secure/x", 64, None),
}
SCENARIOS = [*LOADS, "6", "11"]
TITLES = {**{key: f"{key}: {LOADS[key][0]}" for key in LOADS}, "6": "6: memory, bytes", "11": "11: start"}


class Session:
    def __init__(self, options):
        self.options = options
        self.priority = options.priority
        self.directory = tempfile.mkdtemp(prefix="relay-bench-")
        self.upstreams = []
        self.running = []
        self.results = {}

    def __enter__(self):
        system.pin(system.LOAD_CORE)
        load.build(self.directory)
        self.authority, chain, key = load.make_certificates(self.directory)
        plain = load.Upstream(self.directory, self.priority)
        self.upstreams.append(plain)
        tls = load.Upstream(self.directory, self.priority, (chain, key))
        self.upstreams.append(tls)
        self.ports = {"plain": plain.port, "tls": tls.port}
        return self

    def __exit__(self, *_):
        for each in self.running + self.upstreams:
            each.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def run(self):
        self.running = [self._make(name) for name in self.options.only]
        for scenario in self.options.scenarios:
            if scenario in LOADS:
                continue
            self._turns(TITLES[scenario], self._memory if scenario == "6" else self._start_time)
        self._prune(self._restart)
        for scenario in self.options.scenarios:
            if scenario in LOADS:
                self._turns(TITLES[scenario], lambda each, key=scenario: self._load(each, key))
        return {TITLES[key]: self.results[TITLES[key]] for key in self.options.scenarios}

    def _make(self, name):
        if name == "waystation":
            return contestants.Waystation(self.directory, self.ports, self.priority, self.options.daemon)
        kind = {"nginx": contestants.Nginx, "haproxy": contestants.HAProxy}[name]
        if shutil.which(name) is None:
            raise Unavailable(f"{name} is not installed; see deploy/install-packages")
        return kind(self.directory, self.ports, self.priority)

    def _turns(self, title, measure):
        """Each round begins with another contestant, so that none always follows the same one."""
        table = self.results.setdefault(title, {each.name: [] for each in self.running})
        failed = set()
        for turn in range(self.options.rounds):
            shift = turn % max(len(self.running), 1)
            for each in self.running[shift:] + self.running[:shift]:
                if each.name in failed:
                    continue
                if sys.stderr.isatty():
                    print(f"{title}: round {turn + 1}, {each.name}", file=sys.stderr)
                try:
                    table[each.name].append(measure(each))
                except Unavailable as error:
                    failed.add(each.name)
                    print(f"{title}: {error}", file=sys.stderr)

    def _prune(self, action):
        working = []
        for each in self.running:
            try:
                action(each)
                working.append(each)
            except Unavailable as error:
                print(error, file=sys.stderr)
        self.running = working

    def _restart(self, each):
        each.stop()
        each.start(self.authority)

    def _load(self, each, key):
        _, target, connections, rate = LOADS[key]
        # Little is used at a low rate, so it is watched for longer.
        seconds = self.options.seconds * (2 if rate and rate < 10_000 else 1)
        return load.run(self.directory, each, seconds, self.priority, target, connections, rate)

    def _memory(self, each):
        figures = memory.measure(each, self.options.connections, self.authority)
        each.stop()
        return figures

    def _start_time(self, each):
        each.stop()
        seconds = each.start(self.authority)
        each.stop()
        return {"ready_ms": seconds * 1000}
