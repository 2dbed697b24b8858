"""The figures that a daemon tells at /metrics, as the reader of expressions takes them."""

import re

from promql import Known

SAMPLE = re.compile(r'^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: # (.*))?$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
# Labels whose values are all told from the first moment, 0 where there is nothing yet.
CLOSED = {"outcome", "state", "result"}
# The metrics that are not the daemon's own: of Prometheus, and of the node exporter.
OTHERS = {
    "up": set(), "ALERTS": {"alertname", "alertstate", "severity"}, "node_textfile_mtime_seconds": {"file"}}


def samples(text):
    """Each sample: name, labels, value and what stands behind it (an exemplar)."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            found = SAMPLE.match(line)
            if not found:
                raise ValueError(f"not a sample: {line!r}")
            yield found[1], dict(LABEL.findall(found[2] or "")), float(found[3]), found[4]


def families(text):
    """The type of each metric by its name."""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))


def known(text):
    """The names and labels of the text, and of what comes from elsewhere."""
    labels, values = {name: set(found) for name, found in OTHERS.items()}, {}
    for name, found, _, _ in samples(text):
        if labels.setdefault(name, set(found)) != set(found):
            raise ValueError(f"{name} has now these labels and now others")
        for label in CLOSED & set(found):
            values.setdefault((name, label), set()).add(found[label])
    return Known(labels, values)
