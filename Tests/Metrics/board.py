"""The Grafana board as it is shipped: what it asks for, and how it stands."""

import json
import re

from rules import ROOT

FILE = ROOT / "deploy/grafana/waystation.json"
# The text in the place of each variable; ranges have a unit, and the others a word.
STAND_INS = {"__rate_interval": "5m", "__interval": "1m", "__range": "3h"}


def load():
    return json.loads(FILE.read_text())


def panels(board):
    return [inner for panel in board["panels"] for inner in (panel, *panel.get("panels", []))]


def plain(expression, values=STAND_INS):
    """The expression with its variables replaced, and their names."""
    names = re.findall(r"\$\{?(\w+)\}?", expression)
    return re.sub(r"\$\{?(\w+)\}?", lambda found: values.get(found[1], "x"), expression), names


def targets(board):
    """Each query: the title of its panel, its expression and its legend."""
    for panel in panels(board):
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"], target.get("legendFormat", "")
    for annotation in board["annotations"]["list"]:
        yield annotation["name"], annotation["expr"], annotation.get("textFormat", "")


def variables(board):
    """The queries of variables: name, selector and the label that is asked for."""
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
            yield variable["name"], found[1], found[2]
