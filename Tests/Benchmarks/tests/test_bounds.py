"""The guards hold: what costs more fails, and where it does is told."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import tempfile
import unittest

from bench import bounds
from bench.counts import Counts
from bench.load import HERE

loader = importlib.machinery.SourceFileLoader("instructions", os.path.join(HERE, "instructions"))
instructions = importlib.util.module_from_spec(importlib.util.spec_from_loader("instructions", loader))
loader.exec_module(instructions)


def costs(number, allocations=10):
    return Counts(
        {"instructions": number, "allocations": allocations}, {"tasks": number - 500, "RelayHTTP": 500},
        {"swift_task_create": (number - 500, "tasks"), "parse": (500, "RelayHTTP")})


class Guards(unittest.TestCase):
    def run_with(self, found, *words):
        """The exit status and what was printed, with the bounds file of this test."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = instructions.main(
                ["--scenarios", "relay", "--bounds", self.file, *words], lambda *_: found,
                lambda options: contextlib.nullcontext(options))
        return status, out.getvalue()

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.file = os.path.join(self.directory.name, "bounds.json")
        self.run_with(costs(10_000), "--accept")

    def test_what_is_accepted_may_grow_by_a_twentieth_and_no_more(self):
        self.assertEqual(self.run_with(costs(10_000))[0], 0)
        self.assertEqual(self.run_with(costs(10_500))[0], 0)
        self.assertEqual(self.run_with(costs(10_502))[0], 1)

    def test_one_allocation_more_in_ten_fails(self):
        status, said = self.run_with(costs(10_000, allocations=11))
        self.assertEqual(status, 1)
        self.assertIn("relay: 11.0 allocations are", said)

    def test_a_failure_names_the_group_that_grew_and_what_costs_most_in_it(self):
        status, said = self.run_with(costs(12_000))
        self.assertEqual(status, 1)
        self.assertRegex(said, r"\+2,000  tasks \(9,500 -> 11,500\)")
        self.assertIn("swift_task_create", said)
        self.assertNotIn("RelayHTTP", said)

    def test_a_lowered_bound_fails_what_passed_before(self):
        with open(self.file) as file:
            records = json.load(file)
        records["relay"]["bounds"]["instructions"] = 9_000
        with open(self.file, "w") as file:
            json.dump(records, file)
        status, said = self.run_with(costs(10_000))
        self.assertEqual(status, 1)
        self.assertIn("above the bound of 9,000", said)

    def test_what_became_much_cheaper_passes_and_asks_for_new_bounds(self):
        status, said = self.run_with(costs(5_000))
        self.assertEqual(status, 0)
        self.assertIn("--accept", said)

    def test_none_at_all_is_as_near_to_its_bound_as_can_be(self):
        self.run_with(costs(10_000, allocations=0.02), "--accept")
        status, said = self.run_with(costs(10_000, allocations=0))
        self.assertEqual(status, 0)
        self.assertNotIn("--accept", said)

    def test_accepting_one_scenario_leaves_the_bounds_of_the_others(self):
        with open(self.file) as file:
            records = json.load(file)
        records["life"] = records["relay"]
        with open(self.file, "w") as file:
            json.dump(records, file)
        self.run_with(costs(20_000), "--accept")
        with open(self.file) as file:
            after = json.load(file)
        self.assertEqual(after["life"]["bounds"]["instructions"], 10_501)
        self.assertEqual(after["relay"]["bounds"]["instructions"], 21_001)

    def test_the_bounds_of_the_tree_are_of_every_scenario(self):
        with open(instructions.BOUNDS) as file:
            records = json.load(file)
        self.assertEqual(set(records), set(instructions.counts.SCENARIOS))
        for record in records.values():
            for name, reached in record["reached"].items():
                self.assertAlmostEqual(record["bounds"][name], bounds.bound(name, reached), delta=reached / 100 + 0.2)
