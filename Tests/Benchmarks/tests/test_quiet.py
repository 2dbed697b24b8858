"""A run judges its own quiet."""

import io
import unittest

from bench import report, scenarios


class Recorded:
    """A session whose sets of rounds are known before."""

    def __init__(self, *rates):
        self.rates, self.results, self.disturbed, self.notes = list(rates), {}, [], []
        self.note = self.notes.append

    def turns(self, key, _):
        self.results[key] = {"nginx": [{"per_second": rate, "p99_us": 100} for rate in self.rates.pop(0)]}


CALM, LOUD, LOUDER = [100, 101, 102], [100, 140, 180], [100, 200, 300]


class Quiet(unittest.TestCase):
    def run_with(self, *rates):
        session = Recorded(*rates)
        scenarios.quietly(session, "1", [])
        return session, [each["per_second"] for each in session.results["1"]["nginx"]]

    def test_a_quiet_set_of_rounds_is_the_only_one(self):
        session, kept = self.run_with(CALM, LOUD)
        self.assertEqual((kept, session.notes, session.disturbed), (CALM, [], []))

    def test_a_disturbed_one_is_told_and_run_again(self):
        session, kept = self.run_with(LOUD, CALM)
        self.assertEqual((kept, session.disturbed), (CALM, []))
        self.assertEqual(len(session.notes), 1)
        self.assertIn("1: disturbed", session.notes[0])

    def test_after_three_the_quietest_is_kept_and_the_scenario_named(self):
        session, kept = self.run_with(LOUDER, LOUD, LOUDER)
        self.assertEqual((kept, session.disturbed, session.rates), (LOUD, ["1"], []))

    def test_the_report_says_what_decides_then(self):
        out = io.StringIO()
        report.print_targets({"disturbed": ["1"], "targets": [{
            "scenario": "1", "who": "waystation", "figure": "cpu_us", "target": 1, "is_least": False, "reached": 2, "low": 2,
            "high": 2, "met": False, "missed_by": 1}]}, out)
        self.assertIn("missed by 100%, disturbed", out.getvalue())
        self.assertIn("instructions and allocations", " ".join(out.getvalue().split()))
