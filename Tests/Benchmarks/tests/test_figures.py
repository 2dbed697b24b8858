"""The figures of all rounds."""

import unittest

from bench import figures


class Rounds(unittest.TestCase):
    def test_the_quartiles_of_few_rounds_lie_between_them(self):
        for values, expected in (
            ([7], (7, 7, 7)), ([1, 3], (1.5, 2, 2.5)), ([5, 1, 3], (2, 3, 4)), ([1, 2, 3, 4, 100], (2, 3, 4)),
        ):
            with self.subTest(values=values):
                self.assertEqual(figures.quartiles(values), expected)

    def test_a_ratio_is_of_the_same_round_whatever_the_medians_say(self):
        ours = [{"cpu_us": 10}, {"cpu_us": 40}, {"cpu_us": 30}]
        theirs = [{"cpu_us": 10}, {"cpu_us": 20}, {"cpu_us": 30}]
        self.assertEqual(figures.paired(ours, theirs, "cpu_us"), [1, 2, 1])

    def test_a_round_that_either_missed_makes_no_ratio_and_moves_no_other(self):
        ours = [{"cpu_us": 10}, None, {"cpu_us": 30}, {"cpu_us": 8}]
        theirs = [None, {"cpu_us": 20}, {"cpu_us": 10}, {"p99_us": 4}]
        self.assertEqual(figures.paired(ours, theirs, "cpu_us"), [3])

    def test_a_failed_round_is_left_out_of_the_median(self):
        found = figures.summary([{"a": 1}, None, {"a": 3, "b": 9}])
        self.assertEqual(found["a"], {"median": 2, "low": 1.5, "high": 2.5})

    def test_the_better_peer_is_the_one_with_the_better_median_not_with_the_best_round(self):
        peers = {"steady": [{"x": 10}] * 3, "lucky": [{"x": 1}, {"x": 12}, {"x": 12}], "gone": [None] * 3}
        self.assertEqual(figures.better(peers, "x", is_least=False), "steady")
        self.assertEqual(figures.better(peers, "x", is_least=True), "lucky")
        self.assertIsNone(figures.better({"gone": [None]}, "x", is_least=True))

    def test_the_spread_is_that_of_the_figure_whose_quartiles_are_farthest_apart(self):
        rounds = [{"a": 10, "b": 100}, {"a": 11, "b": 200}, None, {"a": 12, "b": 300}]
        self.assertAlmostEqual(figures.spread(rounds, ("a",)), 11.5 / 10.5)
        self.assertAlmostEqual(figures.spread(rounds, ("a", "b")), 250 / 150)
        self.assertEqual((figures.spread([], ("a",)), figures.spread([None], ("a",))), (1, 1))

    def test_a_percentile_of_none_is_nothing(self):
        self.assertEqual((figures.percentile([], 0.99), figures.percentile([3, 1, 2], 0.99)), (0, 3))
