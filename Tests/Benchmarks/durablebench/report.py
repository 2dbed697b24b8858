"""Medians, spreads, and what was aimed for: as a table or as JSON lines."""

import json

from relaybench.report import summarize

COLUMNS = (
    ("jobs_per_second", "jobs/s", "{:,.0f}"),
    ("cpu_us", "CPU us/job", "{:.1f}"),
    ("accepted_per_second", "accepted/s", "{:,.0f}"),
    ("p50_us", "p50 us", "{:,.0f}"),
    ("p99_us", "p99 us", "{:,.0f}"),
    ("p999_us", "p99.9 us", "{:,.0f}"),
    ("max_us", "slowest us", "{:,.0f}"),
    ("checkpoints", "checkpoints", "{:,.0f}"),
    ("p99_during_us", "p99 in checkpoints", "{:,.0f}"),
    ("p99_apart_us", "p99 apart from them", "{:,.0f}"),
    ("share_during", "share in checkpoints", "{:.2f}"),
    ("ready_ms", "exec to ready, ms", "{:,.1f}"),
    ("resident_mb", "resident MB", "{:,.1f}"),
    ("client_busy", "client busy", "{:.2f}"),
)

# Scenario (its beginning), figure, whom it is compared with (None: nobody), the bound, whether it is the least.
TARGETS = (
    ("accept, 64 clients", "jobs_per_second", "redis", 1.2, True),
    ("accept, 64 clients", "jobs_per_second", "beanstalkd", 5, True),
    ("life, 64 clients", "jobs_per_second", "celery", 40, True),
    ("life, 64 clients", "jobs_per_second", None, 10_000, True),
    ("accept behind a backlog", "jobs_per_second", "0 jobs", 0.85, True),
    ("life behind a backlog", "jobs_per_second", "0 jobs", 0.85, True),
    ("accept behind a backlog", "resident_mb", "0 jobs", 1.15, False),
    ("life behind a backlog", "resident_mb", "0 jobs", 1.15, False),
    ("restart behind a backlog", "ready_ms", None, 1_000, False),
)


def verdicts(summaries):
    for prefix, figure, peer, bound, is_least in TARGETS:
        for scenario, contestants in summaries.items():
            if not scenario.startswith(prefix):
                continue
            ours = next((name for name in contestants if name not in ("redis", "beanstalkd", "celery", "0 jobs")), None)
            if ours is None or peer is not None and peer not in contestants or figure not in contestants[ours]:
                continue
            value = contestants[ours][figure]["median"]
            if peer is not None:
                value /= max(contestants[peer][figure]["median"], 1e-9)
            yield {
                "scenario": scenario, "contestant": ours, "figure": figure, "to": peer, "value": round(value, 3),
                "target": bound, "is_least": is_least, "met": value >= bound if is_least else value <= bound,
            }


def print_json(results, notes, out, has_targets=True):
    summaries = _summaries(results)
    for scenario, contestants in summaries.items():
        for name, summary in contestants.items():
            print(json.dumps({"scenario": scenario, "contestant": name, **summary}), file=out)
    for verdict in verdicts(summaries) if has_targets else ():
        print(json.dumps(verdict), file=out)
    for note in notes:
        print(json.dumps({"note": note}), file=out)


def print_table(results, notes, out, has_targets=True):
    summaries = _summaries(results)
    for note in notes:
        print(note, file=out)
    for scenario, contestants in summaries.items():
        rounds = max(len(runs) for runs in results[scenario].values())
        print(f"\n{scenario} (median of {rounds}; least to greatest)", file=out)
        shown = [column for column in COLUMNS if any(column[0] in each for each in contestants.values())]
        width = max(12, *(len(name) for name in contestants)) + 2
        for key, title, form in shown:
            print(f"  {title:<21}", end="", file=out)
            for name, summary in contestants.items():
                text = ""
                if key in summary:
                    figure = summary[key]
                    text = form.format(figure["median"])
                    if rounds > 1:
                        text += f" ({form.format(figure['min'])} to {form.format(figure['max'])})"
                print(f"{name + ' ' + text if text else '':<{width + 32}}", end="", file=out)
            print(file=out)
    if not has_targets:
        print("\nToo short to be held to targets: it shows that all of it runs.", file=out)
        return
    print("\nAgainst the peers and the targets", file=out)
    for each in verdicts(summaries):
        sign, peer = (">=" if each["is_least"] else "<="), (f" x {each['to']}" if each["to"] else "")
        what = dict((key, title) for key, title, _ in COLUMNS)[each["figure"]]
        print(
            f"  {'met   ' if each['met'] else 'MISSED'} {each['scenario']}, {each['contestant']}: {what} "
            f"{each['value']:,.2f}{peer} (target {sign} {each['target']:,g}{peer})", file=out)


def _summaries(results):
    return {
        scenario: {
            name: summarize([{key: value for key, value in run.items() if key != "begin"} for run in runs])
            for name, runs in contestants.items() if runs}
        for scenario, contestants in results.items()}
