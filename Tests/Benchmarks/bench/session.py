"""One session: contestants take turns on the same core, beside the same load."""

import os
import shutil
import sys
import tempfile
import time

from . import load, machine
from .system import Unavailable


class Session:
    def __init__(self, options):
        self.options = options
        self.daemon = options.daemon
        self.directory = tempfile.mkdtemp(prefix="relay-bench-", dir=options.directory)
        # PostgreSQL runs as a user of its own.
        os.chmod(self.directory, 0o711)
        self.authority = ""
        self.upstreams = []
        self.servers = []
        self.missing = set()
        self.versions = {}
        # Scenario, contestant, the figures of each round; None for a round that failed.
        self.results = {}
        # Scenarios whose every set of rounds something else was at work beside.
        self.disturbed = []
        # Contestants that could not be measured though they are here.
        self.failures = []
        # The parts that were left out or failed, and why.
        self.notes = []

    def __enter__(self):
        try:
            machine.check_disk(self.directory)
            load.build(self.directory)
            self.authority, chain, key = load.make_certificates(self.directory)
            for certificate in (None, (chain, key)):
                self.upstreams.append(load.Upstream(self.directory, certificate))
            self.plain, self.tls = self.upstreams
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop_servers()
        for each in self.upstreams:
            each.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def made(self, *kinds, **more):
        """Servers of those kinds that are wanted and installed; the others are told."""
        made = []
        for kind in kinds:
            if kind.name not in self.options.only or kind.name in self.missing:
                continue
            server = kind(self, **more)
            try:
                server.check_installed()
            except Unavailable as error:
                self.missing.add(kind.name)
                self.note(f"left out: {error}")
                continue
            self.versions.setdefault(kind.name, server.version())
            self.servers.append(server)
            made.append(server)
        return made

    def started(self, servers):
        """Those of them that start."""
        running = []
        for each in servers:
            try:
                each.start()
                running.append(each)
            except Unavailable as error:
                self.failures.append(each.name)
                self.note(f"left out: {error}")
        return running

    def stop_servers(self):
        for each in self.servers:
            each.stop()
        self.servers = []

    def turns(self, scenario, contestants, rounds=None):
        """Measures contestants, (name, what measures) each, in turns.

        Each round begins with another one, so that none always follows the same one.
        """
        table = self.results.setdefault(scenario, {name: [] for name, _ in contestants})
        failed = set()
        for turn in range(rounds or self.options.rounds):
            shift = turn % max(len(contestants), 1)
            for name, measure in contestants[shift:] + contestants[:shift]:
                if name in failed:
                    table[name].append(None)
                    continue
                self.say(f"{scenario}: round {turn + 1}, {name}")
                try:
                    table[name].append(measure())
                except (Unavailable, OSError) as error:
                    table[name].append(None)
                    failed.add(name)
                    self.failures.append(name)
                    self.note(f"{scenario}: {name} failed: {error}")

    def note(self, what):
        self.notes.append(what)
        print(what, file=sys.stderr)

    def say(self, what):
        if sys.stderr.isatty() or self.options.verbose:
            print(time.strftime("%H:%M:%S"), what, file=sys.stderr)
