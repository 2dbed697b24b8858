"""The plots of README.md."""

import os
import tempfile
import unittest
from xml.etree import ElementTree

from bench import plots


def figure(median, low=None, high=None):
    return {"median": median, "low": low or median, "high": high or median}


class Plots(unittest.TestCase):
    document = {
        "machine": {"cores": 2, "processor": "A & B", "system": "Debian", "disk": "ext4"}, "command": "Tests/run <x>",
        "versions": {"nginx": "1.22.1", "redis": "7.0"},
        "summaries": {"1": {
            "waystation": {"cpu_us": figure(12, 11, 14), "per_second": figure(80_000)},
            "nginx": {"cpu_us": figure(24), "per_second": figure(40_000)}}}}

    def test_an_axis_ends_at_or_above_the_most_and_has_few_round_steps(self):
        for most, expected in (
            (12, (2, 12)), (13, (5, 15)), (0.9, (0.2, 1)), (65_000, (20_000, 80_000)), (100, (20, 100)), (7, (2, 8)),
        ):
            with self.subTest(most=most):
                step, end = plots.scale(most)
                self.assertAlmostEqual(step, expected[0])
                self.assertAlmostEqual(end, expected[1])

    def test_the_length_of_a_bar_is_its_share_of_the_axis(self):
        root = ElementTree.fromstring(plots.plot(self.document, plots.PLOTS["relay.svg"]))
        widths = [float(each.get("width")) for each in root.iter("{http://www.w3.org/2000/svg}rect")]
        self.assertEqual(len(widths), 4)
        self.assertAlmostEqual(widths[1] / widths[0], 2, places=2)
        self.assertAlmostEqual(widths[3] / widths[2], 0.5, places=2)

    def test_a_plot_tells_the_versions_of_those_that_it_shows(self):
        self.assertEqual(list(plots.versions(self.document, plots.PLOTS["relay.svg"])), ["nginx 1.22.1"])

    def test_only_what_was_measured_is_drawn(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(plots.draw(self.document, directory), ["kept.svg"])
            self.assertEqual(os.listdir(directory), ["relay.svg"])
