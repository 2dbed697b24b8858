"""The alert rules as they are shipped, and copies of them that are changed on purpose."""

import copy
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "deploy/prometheus/waystation.rules.yml"
TESTS = sorted((ROOT / "Tests/Metrics/alerts").glob("*.yml"))

DURATION = re.compile(r"(?:\d+(?:ms|[smhdwy]))+")
PARTS = re.compile(r"(\d+)(ms|[smhdwy])")
SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31536000}
# A bound is a number that something is compared with.
BOUND = re.compile(r"(?P<operator>==|!=|>=|<=|>|<)\s*(?P<number>\d+(?:\.\d+)?)(?![\w.])")


def load(path=FILE):
    return yaml.safe_load(path.read_text())


def each(document, kind="alert"):
    return [rule for group in document["groups"] for rule in group["rules"] if kind in rule]


def only(document, alert):
    """The same with this alert alone, and all that is recorded."""
    changed = copy.deepcopy(document)
    for group in changed["groups"]:
        group["rules"] = [rule for rule in group["rules"] if rule.get("alert") in (None, alert)]
    return changed


def seconds(duration):
    return sum(int(count) * SECONDS[unit] for count, unit in PARTS.findall(duration))


def scaled(document, factor, bounds):
    """The same rules in a shorter time: every duration is `factor` times as short.

    Numbers of seconds and of what comes in a time are not told apart from others: `bounds` has them by alert, as pairs
    of a text and what takes its place.
    """
    def shorter(duration):
        return f"{max(1, round(seconds(duration) * 1000 / factor))}ms"

    changed, bounds = copy.deepcopy(document), dict(bounds)
    for rule in [*each(changed), *each(changed, "record")]:
        for old, new in bounds.pop(rule.get("alert"), []):
            if rule["expr"].count(old) != 1:
                raise ValueError(f"{rule['alert']} has no {old!r}, or several")
            rule["expr"] = rule["expr"].replace(old, new)
        rule["expr"] = re.sub(
            r"\[[^\]]*\]", lambda range_: DURATION.sub(lambda found: shorter(found[0]), range_[0]), rule["expr"])
        if "for" in rule:
            rule["for"] = shorter(rule["for"])
    if bounds:
        raise ValueError(f"there is no alert {next(iter(bounds))}")
    return changed


def mutants(rule):
    """Each way in which the rule could be a little wrong: what is wrong, and the wrong rule."""
    if "for" in rule:
        yield "waits for nothing", {key: value for key, value in rule.items() if key != "for"}
        yield "waits twice as long", {**rule, "for": f"{2 * round(seconds(rule['for']))}s"}
    expression = rule["expr"]

    def changed(found, text):
        return {**rule, "expr": expression[:found.start()] + text + expression[found.end():]}

    for found in BOUND.finditer(expression):
        operator, number = found["operator"], float(found["number"])
        if operator == "==":
            yield f"takes any number for {found[0]}", changed(found, ">= 0")
        elif number == 0:
            yield f"takes 0 for {found[0]}", changed(found, ">= -1" if ">" in operator else "<= 0")
            yield f"takes only much for {found[0]}", changed(found, f"{operator} 1e12")
        else:
            for factor in (0.9, 1.6):
                yield f"takes {number * factor:g} for {found[0]}", changed(found, f"{operator} {number * factor:g}")
    for found in re.finditer(r'(=~|!~)"([\w|]+)"', expression):
        words = found[2].split("|")
        for word in words if len(words) > 1 else []:
            rest = "|".join(other for other in words if other != word)
            yield f"leaves {word} out of {found[0]}", changed(found, f'{found[1]}"{rest}"')
