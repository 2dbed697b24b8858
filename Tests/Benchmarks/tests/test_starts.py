"""Starts are told as quartiles, and beside a peer turn by turn."""

import unittest

from bench import starts


class Starts(unittest.TestCase):
    def test_quartiles_and_the_least_in_milliseconds(self):
        found = starts.compared([0.010, 0.030, 0.020], [None, None, None])
        self.assertEqual(
            {name: round(value, 6) for name, value in found.items()},
            {"median": 20, "low": 15, "high": 25, "least": 10})

    def test_a_machine_that_is_slow_in_a_turn_is_slow_for_both(self):
        found = starts.compared([0.010, 0.050, 0.010], [0.005, 0.025, 0.005])
        self.assertEqual(found["ratio"], 2)
        self.assertAlmostEqual(found["peer"], 5)
