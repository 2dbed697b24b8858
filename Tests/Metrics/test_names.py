"""Rules and board ask for what a running daemon tells, and name commands that the program takes."""

import json
import re
import shlex
import unittest

import board
import exposed
import rules
from promql import Wrong, shape
from world import everything, of_a_fleet

# Labels that say where something is wrong; an alert that has one tells it.
PLACES = {"instance", "route", "upstream", "credential", "file", "directory", "code"}


class Names(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.relay = everything(cls)
        cls.text = of_a_fleet(cls) + cls.relay.metrics()[1]
        cls.document, cls.board = rules.load(), board.load()

    def known(self):
        """The names there are, with those that the rules record."""
        known = exposed.known(self.text)
        for rule in rules.each(self.document, "record"):
            known.labels[rule["record"]] = shape(rule["expr"], known)
        return known

    def test_rules_ask_for_what_there_is(self):
        known = self.known()
        for rule in rules.each(self.document):
            with self.subTest(rule["alert"]):
                shape(rule["expr"], known)
                for query in re.findall(r'printf "([^"]*\{[^"]*)"', " ".join(rule["annotations"].values())):
                    shape(query.replace("%q", '"x"'), known)

    def test_alerts_say_where(self):
        known = self.known()
        for rule in rules.each(self.document):
            with self.subTest(rule["alert"]):
                labels = shape(rule["expr"], known)
                texts = " ".join(rule["annotations"].values())
                named = set(re.findall(r"\$labels\.(\w+)", texts))
                self.assertLessEqual(named, labels)
                self.assertLessEqual(labels & PLACES, named)

    def test_the_board_asks_for_what_there_is(self):
        known = self.known()
        for title, expression, legend in board.targets(self.board):
            with self.subTest(title):
                labels = shape(board.plain(expression)[0], known)
                self.assertLessEqual(set(re.findall(r"\{\{(\w+)\}\}", legend)), labels)
        for name, selector, label in board.variables(self.board):
            with self.subTest(name):
                self.assertIn(label, shape(board.plain(selector)[0], known))

    def test_every_metric_is_looked_at(self):
        known = self.known()
        for _, expression, _ in board.targets(self.board):
            shape(board.plain(expression)[0], known)
        for rule in rules.each(self.document):
            shape(rule["expr"], known)
        asked = {re.sub("_(bucket|sum|count)$", "", name) for name in known.asked}
        # Address space says nothing.
        self.assertEqual(set(exposed.families(self.text)) - asked, {"process_virtual_memory_bytes"})

    def test_what_there_is_not_would_be_found(self):
        known = self.known()
        for expression in (
                "waystation_request_total", 'waystation_jobs{state="died"}', "sum by (upstream) (waystation_jobs)",
                'waystation_breaker_state{state=~"open|half_open"}', "waystation_store_bytes{route=\"x\"}",
                "waystation_config_last_reload_successful * on (job, instance) group_left (file) waystation_config_info"):
            with self.assertRaises(Wrong, msg=expression):
                shape(expression, known)

    def test_words_are_the_programs(self):
        """Kinds and codes come as they happen, so that they are looked up where their meanings are."""
        words = set()
        for rule in [*rules.each(self.document), *rules.each(self.document, "record")]:
            for found in re.findall(r'\b(?:kind|code)\s*(?:=~|!~|=|!=)\s*"([^"]+)"', rule["expr"]):
                words |= set(found.split("|"))
        # Of the store, where they are all told from the first moment.
        words -= {labels["kind"] for name, labels, *_ in exposed.samples(self.text) if "store_errors" in name}
        self.assertIn("breaker_open", words)
        for word in sorted(words):
            self.assertEqual(self.relay.command("explain", word).returncode, 0, word)
        self.assertNotEqual(self.relay.command("explain", "breaker_opened").returncode, 0)

    def test_commands_are_the_programs(self):
        """2 is what the program says to what it does not take."""
        places = {"route": "kept", "upstream": "u1", "credential": "login", "file": str(self.relay.file),
                  "code": "overloaded", "directory": "/", "instance": "shop"}
        tried = set()
        for rule in rules.each(self.document):
            text = re.sub(
                r"\{\{ with [^}]*\}\}|\{\{ end -?\}\}", "",
                rule["annotations"]["description"].replace("{{ . }}", "kept").replace("{{ .Labels.kind }}", "dns_error"))
            text = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: places[found[1]], text)
            for command in re.findall(r"`(waystation [^`]*)`", text):
                words = shlex.split(command)[1:]
                if words == ["explain"] or command in tried:
                    continue
                tried.add(command)
                with self.subTest(rule["alert"], command=command):
                    done = self.relay.command(*words)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(len(tried), 15)


if __name__ == "__main__":
    unittest.main()
