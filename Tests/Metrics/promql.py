"""Reads PromQL as far as it takes to know which metrics an expression asks for, and which labels its result has.

promtool says whether an expression is well formed. It does not know the metrics that there are: one that asks for a
label nobody sets, or joins what never has the same labels, is well formed and never true. `shape` finds that.
"""

import re

TOKEN = re.compile(r"""
    (?P<blank>\s+|\#[^\n]*)
  | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)
  | (?P<duration>(?:\d+(?:ms|[smhdwy]))+)(?![\w.])
  | (?P<number>0x[0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[a-zA-Z_:][\w:]*)
  | (?P<mark>=~|!~|==|!=|<=|>=|[-+*/%^<>=(){}\[\],:@])
""", re.VERBOSE)

# From the weakest to the strongest.
OPERATORS = [["or"], ["and", "unless"], ["==", "!=", "<=", "<", ">=", ">"], ["+", "-"], ["*", "/", "%", "atan2"], ["^"]]
AGGREGATIONS = {
    "sum", "min", "max", "avg", "group", "stddev", "stdvar", "count", "count_values", "bottomk", "topk", "quantile"}
# The functions that give one number; every other function gives the labels of its vector.
SCALARS = {"time", "scalar", "pi"}
NUMBERS = {"vector", "minute", "hour", "day_of_week", "day_of_month", "month", "year"}


class Wrong(Exception):
    """An expression that asks for what there is not."""


class Known:
    """The metrics there are: of each its labels, and of a label the values it can have where they are known."""

    def __init__(self, labels, values=None, target=("job", "instance")):
        self.labels = {name: set(found) | set(target) for name, found in labels.items()}
        self.values = values or {}
        self.asked = set()

    def select(self, name, matchers):
        if name not in self.labels:
            raise Wrong(f"there is no metric {name}")
        self.asked.add(name)
        for label, operator, value in matchers:
            if label not in self.labels[name]:
                raise Wrong(f"{name} has no label {label}")
            self._match(name, label, operator, value)
        return set(self.labels[name])

    def _match(self, name, label, operator, value):
        """Each word of a matcher is one that the label can have."""
        values = self.values.get((name, label))
        if values is None or not value:
            return
        words = value.split("|") if operator in ("=~", "!~") else [value]
        for word in words:
            if not any(re.fullmatch(word, found) if "~" in operator else word == found for found in values):
                raise Wrong(f"{name} has no {label}={word!r}, but {', '.join(sorted(values))}")


def shape(text, known):
    """The labels of the expression's result; None where it is one number."""
    return Parser(text, known).whole()


