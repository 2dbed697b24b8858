"""The verdicts on the targets."""

import unittest

from bench import scenarios
from bench.targets import TARGETS, at_least, at_most, verdict, verdicts


class Verdicts(unittest.TestCase):
    results = {"1": {
        "waystation": [{"cpu_us": 12, "per_second": 90}] * 3,
        "nginx": [{"cpu_us": 10, "per_second": 100}] * 3, "haproxy": [{"cpu_us": 20, "per_second": 50}] * 3}}

    def test_a_cost_is_met_below_and_throughput_above_the_bound(self):
        for target, reached, met, missed_by in (
            (at_most("1", "cpu_us", 1.2, "nginx"), 1.2, True, 0), (at_most("1", "cpu_us", 1, "nginx"), 1.2, False, 0.2),
            (at_least("1", "per_second", 0.9, "nginx"), 0.9, True, 0),
            (at_least("1", "per_second", 1.2, "nginx"), 0.9, False, 0.25),
            (at_most("1", "cpu_us", 10), 12, False, 0.2), (at_most("1", "cpu_us", 0), 12, False, 12),
        ):
            with self.subTest(target=target):
                found = verdict(target, self.results)
                self.assertAlmostEqual(found["reached"], reached)
                self.assertEqual(found["met"], met)
                self.assertAlmostEqual(found["missed_by"], missed_by)

    def test_of_several_peers_the_better_one_counts(self):
        either = ("nginx", "haproxy")
        self.assertEqual(verdict(at_most("1", "cpu_us", 1, *either), self.results)["to"], "nginx")
        self.assertEqual(verdict(at_least("1", "per_second", 1, *either), self.results)["to"], "nginx")

    def test_what_was_not_measured_has_no_verdict(self):
        for target in (
            at_most("2", "cpu_us", 1, "nginx"), at_most("1", "cpu_us", 1, "envoy"), at_most("1", "p99_us", 9),
        ):
            self.assertIsNone(verdict(target, self.results))
        self.assertEqual(verdicts({"1": {"waystation": [None]}}), [])

    def test_every_target_is_of_a_scenario_and_of_contestants_that_there_are(self):
        for target in TARGETS:
            self.assertIn(target.scenario, scenarios.TITLES)
            for peer in target.peers:
                self.assertIn(peer, (*scenarios.CONTESTANTS, "one loop"))

    def test_scenarios_are_named_by_their_numbers(self):
        self.assertEqual(scenarios.chosen(["1b", "3-10m"]), ["1b-1k", "1b-20k", "3-10m"])
        self.assertEqual(scenarios.chosen(["counts"]), [
            key for key in scenarios.TITLES if key.startswith("counts-")])
        with self.assertRaisesRegex(ValueError, "there is no scenario 9"):
            scenarios.chosen(["1", "9"])
