"""The cost of one request, job, life or connection: instructions, by callgrind, and allocations, by an allocator that
counts. Both are of user space and of all threads, and repeat within about one in a hundred however busy the machine is.
"""

import collections
import contextlib
import dataclasses
import mmap
import os
import re
import struct
import subprocess
import time

from . import memory
from .load import HERE, Client
from .passing import ORDINARY, PASSED, PROMOTED, check
from .queues import JOB_BYTES
from .relay import KEEP, LATER, Waystation

# The daemon's work without being asked, the sweep of its store first of all, goes by the clock: it is counted alone
# for so long, and taken off.
IDLE_SECONDS = 4
# How many requests or jobs are counted; connections where nothing else is.
USUAL, QUICK = 4_000, 600
RELAY = ("-c", 64, "-q", "/r/bench/x")
ACCEPT = ("-c", 64, "-b", JOB_BYTES, "-q", "/r/kept/x", "-a", KEEP, "-s", 202)
LINE = ("-k", "stream", "-c", 1, "-d", 64, "-b", 500, "-q", "/r/bench/x")
SCENARIOS = {
    "relay": RELAY, "credential": ("-c", 64, "-q", "/r/edited/x"), "tls": ("-c", 64, "-q", "/r/secure/x"),
    "json": ("-c", 64, "-b", 1024, "-q", "/r/inspected/json"), "promoted": RELAY,
    "retried": ("-c", 64, "-q", "/r/flaky/x"),
    "body": ("-c", 16, "-b", 100 << 10, "-q", f"/r/bulk/size/{100 << 10}"), "line": LINE,
    "accept": (*ACCEPT, "-a", LATER), "life": ACCEPT, "idle": (),
}
# The arguments that the daemon gets for one.
WORDS = {"promoted": ("--pass-through", "promote")}
# The route of all the requests of one, and the way they have to go.
WAYS = {
    "relay": ("bench", PASSED), "credential": ("edited", PASSED), "tls": ("secure", PASSED),
    "json": ("inspected", PASSED), "promoted": ("bench", PROMOTED), "retried": ("flaky", PROMOTED),
    "body": ("bulk", ORDINARY),
}


@dataclasses.dataclass
class Counts:
    figures: dict
    # Instructions by themselves: of each group, and of each function with its group.
    groups: dict = dataclasses.field(default_factory=dict)
    functions: dict = dataclasses.field(default_factory=dict)
    # With all that they call.
    whole: dict = dataclasses.field(default_factory=dict)

    def combined(self, operation, other=None):
        """Every number with the one that `other` has in its place."""
        def all_of(mine, theirs):
            return {key: operation(value, theirs.get(key, 0)) for key, value in mine.items()}

        other = other or Counts({})
        functions = {
            name: (operation(cost, other.functions.get(name, (0, ""))[0]), group)
            for name, (cost, group) in self.functions.items()}
        return Counts(
            all_of(self.figures, other.figures), all_of(self.groups, other.groups), functions,
            all_of(self.whole, other.whole))

    def without(self, other, factor):
        return self.combined(lambda mine, theirs: mine - theirs * factor, other)

    def divided(self, count):
        return self.combined(lambda mine, _: mine / count)


