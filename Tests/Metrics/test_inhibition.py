"""One cause is told of once: Debian's Alertmanager with the inhibit rules as they are shipped, and one without any."""

import itertools
import re
import subprocess
import time
import unittest

import alertmanager
import exposed
import rules
from promql import shape
from world import everything, of_a_fleet

HERE = {"job": "waystation"}
# The names that are told of a cause, and the alerts that fire, with their labels beside the instance.
CAUSES = {
    "upstream-down": (
        {"WaystationRouteFailing"},
        [("UpstreamFailing", "route upstream"), ("BreakerOpen", "route upstream"), ("RouteFailing", "route"),
         ("RetryBudgetExhausted", "route"), ("RouteStandsIn", "route"), ("RouteSaturated", "route"),
         ("BacklogGrowing", "route"), ("JobTooOld", "route"), ("DeadLetters", "route"), ("JobsExpired", "route"),
         ("RequestsRefused", "route code=overloaded")]),
    "upstream-made-up-for": (
        {"WaystationUpstreamFailing"},
        [("UpstreamFailing", "route upstream"), ("BreakerOpen", "route upstream"), ("RouteStandsIn", "route"),
         ("RetryBudgetExhausted", "route"), ("BacklogGrowing", "route")]),
    "upstream-throttles": (
        {"WaystationUpstreamThrottles"},
        [("UpstreamThrottles", "route upstream"), ("RateLimited", "route"), ("JobTooOld", "route"),
         ("RequestsRefused", "route code=rate_limited")]),
    "never-fails": (
        {"WaystationNeverFailsBreached"},
        [("NeverFailsBreached", "route"), ("RouteFailing", "route"), ("UpstreamFailing", "route upstream")]),
    "credential-failing": (
        {"WaystationCredentialFailing"},
        [("CredentialFailing", "credential"), ("CredentialExpiring", "credential"),
         ("RouteFailing", "route credential"), ("UpstreamFailing", "route upstream"),
         ("BacklogGrowing", "route credential")]),
    "credential-refused": (
        {"WaystationCredentialRefused"},
        [("CredentialRefused", "credential refused"), ("RouteFailing", "route credential refused"),
         ("UpstreamFailing", "route upstream"), ("BreakerOpen", "route upstream")]),
    "credential-refused-and-another-outage": (
        {"WaystationCredentialRefused", "WaystationRouteFailing"},
        [("CredentialRefused", "credential refused"), ("RouteFailing", "route=one credential refused"),
         ("RouteFailing", "route=two credential"), ("UpstreamFailing", "route=two upstream")]),
    "route-paused": (
        {"WaystationRoutePaused"}, [("RoutePaused", "route"), ("BacklogGrowing", "route"), ("JobTooOld", "route")]),
    "queue-full": (
        {"WaystationQueueNearlyFull"},
        [("QueueNearlyFull", ""), ("BacklogGrowing", "route"), ("RequestsRefused", "route code=queue_full")]),
    "memory-short": (
        {"WaystationRefusingWork"},
        [("RefusingWork", ""), ("Shedding", ""), ("BodiesFull", ""), ("RequestsRefused", "route= code=overloaded")]),
    "descriptors-low": ({"WaystationDescriptorsLow"}, [("DescriptorsLow", ""), ("ConnectionsRefused", "")]),
    "journal-blocked": ({"WaystationJournalBlocked"}, [("JournalBlocked", ""), ("JournalLost", "")]),
    "disk-full": (
        {"WaystationStoreFull"},
        [("StoreFull", "directory"), ("StoreDiskNearlyFull", "directory"), ("StoreNearlyFull", "directory"),
         ("StoreFilling", "directory"), ("StoreDiskFilling", "directory")]),
    "disk-filling": (
        {"WaystationStoreDiskNearlyFull"},
        [("StoreDiskNearlyFull", "directory"), ("StoreNearlyFull", "directory"), ("StoreDiskFilling", "directory")]),
    "disk-stalled": (
        {"WaystationStoreStalled"},
        [("StoreStalled", "directory"), ("StoreSlow", "directory"), ("BacklogGrowing", "route"),
         ("QueueNearlyFull", "")]),
    "disk-lies": (
        {"WaystationStoreCorrupt"},
        [("StoreCorrupt", "directory"), ("StoreErrors", "directory kind=corrupt"), ("StoreSlow", "directory")]),
    "store-gone": (
        {"WaystationStoreGone"},
        [("StoreGone", "directory"), ("StoreStalled", "directory"), ("StoreErrors", "directory kind=failed"),
         ("BacklogGrowing", "route")]),
    "database-away": (
        {"WaystationStoreUnavailable"},
        [("StoreUnavailable", "directory"), ("LeaseOld", ""), ("SnapshotOld", ""), ("StoreSlow", "directory"),
         ("BacklogGrowing", "route"), ("JobTooOld", "route")]),
    "database-slow": (
        {"WaystationLeaseOld"},
        [("LeaseOld", ""), ("StoreSlow", "directory"), ("BacklogGrowing", "route")]),
    "daemon-down": (
        {"WaystationDown"},
        [("Down", ""), ("Restarting", ""), ("JobsExpired", "route"), ("CredentialFailing", "credential"),
         ("StoreErrors", "directory kind=failed")]),
    "textfile-old": ({"WaystationFiguresStale"}, [("FiguresStale", "file"), ("BreakerOpen", "route upstream")]),
    # Several causes are told of one by one.
    "two-routes": (
        {"WaystationRouteFailing", "WaystationBreakerOpen"},
        [("RouteFailing", "route=one"), ("BreakerOpen", "route=two upstream")]),
    "two-upstreams": (
        {"WaystationUpstreamFailing", "WaystationBreakerOpen"},
        [("UpstreamFailing", "route upstream=one"), ("BreakerOpen", "route upstream=two")]),
    "credential-of-another": (
        {"WaystationCredentialFailing", "WaystationRouteFailing"},
        [("CredentialFailing", "credential=one"), ("RouteFailing", "route credential=two"),
         ("RouteFailing", "route=free")]),
    "errors-of-two-kinds": (
        {"WaystationStoreCorrupt", "WaystationStoreErrors"},
        [("StoreCorrupt", "directory"), ("StoreErrors", "directory kind=corrupt"),
         ("StoreErrors", "directory kind=failed")]),
    "room-and-memory": (
        {"WaystationRefusingWork", "WaystationRequestsRefused"},
        [("RefusingWork", ""), ("RequestsRefused", "route code=queue_full")]),
}
SEVERITY = {rule["alert"]: rule["labels"]["severity"] for rule in rules.each(rules.load())}


