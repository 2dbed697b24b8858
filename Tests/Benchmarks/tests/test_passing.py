"""Which way requests went, and that a guard that measured something else says so."""

import itertools
import unittest

from bench import counts, passing
from bench.passing import ORDINARY, PASSED, PROMOTED, Ways
from bench.system import Unavailable

METRICS = """\
# HELP waystation_requests_ordinary_total Requests that took the ordinary path.
# TYPE waystation_requests_ordinary_total counter
waystation_requests_ordinary_total{route="bench",reason="connection"} 3
waystation_requests_ordinary_total{route="other",reason="fields"} 9
# TYPE waystation_requests_promoted_total counter
waystation_requests_promoted_total{route="bench",reason="answer"} 2
# TYPE waystation_requests_total counter
waystation_requests_total{route="bench",outcome="success"} 40
waystation_requests_total{route="bench",outcome="failure"} 1
waystation_requests_total{route="other",outcome="success"} 7
waystation_requests_waiting{route="bench"} 5
"""


class WaysOfRequests(unittest.TestCase):
    found = passing.read(METRICS, "bench")

    def test_those_of_one_route_are_told_by_reason_and_the_rest_was_passed_through(self):
        self.assertEqual(self.found, Ways(41, {"connection": 3}, {"answer": 2}))
        self.assertEqual(self.found.passed, 36)
        self.assertEqual(self.found.others(), [(3, "ordinary (connection)"), (2, "promoted (answer)")])

    def test_what_was_before_is_taken_off_and_reasons_without_requests_go(self):
        self.assertEqual(
            Ways(60, {"connection": 3, "shape": 1}, {"answer": 4}).since(self.found), Ways(19, {"shape": 1}, {"answer": 2}))

    def test_metrics_that_are_given_out_for_a_while_are_asked_for_again(self):
        texts = itertools.chain([METRICS.replace("} 40", "} 12")] * 2, itertools.repeat(METRICS))
        self.assertEqual(passing.awaited(lambda: next(texts), "bench", 41).all, 41)

    def test_what_never_comes_is_told_as_it_is(self):
        self.assertEqual(passing.awaited(lambda: METRICS, "bench", 42, seconds=0.1).all, 41)


class Guards(unittest.TestCase):
    def test_a_scenario_that_measured_what_it_is_called_after_says_nothing(self):
        passing.check("relay", Ways(10, {}, {}), PASSED, 10)
        passing.check("promoted", Ways(10, {}, {"caller": 10}), PROMOTED, 10)
        passing.check("body", Ways(10, {"shape": 10}, {}), ORDINARY, 10)

    def test_one_request_that_went_another_way_fails_it_with_the_reason(self):
        for scenario, ways, expected in (
            ("relay", Ways(10, {"fields": 1}, {}), PASSED), ("relay", Ways(10, {}, {"fields": 1}), PASSED),
            ("promoted", Ways(10, {"fields": 1}, {"caller": 9}), PROMOTED), ("promoted", Ways(10, {}, {}), PROMOTED),
            ("body", Ways(10, {"fields": 9}, {}), ORDINARY),
        ):
            with self.subTest(ways=ways), self.assertRaisesRegex(Unavailable, f"{scenario}: [09] of 10.*(fields|no others)"):
                passing.check(scenario, ways, expected, 10)

    def test_requests_that_the_daemon_did_not_count_fail_it(self):
        with self.assertRaises(Unavailable):
            passing.check("relay", Ways(0, {}, {}), PASSED, 10)

    def test_every_scenario_of_requests_says_which_way_they_go(self):
        self.assertEqual(set(counts.SCENARIOS) - set(counts.WAYS), {"line", "accept", "life", "idle"})