def measure(session, scenario, count=USUAL):
    """One scenario, each figure for one of `count`."""
    if scenario == "idle":
        return Counts(idle_connection(session, count // 4))
    result = executed(session, scenario, count)
    if scenario not in ("accept", "life"):
        del result.figures["statements"]
    if scenario == "tls":
        # Its own alone: what it has the C library do for it stays with the daemon's.
        result.figures["openssl"] = result.groups.get("OpenSSL", 0)
        result.figures["instructions"] -= result.figures["openssl"]
    result.figures["allocations"] = allocated(session, scenario, count * 2)
    return result


# MARK: Instructions

class UnderCallgrind(Waystation):
    # It would keep everything else from running for as long as it takes.
    is_real_time = False

    def command(self, configuration):
        self.file = os.path.join(self.directory, "callgrind.out")
        return [
            "valgrind", "--tool=callgrind", "--instr-atstart=no", "--fair-sched=yes", "--quiet",
            f"--callgrind-out-file={self.file}", *super().command(configuration)]

    def tell(self, word):
        subprocess.run(
            ["callgrind_control", word, str(self.process.pid)], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def begin(self):
        self.tell("--instr=on")
        self.dumps, self.since = 0, time.monotonic()

    def part(self):
        """The counts since the last part, and the seconds of it."""
        seconds = time.monotonic() - self.since
        self.tell("--dump")
        self.dumps, self.since = self.dumps + 1, time.monotonic()
        with open(f"{self.file}.{self.dumps}") as file:
            return read(file), seconds


def executed(session, scenario, count):
    server = UnderCallgrind(session, f"callgrind {scenario}")
    server.words = WORDS.get(scenario, ())
    server.check_installed()
    server.start()
    try:
        with watched(server, scenario, count) as ask:
            loaded(session, server, scenario, count, before=lambda: (ask(), server.begin()))
            busy, seconds = server.part()
            time.sleep(IDLE_SECONDS)
            idle, idle_seconds = server.part()
            server.tell("--instr=off")
    finally:
        server.stop()
    return busy.without(idle, seconds / idle_seconds).divided(count)


@contextlib.contextmanager
def watched(server, scenario, count):
    """Sees to it that the requests go the way that the scenario is called after; what it gives is to be called once
    the warm-up is over. The daemon is asked outside of what is counted."""
    route, expected = WAYS[scenario] if scenario in WAYS and server.passes_through() else ("", "")
    before = None

    def ask():
        nonlocal before
        before = server.ways(route) if route else None

    yield ask
    if route:
        check(scenario, server.ways(route, before.all + count).since(before), expected, count)


def loaded(session, server, scenario, count, before):
    """Runs the load; `before` is done between its warm-up and what is counted."""
    client = Client(session.directory, server, [*SCENARIOS[scenario], "-w", 1, "-n", count])
    succeeded = 0

    def begin():
        nonlocal succeeded
        if scenario == "life":
            while server.unfinished:
                time.sleep(0.1)
            succeeded = server.jobs()["succeeded"]
        # The work that the warm-up and the load's connections have left is done by then.
        time.sleep(0.5)
        before()

    client.before = begin
    since = client.run()["begin"]
    if scenario == "life":
        # It asks seldom, since its questions are counted too.
        server.wait_for_succeeded(succeeded + count, since, pause=0.5)


GROUPS = (
    ("retain, release, copies", r"_?swift_\w*(retain|release|Retain|Release)|.*RefCount|.*WO[a-z]$"),
    ("exclusivity checks", r"swift_(begin|end)Access|.*AccessSet|swift_\w*[eE]xclusiv"),
    ("tasks", r"swift_(task|job|async|continuation)|.*(AsyncTask|StatusRecord|StackAllocator|TaskAlloc)|.*swift_task"),
    ("memory", r"(_int_)?(malloc|free|calloc|realloc|memalign)|unlink_chunk|tcache|sysmalloc|swift_(alloc|dealloc|slow|"
               r"init|setDealloc|isUnique)|_swift_(alloc|release_dealloc)|.*operator (new|delete)|_Zn|_Zd"),
    ("copying bytes", r"_*mem(cpy|move|set|cmp|chr)"),
    ("clocks", r"_*(clock_gettime|vdso)|.*Duration.*component"),
    ("standard library", r"\$sS|\$ss|swift_|_swift|\$sSt|_ZN5swift|__(u?div|u?mod)ti"),
)


def group(function, library):
    """The concept that a function belongs to: what the runtime does by its kind, ours by its room."""
    if "sqlite" in library:
        return "SQLite"
    if re.search("libssl|libcrypto", library):
        return "OpenSSL"
    for name, pattern in GROUPS[:-1]:
        if re.match(pattern, function):
            return name
    if room := re.match(r"\$s\d+(Relay[A-Z][a-zA-Z]+?|waystationd)(?=[A-Z0-9]\w*)", function):
        length = int(re.match(r"\$s(\d+)", function)[1])
        return function[2 + len(str(length)):][:length] if room else "other"
    if re.match(GROUPS[-1][1], function):
        return GROUPS[-1][0]
    return "C library" if re.search(r"libc\.|ld-linux|libpthread", library) else "other"


def read(lines):
    """Callgrind's file."""
    names, libraries, of_library = {}, {}, {}
    alone, whole, calls = collections.Counter(), collections.Counter(), collections.Counter()
    function = callee = library = None
    total, is_call = 0, False
    for line in lines:
        kind, equals, rest = line.partition("=")
        if equals and kind in ("fn", "cfn", "ob", "cob"):
            number, _, name = rest.rstrip().partition(" ")
            if name:
                (names if kind in ("fn", "cfn") else libraries)[number] = name
            if kind == "fn":
                function = number
                of_library.setdefault(number, library)
            elif kind == "cfn":
                callee = number
            elif kind == "ob":
                library = number
        elif kind == "calls":
            calls[callee] += int(rest.split()[0])
            is_call = True
        elif line.startswith("totals:"):
            total = int(line.split()[1])
        elif line[:1] in "0123456789+-*" and line.strip():
            cost = int(line.split()[1])
            whole[function] += cost
            if not is_call:
                alone[function] += cost
            is_call = False
    groups, functions = collections.Counter(), {}
    for number, cost in alone.items():
        name = group(names[number], libraries.get(of_library.get(number), ""))
        groups[name] += cost
        functions[names[number]] = (cost, name)
    # A statement is reset once it has been run.
    statements = sum(calls[number] for number, name in names.items() if name == "sqlite3_reset")
    return Counts(
        {"instructions": total, "statements": statements}, dict(groups), functions,
        {names[number]: cost for number, cost in whole.items()})


def demangled(names):
    try:
        done = subprocess.run(
            ["swift", "demangle", "-simplified"], input="\n".join(names), stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        return list(names)
    return done.stdout.splitlines()


# MARK: Allocations

class Counting(Waystation):
    """A relay whose allocator counts."""

    library = None

    def environment(self):
        self.counts = os.path.join(self.directory, "counts")
        with open(self.counts, "wb") as file:
            file.write(bytes(24))
        return dict(super().environment(), LD_PRELOAD=counting_library(self.session.directory),
                    COUNTING_FILE=self.counts)

    def now(self):
        """Allocations and frees so far, and the bytes that are allocated."""
        with open(self.counts, "rb") as file, mmap.mmap(file.fileno(), 24, access=mmap.ACCESS_READ) as counts:
            return struct.unpack("QQq", counts[:])


def counting_library(directory):
    path = os.path.join(directory, "counting.so")
    if not os.path.exists(path):
        source = os.path.join(HERE, "counting.c")
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", path, source], check=True)
    return path


def allocated(session, scenario, count):
    server = Counting(session, f"counting {scenario}")
    server.words = WORDS.get(scenario, ())
    server.start()
    before = 0

    def begin():
        nonlocal before
        before = server.now()[0]

    try:
        with watched(server, scenario, count) as ask:
            loaded(session, server, scenario, count, before=lambda: (ask(), begin()))
            return (server.now()[0] - before) / count
    finally:
        server.stop()


def idle_connection(session, count):
    """The memory of a connection that has had its answer and waits for the next request."""
    server = Counting(session, "counting idle")
    sockets = []
    with memory.fresh(server):
        before = server.now()
        try:
            for _ in range(count):
                sockets.append(memory.opened(server))
                memory.ask(sockets[-1], b"/r/bench/x")
                memory.read(sockets[-1])
            time.sleep(0.5)
            after = server.now()
        finally:
            for each in sockets:
                each.close()
    held = (after[0] - after[1]) - (before[0] - before[1])
    return {"bytes": (after[2] - before[2]) / count, "allocations": held / count}
