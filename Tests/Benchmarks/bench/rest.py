"""The cost of a daemon that has nothing to do: sleeps ended, time on a processor, memory."""

import dataclasses
import os
import time

from . import system

# A window that something else came into is followed by another one, at most so often.
WINDOWS = 3


@dataclasses.dataclass
class Reading:
    """Of one moment: by thread, its name, how often it has slept."""

    sleeps: dict
    nanoseconds: int
    at: float


def read(pid):
    sleeps = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/status") as file:
                sleeps[int(thread)] = counted(file)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return Reading(sleeps, system.cpu_nanoseconds(pid), time.monotonic())


def counted(lines):
    """A thread's name, and how often it went to sleep."""
    fields = dict(line.split(":", 1) for line in lines)
    return fields["Name"].strip(), int(fields["voluntary_ctxt_switches"])


@dataclasses.dataclass
class Rest:
    """Between two readings."""

    # By thread's name, in a second.
    wakes: dict
    milliseconds: float

    @property
    def total(self):
        return sum(self.wakes.values())

    def named(self):
        """The threads that woke, the most frequent first."""
        rows = sorted(self.wakes.items(), key=lambda each: (-each[1], each[0]))
        return ", ".join(f"{name} {rate:.1f}" for name, rate in rows if rate)


def between(before, after):
    """The wakes and the time of the threads; one that has begun since then counts from its beginning."""
    seconds = after.at - before.at
    wakes = {}
    for thread, (name, count) in after.sleeps.items():
        earlier = before.sleeps.get(thread, (name, 0))[1]
        wakes[name] = wakes.get(name, 0) + (count - earlier) / seconds
    return Rest(wakes, (after.nanoseconds - before.nanoseconds) / 1e6 / seconds)


def least(pid, seconds, bound, windows=WINDOWS, pause=time.sleep, reading=read):
    """The quietest of some windows: what is left of an earlier moment ends, what is done for ever does not.

    The first one that keeps to the bound is enough.
    """
    best = None
    for _ in range(windows):
        before = reading(pid)
        pause(seconds)
        found = between(before, reading(pid))
        if best is None or found.total < best.total:
            best = found
        if best.total <= bound:
            break
    return best


def memory(pid):
    """Bytes: resident, of that with no file behind them, with one, and the part of all that is this process's."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return parted(file)


def parted(lines):
    sizes = {}
    for line in lines:
        name, _, rest = line.partition(":")
        if rest.endswith(" kB\n"):
            sizes[name] = int(rest.split()[0]) * 1024
    return {
        "resident": sizes["Rss"], "anonymous": sizes["Anonymous"], "file": sizes["Rss"] - sizes["Anonymous"],
        "PSS": sizes["Pss"]}
