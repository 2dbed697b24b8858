"""The results: the figures of all contestants, and the table of targets; as text and as JSON."""

import json

from . import figures
from .scenarios import TITLES
from .targets import TARGETS, verdicts

COLUMNS = {
    "per_second": ("per second", "{:,.0f}"), "accepted_per_second": ("accepted/s", "{:,.0f}"), "cpu_us": ("CPU us", "{:.2f}"),
    "cpu_user_us": ("user", "{:.2f}"), "cpu_system_us": ("system", "{:.2f}"), "p99_us": ("p99 us", "{:,.0f}"),
    "checkpoints": ("checkpoints", "{:,.0f}"), "p99_during_us": ("p99 in them", "{:,.0f}"),
    "p99_apart_us": ("p99 apart", "{:,.0f}"),
    "resident_mb": ("resident MB", "{:,.1f}"), "idle_anonymous_bytes": ("idle", "{:,.0f}"),
    "idle_connection_bytes": ("idle connection", "{:,.0f}"), "in_flight_bytes": ("in flight", "{:,.0f}"),
    "in_backoff_bytes": ("in backoff", "{:,.0f}"), "nanoseconds": ("ns", "{:,.0f}"), "ready_ms": ("ms", "{:,.1f}"),
    "instructions": ("instructions", "{:,.0f}"), "allocations": ("allocations", "{:,.1f}"),
    "openssl": ("openssl", "{:,.0f}"), "statements": ("statements", "{:,.1f}"), "bytes": ("bytes", "{:,.0f}"), "client_busy": ("client busy", "{:.2f}"),
}


def summaries(results):
    return {
        scenario: {name: summary for name, rounds in table.items() if (summary := figures.summary(rounds))}
        for scenario, table in results.items()}


def document(session, machine, command, targets=TARGETS):
    """Everything, for a file: the machine, each round, what is made of them, and the targets."""
    return {
        "machine": machine, "versions": session.versions, "command": command, "notes": session.notes,
        "summaries": summaries(session.results), "targets": verdicts(session.results, targets), "disturbed": session.disturbed,
        "results": session.results,
    }


def write(document, path):
    with open(path, "w") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def print_all(document, out):
    print_notes(document, out)
    print_figures(document, out)
    print_targets(document, out)


def print_figures(document, out):
    for scenario, table in document["summaries"].items():
        print(f"\n{scenario}  {TITLES.get(scenario, '')}".rstrip(), file=out)
        shown = [key for key in COLUMNS if any(key in each for each in table.values())]
        rows = [["", *(COLUMNS[key][0] for key in shown)]]
        rows += [
            [name, *(cell(summary.get(key), COLUMNS[key][1]) for key in shown)] for name, summary in table.items()]
        print_rows(rows, out)


def print_rows(rows, out):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  " + "  ".join(f"{text:<{width}}" for text, width in zip(row, widths)).rstrip(), file=out)


def cell(figure, form):
    if figure is None:
        return ""
    text = form.format(figure["median"])
    if figure["low"] == figure["high"]:
        return text
    return f"{text} ({form.format(figure['low'])}-{form.format(figure['high'])})"


def print_targets(document, out):
    records = document["targets"]
    if not records:
        return
    print("\nTargets: medians of the rounds, or of their ratios; in brackets the quartiles", file=out)
    rows = [("", "scenario", "figure", "target", "reached", "")]
    for each in records:
        ratio = bool(each.get("to"))
        bound = f"{'>=' if each['is_least'] else '<='} {number(each['target'])}" + (f" x {each['to']}" if ratio else "")
        reached = number(each["reached"])
        if each["low"] != each["high"]:
            reached += f" ({number(each['low'])}-{number(each['high'])})"
        who = "" if each["who"] == "waystation" else f" [{each['who'].removeprefix('waystation, ')}]"
        rows.append((
            each["scenario"], TITLES.get(each["scenario"], "") + who, COLUMNS[each["figure"]][0], bound, reached,
            ("met" if each["met"] else f"missed by {each['missed_by']:.0%}")
            + (", disturbed" if each["scenario"] in document["disturbed"] else "")))
    print_rows(rows, out)
    met = sum(each["met"] for each in records)
    print(f"  {met} of {len(records)} met", file=out)
    if document["disturbed"]:
        print(
            f"  {', '.join(document['disturbed'])}: something else was at work in every set of rounds; what instructions and "
            "allocations say (counts) decides", file=out)


def number(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def print_notes(document, out):
    where = document["machine"]
    print(
        f"{where['processor']}, {where['cores']} cores, {where['memory_gib']} GiB, {where['system']}, Linux "
        f"{where['kernel']}; disk {where['disk']}, 4 KiB and fdatasync {where['sync_us']} us; load before "
        f"{where['load_before']}" + ("" if where["real_time"] else "; WITHOUT real-time priority"), file=out)
    print(", ".join(f"{name} {number}" for name, number in document["versions"].items() if number), file=out)
    for note in document["notes"]:
        print(note, file=out)