def fired(cause):
    for name, places in CAUSES[cause][1]:
        labels = {**HERE, "instance": cause, "alertname": "Waystation" + name, "severity": SEVERITY["Waystation" + name]}
        for place in places.split():
            label, _, value = place.partition("=")
            labels[label] = value if "=" in place else "x"
        yield {label: value for label, value in labels.items() if value}


def names(matchers):
    """The alerts that matchers are about, of all that there are."""
    found = set(SEVERITY)
    for matcher in matchers:
        label, operator, value = re.fullmatch(r'(\w+) (=~|!~|=|!=) "([^"]*)"', matcher).groups()
        if label == "alertname":
            fits = {name for name in found if re.fullmatch(value, name)}
            found = found - fits if operator.startswith("!") else fits
    return found


class Inhibition(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.document = alertmanager.load()
        cls.pairs = [
            (source, target, rule) for rule in cls.document["inhibit_rules"]
            for source in names(rule["source_matchers"]) for target in names(rule["target_matchers"])]

    def test_alertmanager_takes_the_file(self):
        done = subprocess.run(["amtool", "check-config", alertmanager.FILE], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_alerts_it_names_are_there(self):
        named = set(re.findall(r"Waystation\w+", alertmanager.FILE.read_text()))
        self.assertEqual(named - set(SEVERITY), set())

    def test_no_warning_inhibits_a_critical_alert(self):
        self.assertEqual(
            {(source, target) for source, target, rule in self.pairs
             if (SEVERITY[source], SEVERITY[target]) == ("warning", "critical") and source != "WaystationFiguresStale"},
            set())

    def test_no_two_inhibit_each_other(self):
        after = {}
        for source, target, _ in self.pairs:
            after.setdefault(source, set()).add(target)

        def reached(name):
            found, new = set(), {name}
            while new:
                new = set().union(*(after.get(one, set()) for one in new)) - found
                found |= new
            return found

        self.assertEqual([name for name in SEVERITY if name in reached(name)], [])

    def test_what_has_to_be_equal_is_a_label_of_both(self):
        relay = everything(self)
        known = exposed.known(of_a_fleet(self) + relay.metrics()[1])
        for rule in rules.each(rules.load(), "record"):
            known.labels[rule["record"]] = shape(rule["expr"], known)
        labels = {rule["alert"]: (shape(rule["expr"], known) or {"job", "instance"}) | set(rule["labels"])
                  for rule in rules.each(rules.load())}
        for source, target, rule in self.pairs:
            if target == "WaystationAbsent" or source == "WaystationAbsent":
                continue
            self.assertLessEqual(set(rule["equal"]), labels[source], source)
            self.assertLessEqual(set(rule["equal"]), labels[target], f"{target} of {source}")

    def test_each_cause_is_told_of_once(self):
        managers = [alertmanager.Alertmanager(), alertmanager.Alertmanager(inhibits=False)]
        for manager in managers:
            self.addCleanup(manager.close)
            manager.wait_until_ready()
            manager.raise_(list(itertools.chain.from_iterable(map(fired, CAUSES))))
        bare = {cause: {labels["alertname"] for labels in fired(cause)} for cause in CAUSES}
        end = time.monotonic() + 30
        while time.monotonic() < end and any(managers[1].names(instance=cause) != bare[cause] for cause in CAUSES):
            time.sleep(0.1)
        # Both have had the same time since then.
        self.assertEqual({cause: managers[1].names(instance=cause) for cause in CAUSES}, bare)
        while time.monotonic() < end and any(not managers[0].names(instance=cause) for cause in CAUSES):
            time.sleep(0.1)
        self.assertEqual(
            {cause: managers[0].names(instance=cause) for cause in CAUSES},
            {cause: told for cause, (told, _) in CAUSES.items()})


if __name__ == "__main__":
    unittest.main()
