"""The figures that a scenario has to reach, and its control to miss."""

import dataclasses


@dataclasses.dataclass
class Figure:
    """A bound on one figure: of the relay as it is, and of the control, in which a part of it is switched off.

    `at_most` or `at_least` holds for the relay; `fails` is the value that the control has to be at or beyond, on the
    other side of the bound. Without it the control says nothing about this figure.
    """

    name: str
    at_most: float = None
    at_least: float = None
    fails: float = None

    def holds(self, value):
        return value is not None and (self.at_most is None or value <= self.at_most) and (
            self.at_least is None or value >= self.at_least)

    def is_missed(self, value):
        """Whether the control misses it by as much as it must."""
        return value is None or (value >= self.fails if self.at_most is not None else value <= self.fails)

    def words(self, of_control=False):
        if of_control:
            return f"{'≥' if self.at_most is not None else '≤'} {self.fails:g}"
        return f"≤ {self.at_most:g}" if self.at_most is not None else f"≥ {self.at_least:g}"

    def judge(self, value, of_control=False):
        """(whether it is as it has to be, a line that says so)"""
        is_good = self.is_missed(value) if of_control else self.holds(value)
        told = "never" if value is None else f"{value:.4g}"
        return is_good, f"{self.name}: {told} ({self.words(of_control)})"


def called(scenario, case):
    """A case's name, on the command line and of its picture."""
    return "-".join([scenario, *(str(value) for value in case.values())])


def percentile(values, share):
    """The value below which that share of them lies; None of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


# How much longer than beside nobody a call may take, whatever the machine does besides.
P99 = "its p99 ÷ the greater of 20 ms and twice its undisturbed twin's"


def beside_twin(seconds, twin):
    """The figure of `P99`, from times in seconds; None where there are none."""
    seconds, twin = percentile(seconds, 0.99), percentile(twin, 0.99)
    return None if seconds is None or twin is None else seconds / max(0.02, 2 * twin)


def per_slice(moments, slice, end):
    """How many of the moments lie in each slice from 0 to `end`."""
    counts = [0] * max(1, int(end / slice + 0.999))
    for moment in moments:
        if 0 <= moment < end:
            counts[int(moment / slice)] += 1
    return counts


def densest(moments, seconds):
    """The most moments that lie within so many seconds."""
    ordered, first, most = sorted(moments), 0, 0
    for last, moment in enumerate(ordered):
        while moment - ordered[first] >= seconds:
            first += 1
        most = max(most, last - first + 1)
    return most


def since_when(good, wanted, share, begin, slice):
    """Seconds after `begin` from which on every slice has that share of what is wanted; None where the last has not."""
    for index in range(len(wanted) - 1, -1, -1):
        if wanted[index] and good[index] < share * wanted[index]:
            return None if index == len(wanted) - 1 else max(0.0, (index + 1) * slice - begin)
        if index * slice < begin:
            break
    return 0.0
