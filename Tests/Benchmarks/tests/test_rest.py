"""The cost of a daemon at rest is counted right, and a moment that something else came into is no verdict."""

import unittest

from bench import rest
from bench.rest import Reading

STATUS = """Name:\tloop-0
State:\tS (sleeping)
voluntary_ctxt_switches:\t{}
nonvoluntary_ctxt_switches:\t7
"""
ROLLUP = """00400000-7ffe00000000 ---p 00000000 00:00 0   [rollup]
Rss:                1000 kB
Pss:                 800 kB
Anonymous:           300 kB
"""


def reading(at, milliseconds=0, **sleeps):
    """Of threads that are called as they are numbered."""
    return Reading(
        {number: (name, count) for number, (name, count) in enumerate(sleeps.items())}, milliseconds * 1_000_000, at)


class Rest(unittest.TestCase):
    def test_a_status_says_who_slept_how_often(self):
        self.assertEqual(rest.counted(STATUS.format(12).splitlines(keepends=True)), ("loop-0", 12))

    def test_wakes_are_told_by_thread_and_second(self):
        found = rest.between(reading(10, 1, store=5, control=7), reading(14, 9, store=7, control=7))
        self.assertEqual(found.wakes, {"store": 0.5, "control": 0})
        self.assertEqual(found.total, 0.5)
        self.assertEqual(found.milliseconds, 2)
        self.assertEqual(found.named(), "store 0.5")

    def test_threads_of_one_name_count_together_and_a_new_one_from_its_beginning(self):
        before = Reading({1: ("resolver", 10)}, 0, 0)
        after = Reading({1: ("resolver", 11), 2: ("resolver", 3)}, 0, 2)
        self.assertEqual(rest.between(before, after).wakes, {"resolver": 2})

    def test_the_resident_memory_has_two_parts(self):
        found = rest.parted(ROLLUP.splitlines(keepends=True))
        self.assertEqual(found, {"resident": 1_024_000, "anonymous": 307_200, "file": 716_800, "PSS": 819_200})


class Windows(unittest.TestCase):
    def least(self, *counts):
        """Of windows of a second with so many wakes each; how many were looked at, and the rate."""
        total, readings = 0, []
        for at, count in enumerate(counts):
            readings.append(reading(2 * at, store=total))
            total += count
            readings.append(reading(2 * at + 1, store=total))
        left = iter(readings)
        found = rest.least(1, 1, bound=1, pause=lambda _: None, reading=lambda _: next(left))
        return len(counts) - len(list(left)) // 2, found.total

    def test_a_quiet_window_is_enough(self):
        self.assertEqual(self.least(1, 9, 9), (1, 1))

    def test_a_window_that_something_came_into_is_followed_by_another(self):
        self.assertEqual(self.least(9, 1, 9), (2, 1))

    def test_what_is_never_quiet_is_told_as_at_its_quietest(self):
        self.assertEqual(self.least(9, 3, 6, 0), (3, 3))
