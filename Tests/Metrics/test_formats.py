"""A daemon's figures are taken by the tools of both formats, and are the same in both."""

import subprocess
import unittest

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus_text

import exposed
from world import OPEN_METRICS, everything

from relay import eventually

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def check_metrics(text):
    return subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)


def requests(text):
    return sum(value for name, labels, value, _ in exposed.samples(text)
               if name == "waystation_requests_total" and labels["route"] == "good")


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.relay = everything(cls)
        got = cls.relay.ask("GET", "/r/good/good", [("Traceparent", f"00-{TRACE}-00f067aa0ba902b7-01")])
        assert got.status == 200, got
        # A page is given out for a moment: one with the request in it is waited for.
        eventually(lambda: requests(cls.relay.metrics()[1]) >= 2, "the request is told of")
        (cls.type, cls.text), (cls.open_type, cls.open) = cls.relay.metrics(), cls.relay.metrics(OPEN_METRICS)

    def test_the_media_types_are_those_of_the_formats(self):
        self.assertEqual(self.type, "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(self.open_type, "application/openmetrics-text; version=1.0.0; charset=utf-8")

    def test_promtool_finds_nothing_to_mend(self):
        done = check_metrics(self.text)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        self.assertNotEqual(check_metrics("# TYPE wrongs counter\nwrongs 1\n").returncode, 0)

    def test_the_parsers_take_all_of_it(self):
        names = {family.name for family in prometheus_text(self.text)}
        self.assertGreater(len(names), 50)
        self.assertEqual({family.name for family in open_metrics(self.open)}, names)
        with self.assertRaises(ValueError):
            list(open_metrics(self.open.replace("# EOF\n", "")))

    def test_both_have_the_same_series(self):
        def series(text):
            return {(name, tuple(sorted(labels.items()))) for name, labels, _, _ in exposed.samples(text)}

        self.assertEqual(series(self.text) ^ series(self.open), set())

    def test_each_has_its_help_and_its_type(self):
        for family in open_metrics(self.open):
            self.assertTrue(family.documentation.endswith("."), family)
            self.assertIn(family.type, ("counter", "gauge", "histogram", "summary"), family.name)
            for sample in family.samples:
                self.assertTrue(sample.name.startswith(("waystation_", "process_")), sample)
                self.assertGreaterEqual(sample.value, 0, sample)

    def test_a_trace_is_an_exemplar_of_its_request(self):
        found = {
            (sample.labels["route"], sample.exemplar.labels["trace_id"])
            for family in open_metrics(self.open) for sample in family.samples if sample.exemplar}
        self.assertEqual(found, {("good", TRACE)})
        self.assertNotIn(TRACE, self.text)

    def test_the_command_tells_what_a_textfile_may_hold(self):
        done = self.relay.command("metrics")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(check_metrics(done.stdout).returncode, 0)
        names = {name for name, *_ in exposed.samples(done.stdout)}
        # The node exporter tells its own.
        self.assertEqual([name for name in names if name.startswith("process_")], [])
        self.assertIn("waystation_requests_total", names)
        self.assertNotIn("# EOF", done.stdout)


if __name__ == "__main__":
    unittest.main()
