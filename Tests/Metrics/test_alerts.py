"""Each alert has a case where it fires, with its labels and texts, and cases where it just does not."""

import concurrent.futures
import copy
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import yaml

import rules

COMMAND = re.compile(r"`(waystation[^`]*|waystationd [^`]*|systemctl [^`]*|journalctl [^`]*)`")


def promtool(*words):
    return subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True)


def missing(document, tests):
    """The gaps between the rules and their tests, as sentences."""
    names = [rule["alert"] for rule in rules.each(document)]
    shown = {True: set(), False: set()}
    found = [f"{name} is there twice" for name in sorted({name for name in names if names.count(name) > 1})]
    for test in (test for of_file in tests for test in of_file["tests"]):
        for case in test.get("alert_rule_test", []):
            shown[bool(case.get("exp_alerts"))].add(case["alertname"])
            found += [
                f"{case['alertname']} is shown without its {part}" for alert in case.get("exp_alerts") or []
                for part in ("exp_labels", "exp_annotations") if not alert.get(part)]
    for name in names:
        if name not in shown[True]:
            found.append(f"no test shows {name} firing")
        if name not in shown[False]:
            found.append(f"no test shows {name} not firing")
    return found + [
        f"there is no alert {name}, which a test is about"
        for name in sorted((shown[True] | shown[False]) - set(names))]


class Alerts(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.document = rules.load()
        cls.tests = [yaml.safe_load(path.read_text()) for path in rules.TESTS]

    def test_the_rules_are_rules(self):
        done = promtool("check", "rules", rules.FILE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_fires_and_does_not_fire_as_its_tests_say(self):
        done = promtool("test", "rules", *rules.TESTS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_is_tested_both_ways(self):
        self.assertEqual(missing(self.document, self.tests), [])

    def test_one_that_is_not_tested_would_be_found(self):
        more = copy.deepcopy(self.document)
        more["groups"][0]["rules"].append({"alert": "Untested", "expr": "vector(1)"})
        self.assertEqual(
            missing(more, self.tests), ["no test shows Untested firing", "no test shows Untested not firing"])
        fewer = copy.deepcopy(self.tests)
        for of_file in fewer:
            for test in of_file["tests"]:
                test["alert_rule_test"] = [
                    case for case in test["alert_rule_test"]
                    if case["alertname"] != "WaystationDown" or case["exp_alerts"]]
        self.assertEqual(missing(self.document, fewer), ["no test shows WaystationDown not firing"])
        self.assertEqual(
            missing(rules.only(self.document, "WaystationDown"), [
                {"tests": [{"alert_rule_test": [
                    {"alertname": "WaystationDown", "exp_alerts": []},
                    {"alertname": "WaystationUp", "exp_alerts": [{"exp_labels": {"job": "a"}}]}]}]}]),
            ["WaystationUp is shown without its exp_annotations", "no test shows WaystationDown firing",
             "there is no alert WaystationUp, which a test is about"])

    def test_each_says_how_bad_it_is_what_is_wrong_and_what_to_do(self):
        for rule in rules.each(self.document):
            with self.subTest(rule["alert"]):
                self.assertRegex(rule["alert"], "^Waystation[A-Z]")
                self.assertIn(rule["labels"]["severity"], ("critical", "warning"))
                self.assertEqual(set(rule["annotations"]), {"summary", "description"})
                self.assertRegex(rule["annotations"]["description"], COMMAND)

    def test_one_that_is_a_little_wrong_fails_its_tests(self):
        """Bounds, waits and words are held by the tests, not only the names."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            survivors = list(pool.map(self.survivors, rules.each(self.document)))
        self.assertEqual([found for of_alert in survivors for found in of_alert], [])

    def survivors(self, rule):
        """The changes of an alert that its tests let pass; and none at all, should they not pass that."""
        changed = [("is as it is", rule), *rules.mutants(rule)]
        document = rules.only(self.document, rule["alert"])
        for group in document["groups"]:
            if any("alert" in found for found in group["rules"]):
                group["rules"] = [found for found in group["rules"] if "record" in found] + [
                    {**wrong, "alert": f"Alert{number}"} for number, (_, wrong) in enumerate(changed)]
        tests = []
        for test in (test for of_file in self.tests for test in of_file["tests"]):
            cases = [case for case in test["alert_rule_test"] if case["alertname"] == rule["alert"]]
            if cases:
                tests.append({**test, "alert_rule_test": [
                    {**case, "alertname": f"Alert{number}"} for number in range(len(changed)) for case in cases]})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "rules.yml").write_text(yaml.safe_dump(document))
            (path / "tests.yml").write_text(yaml.safe_dump(
                {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": tests}))
            done = promtool("test", "rules", path / "tests.yml")
        killed = set(map(int, re.findall(r"alertname: Alert(\d+), time", done.stdout + done.stderr)))
        right = [(f"{rule['alert']} is as it is", "fails")] if 0 in killed else []
        return right + [
            f"{rule['alert']}: {what}" for number, (what, _) in enumerate(changed) if number and number not in killed]


if __name__ == "__main__":
    unittest.main()
