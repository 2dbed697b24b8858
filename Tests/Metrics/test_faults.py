"""Debian's Prometheus, with the rules as they are shipped, tells of each fault by name, and of nothing else."""

import os
import time
import unittest

import board
import faults
from alertmanager import Alertmanager
from prometheus import Prometheus

# How long the slowest alert may take: its windows and waits come to half of this.
PATIENCE = 75


class Faults(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.faults = {}
        for name, kind in faults.ALL.items():
            cls.faults[name] = kind()
            cls.addClassCleanup(cls.faults[name].close)
        for fault in cls.faults.values():
            fault.start()
        # One with the inhibit rules as they are shipped, and one without any.
        cls.managers = cls.inhibiting, cls.bare = Alertmanager(), Alertmanager(inhibits=False)
        for manager in cls.managers:
            cls.addClassCleanup(manager.close)
            manager.wait_until_ready()
        cls.prometheus = Prometheus({name: fault.relay for name, fault in cls.faults.items()}, cls.managers)
        cls.addClassCleanup(cls.prometheus.close)
        cls.prometheus.wait_until_ready()
        cls.seen = {}
        cls.wait(lambda: cls.are_up(), 30, "every daemon is scraped")
        for fault in cls.faults.values():
            fault.plant()
        cls.wait(
            lambda: not cls.lacking() and all(fault.has_ended for fault in cls.faults.values()), PATIENCE,
            "every fault is told of")
        cls.wait(lambda: not cls.untold(), PATIENCE, "an operator is told of every fault")
        if watch := int(os.environ.get("METRICS_WATCH", 0)):
            cls.wait(lambda: False, watch, None)

    @classmethod
    def are_up(cls):
        found = [target["health"] for target in cls.prometheus.api("targets")["activeTargets"]]
        return len(found) == len(cls.faults) and set(found) == {"up"}

    @classmethod
    def wait(cls, condition, seconds, what):
        """Notes meanwhile every alert that fires. What is lacking is for the tests to tell."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for labels, annotations in cls.prometheus.firing():
                cls.seen.setdefault((labels.get("instance"), labels["alertname"]), []).append((labels, annotations))
            if condition():
                return
            time.sleep(0.25)
        if what:
            print(f"after {seconds} s it is not so that {what}")

    @classmethod
    def lacking(cls):
        return [
            f"{name}: {alert} with {places}" for name, fault in cls.faults.items()
            for alert, places in fault.expected.items()
            if not any(places.items() <= labels.items() for labels, _ in cls.seen.get((name, alert), []))]

    @classmethod
    def untold(cls):
        """The alerts that an Alertmanager has not told of yet: of all where it tells all, and of those that it must tell."""
        return [(name, alert) for name, fault in cls.faults.items()
                for alert in set(fault.expected) - cls.bare.names(instance=name)] + [
            (name, alert) for name, fault in cls.faults.items()
            for alert in fault.told - cls.inhibiting.names(instance=name)]

    def test_an_operator_is_told_of_each_cause_once(self):
        told = {name: self.inhibiting.names(instance=name) - fault.apart for name, fault in self.faults.items()}
        self.assertEqual(told, {name: fault.told for name, fault in self.faults.items()})
        # Without the rules several are told of.
        for name, fault in self.faults.items():
            self.assertLessEqual(set(fault.expected), self.bare.names(instance=name), name)
        self.assertEqual(len(self.bare.names(instance="upstream-down")), 3)
        self.assertEqual(len(self.bare.names(instance="token-endpoint-down")), 2)

    def test_each_fault_is_told_of_by_name(self):
        self.assertEqual(self.lacking(), [])
        for name, fault in self.faults.items():
            for alert, places in fault.expected.items():
                for labels, annotations in self.seen[name, alert]:
                    text = annotations["summary"] + annotations["description"]
                    self.assertNotIn("error expanding", text)
                    self.assertNotIn("<no value>", text)
                    for place in {**places, "instance": name}.values():
                        self.assertIn(place, text, labels)

    def test_nothing_else_fires(self):
        said = sorted({
            f"{name}: {labels['alertname']} of {labels}: {annotations['summary']}"
            for (name, alert), found in self.seen.items() for labels, annotations in found
            if name not in self.faults or (
                alert not in self.faults[name].possible
                and not self.faults[name].expected.get(alert, {"": ""}).items() <= labels.items())})
        self.assertEqual(said, [])

    def test_the_good_day_was_a_whole_one(self):
        self.assertTrue(self.faults["hiccups"].has_ended)
        begins = self.prometheus.api(
            "query", query='changes(process_start_time_seconds{instance="hiccups"}[5m])')["result"]
        self.assertGreaterEqual([int(found["value"][1]) for found in begins], [1])

    def test_the_board_shows_what_there_is(self):
        """Its queries are answered, and but for what these daemons have not got each shows something."""
        empty = set()
        for title, expression, _ in board.targets(board.load()):
            expression = board.plain(expression, {"instance": ".*", "route": ".*", "__rate_interval": "5s"})[0]
            if not self.prometheus.api("query", query=expression)["result"]:
                empty.add(title)
        self.assertEqual(empty - {"Alerts that fire"}, {"Patience asked for", "TLS handshakes", "Time for a permit"})

    def test_a_failing_upstream_is_told_of_with_why(self):
        texts = {annotations["description"] for _, annotations in
                 self.seen.get(("upstream-down", "WaystationUpstreamFailing"), [])}
        self.assertTrue(any("Most often as connection_refused" in text for text in texts), texts)

    def test_no_rule_fails(self):
        found = self.prometheus.api("rules")["groups"]
        self.assertTrue(found)
        failing = [
            (rule["name"], rule.get("lastError")) for group in found for rule in group["rules"]
            if rule["health"] != "ok"]
        self.assertEqual(failing, [])

    def test_no_sample_is_told_twice(self):
        own = self.prometheus.get("/metrics")
        for name in ("sample_duplicate_timestamp", "sample_out_of_order", "sample_out_of_bounds"):
            self.assertIn(f"\nprometheus_target_scrapes_{name}_total 0\n", own)

    def test_exemplars_lead_to_the_callers_trace(self):
        found = self.prometheus.api(
            "query_exemplars", query="waystation_request_duration_seconds_bucket",
            start=time.time() - 600, end=time.time() + 1)
        traces = {
            (series["seriesLabels"]["instance"], series["seriesLabels"]["route"], exemplar["labels"]["trace_id"])
            for series in found for exemplar in series["exemplars"]}
        self.assertEqual(traces, {("nothing", "orders", faults.TRACE)})


if __name__ == "__main__":
    unittest.main()