class Parser:
    def __init__(self, text, known):
        self.known, self.tokens, self.at = known, [], 0
        place = 0
        while place < len(text):
            found = TOKEN.match(text, place)
            if not found:
                raise Wrong(f"not PromQL: {text[place:place + 20]!r}")
            if found.lastgroup != "blank":
                self.tokens.append((found.lastgroup, found[0]))
            place = found.end()

    def whole(self):
        result = self.binary(0)
        if self.at < len(self.tokens):
            raise Wrong(f"not PromQL from {self.peek()!r}")
        return result

    def peek(self):
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def kind(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self, *wanted):
        word = self.peek()
        if wanted and word not in wanted:
            raise Wrong(f"{word!r} in place of {' or '.join(wanted)}")
        self.at += 1
        return word

    def skip(self, word):
        if self.peek() == word:
            self.at += 1
            return True
        return False

    def binary(self, level):
        if level == len(OPERATORS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in OPERATORS[level]:
            operator, matching = self.take(), self.matching()
            left = joined(operator, left, self.binary(level + 1), **matching)
        return left

    def matching(self):
        found = {}
        self.skip("bool")
        if self.peek() in ("on", "ignoring"):
            word = self.take()
            found[word] = self.labels()
        if self.peek() in ("group_left", "group_right"):
            found["many"] = self.take()
            found["include"] = self.labels() if self.peek() == "(" else []
        return found

    def labels(self):
        self.take("(")
        found = []
        while not self.skip(")"):
            found.append(self.take())
            self.skip(",")
        return found

    def unary(self):
        while self.peek() in ("+", "-"):
            self.take()
        result = self.atom()
        while self.peek() in ("[", "offset", "@"):
            if self.take() == "[":
                while self.take() != "]":
                    pass
            else:
                self.skip("-")
                self.take()
        return result

    def atom(self):
        kind, word = self.kind(), self.take()
        if kind in ("number", "string", "duration"):
            return None
        if word == "(":
            result = self.binary(0)
            self.take(")")
            return result
        if kind != "name":
            raise Wrong(f"not PromQL at {word!r}")
        if word in AGGREGATIONS and self.peek() in ("(", "by", "without"):
            return self.aggregation(word)
        if self.peek() == "(":
            return self.call(word)
        return self.known.select(word, self.matchers() if self.peek() == "{" else [])

    def matchers(self):
        self.take("{")
        found = []
        while not self.skip("}"):
            label, operator, value = self.take(), self.take("=", "!=", "=~", "!~"), self.take()
            found.append((label, operator, value[1:-1].replace("\\\\", "\\")))
            self.skip(",")
        return found

    def arguments(self):
        self.take("(")
        found = []
        while not self.skip(")"):
            begin = self.at
            found.append((self.binary(0), self.tokens[begin:self.at]))
            self.skip(",")
        return found

    def aggregation(self, word):
        grouping = (self.take(), self.labels()) if self.peek() in ("by", "without") else None
        labels = self.arguments()[-1][0]
        if grouping is None and self.peek() in ("by", "without"):
            grouping = (self.take(), self.labels())
        how, named = grouping or ("by", [])
        if missing := set(named) - labels:
            raise Wrong(f"{word} {how} ({', '.join(sorted(missing))}): its vector has {told(labels)}")
        if word in ("topk", "bottomk"):
            return labels
        return labels - set(named) if how == "without" else set(named)

    def call(self, word):
        arguments = self.arguments()
        vectors = [labels for labels, _ in arguments if labels is not None]
        if word in SCALARS:
            return None
        if word in NUMBERS and not (vectors and word != "vector"):
            return set()
        if word == "absent":
            tokens = arguments[0][1]
            is_selector = tokens[1:2] == [("mark", "{")] and tokens[-1] == ("mark", "}")
            return {tokens[i - 1][1] for i in range(len(tokens)) if tokens[i][1] == "="} if is_selector else set()
        if not vectors:
            raise Wrong(f"{word} of no vector")
        if word == "histogram_quantile":
            if "le" not in vectors[0]:
                raise Wrong("histogram_quantile of what has no label le")
            return vectors[0] - {"le"}
        if word in ("label_replace", "label_join"):
            return vectors[0] | {arguments[1][1][0][1][1:-1]}
        return vectors[0]


def told(labels):
    return ", ".join(sorted(labels)) or "no label"


def joined(operator, left, right, on=None, ignoring=None, many=None, include=()):
    """The labels of what an operator makes of two sides, which have to be able to match."""
    is_set = operator in ("and", "or", "unless")
    if left is None or right is None:
        if is_set or on or ignoring:
            raise Wrong(f"{operator} joins vectors, and not a number")
        return right if left is None else left
    if on is not None:
        for side, labels in (("left", left), ("right", right)):
            if missing := set(on) - labels:
                raise Wrong(f"{operator} on ({', '.join(sorted(missing))}): the {side} side has {told(labels)}")
        keys = set(on)
    else:
        if missing := set(ignoring or []) - (left | right):
            raise Wrong(f"{operator} ignoring ({', '.join(sorted(missing))}): neither side has it")
        keys = (left | right) - set(ignoring or [])
        # Of `or` both sides may come, each with its own.
        if operator != "or" and not keys <= left & right:
            raise Wrong(f"{operator} joins {told(left)} with {told(right)}, which never are the same")
    if is_set:
        return left | right if operator == "or" else left
    if many:
        of_many, of_one = (left, right) if many == "group_left" else (right, left)
        if missing := set(include) - of_one:
            raise Wrong(f"{many} ({', '.join(sorted(missing))}): the other side has {told(of_one)}")
        if more := of_one - keys - set(include):
            raise Wrong(f"{many}: the other side may have several for one, which differ in {told(more)}")
        return of_many | set(include)
    for side, labels in (("left", left), ("right", right)):
        if more := labels - keys - set(ignoring or []):
            raise Wrong(f"{operator}: the {side} side may have several for one, which differ in {told(more)}")
    return keys if on is not None else left - set(ignoring or [])
