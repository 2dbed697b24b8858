"""Which way requests went: passed through, promoted or ordinary, by the daemon's own counters."""

import dataclasses
import re
import time

from .system import Unavailable

SAMPLE = re.compile(r'waystation_requests(_ordinary|_promoted|)(?:_total)?\{(.*)\} (\S+)')
LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclasses.dataclass(frozen=True)
class Ways:
    """Of one route: how many requests are over, and of those that were not passed through how many, by reason."""

    all: int
    ordinary: dict
    promoted: dict

    def since(self, before):
        def more(mine, theirs):
            return {reason: count - theirs.get(reason, 0) for reason, count in mine.items()
                    if count > theirs.get(reason, 0)}

        return Ways(self.all - before.all, more(self.ordinary, before.ordinary), more(self.promoted, before.promoted))

    @property
    def passed(self):
        return self.all - sum(self.ordinary.values()) - sum(self.promoted.values())

    def others(self):
        """The reasons of those that were not passed through, the most frequent first."""
        found = [(count, f"ordinary ({reason})") for reason, count in self.ordinary.items()]
        found += [(count, f"promoted ({reason})") for reason, count in self.promoted.items()]
        return sorted(found, reverse=True)


def read(metrics, route):
    counts = {"": 0, "_ordinary": {}, "_promoted": {}}
    for line in metrics.splitlines():
        if not (found := SAMPLE.fullmatch(line)):
            continue
        kind, labels, value = found[1], dict(LABEL.findall(found[2])), int(float(found[3]))
        if labels.get("route") != route:
            continue
        if kind:
            counts[kind][labels["reason"]] = value
        else:
            counts[kind] += value
    return Ways(counts[""], counts["_ordinary"], counts["_promoted"])


def awaited(ask, route, least, seconds=30):
    """The route's ways, by `ask`, once so many of its requests are over, or after so many seconds all the same."""
    deadline = time.monotonic() + seconds
    while True:
        ways = read(ask(), route)
        if ways.all >= least or time.monotonic() > deadline:
            return ways
        time.sleep(0.05)


# The ways that the requests of a scenario may go.
PASSED, PROMOTED, ORDINARY = "passed through", "promoted", "ordinary"


def check(scenario, ways, expected, count):
    """Raises Unavailable unless all of them went the way that the scenario measures."""
    taken = {
        PASSED: ways.passed, PROMOTED: sum(ways.promoted.values()), ORDINARY: sum(ways.ordinary.values()),
    }[expected]
    if taken == count and ways.all == count:
        return
    others = ", ".join(f"{number} {reason}" for number, reason in ways.others())
    raise Unavailable(
        f"{scenario}: {taken} of {count} requests were {expected}, of {ways.all} that the daemon counted; {others or 'no others'}; "
        "what was measured is not what the scenario is called")
