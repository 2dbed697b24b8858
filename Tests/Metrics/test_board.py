"""The board can be drawn: its expressions are PromQL, its panels stand beside each other, its variables are there."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import yaml

import board


class Board(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.board = board.load()

    def test_it_is_a_board_of_grafana_9(self):
        self.assertGreaterEqual(self.board["schemaVersion"], 36)
        self.assertEqual((self.board["uid"], self.board["title"]), ("waystation", "Waystation"))
        rows = [panel["title"] for panel in self.board["panels"] if panel["type"] == "row"]
        self.assertEqual(rows, ["Overview", "Requests", "Attempts and upstreams", "Recoveries", "Queue", "Credentials",
                                "Store", "Process"])

    def test_each_expression_is_promql(self):
        expressions = [board.plain(expression)[0] for _, expression, _ in board.targets(self.board)]
        expressions += [board.plain(selector)[0] for _, selector, _ in board.variables(self.board)]
        self.assertGreater(len(expressions), 60)
        # Two at once cannot be told apart by promtool, so each is a rule of its own name.
        document = {"groups": [{"name": "board", "rules": [
            {"record": f"board:{number}", "expr": expression} for number, expression in enumerate(expressions)]}]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "board.yml"
            path.write_text(yaml.safe_dump(document))
            done = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            document["groups"][0]["rules"].append({"record": "board:wrong", "expr": "sum by route (up)"})
            path.write_text(yaml.safe_dump(document))
            done = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0, "promtool takes what is no PromQL")

    def test_variables_are_there_and_used(self):
        there = {variable["name"] for variable in self.board["templating"]["list"]}
        self.assertEqual(there, {"datasource", "instance", "route"})
        for title, expression, _ in board.targets(self.board):
            names = set(board.plain(expression)[1])
            self.assertLessEqual(names, there | set(board.STAND_INS), title)
            if "ALERTS" not in expression:
                self.assertIn("instance", names, title)
            for operator in re.findall(r'(\S\S)"[^"]*\$(?:instance|route)', expression):
                self.assertEqual(operator, "=~", f"{title}: a variable may stand for several")

    def test_rates_fit_the_zoom(self):
        for title, expression, _ in board.targets(self.board):
            for window in re.findall(r"(?:rate|increase)\([^[]*\[([^\]]*)\]", expression):
                self.assertEqual(window, "$__rate_interval", title)

    def test_each_panel_asks_the_chosen_source(self):
        source = {"type": "prometheus", "uid": "${datasource}"}
        for panel in board.panels(self.board):
            if panel["type"] != "row":
                self.assertTrue(panel["targets"], panel["title"])
                for place in (panel, *panel["targets"]):
                    self.assertEqual(place["datasource"], source, panel["title"])

    def test_panels_stand_beside_each_other(self):
        taken, ids = {}, set()
        for panel in board.panels(self.board):
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            self.assertNotIn(panel["id"], ids, panel["title"])
            ids.add(panel["id"])
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, f"{panel['title']} lies on {taken.get((x, y))}")
                    taken[x, y] = panel["title"]


if __name__ == "__main__":
    unittest.main()
