"""Medians, spreads, ratios: as a table or as JSON lines."""

import json
import statistics

LOAD_COLUMNS = (
    ("requests_per_second", "req/s", "{:,.0f}"),
    ("cpu_us", "CPU us/req", "{:.2f}"),
    ("cpu_user_us", "user", "{:.2f}"),
    ("cpu_system_us", "system", "{:.2f}"),
    ("p50_us", "p50 us", "{:,.0f}"),
    ("p99_us", "p99 us", "{:,.0f}"),
    ("errors", "errors", "{:,.0f}"),
)
MEMORY_COLUMNS = (
    ("idle_bytes", "idle", "{:,.0f}"),
    ("idle_connection_bytes", "per idle connection", "{:,.0f}"),
    ("in_flight_bytes", "per request in flight", "{:,.0f}"),
    ("in_backoff_bytes", "per job in backoff", "{:,.0f}"),
)
START_COLUMNS = (("ready_ms", "exec to ready, ms", "{:.2f}"),)
RATIOS = ("requests_per_second", "cpu_us", "p99_us", "idle_bytes", "idle_connection_bytes", "ready_ms")


def summarize(runs):
    """The median, the least and the greatest of each figure over the rounds."""
    figures = {}
    for key in sorted({key for run in runs for key in run}):
        values = [run[key] for run in runs if key in run]
        figures[key] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return figures


def rows(results):
    """One record per scenario and contestant, with ratios to the peers that ran in the same session."""
    for scenario, contestants in results.items():
        summaries = {name: summarize(runs) for name, runs in contestants.items() if runs}
        for name, summary in summaries.items():
            record = {"scenario": scenario, "contestant": name, "rounds": len(contestants[name]), **summary}
            for peer in ("nginx", "haproxy"):
                if peer == name or peer not in summaries:
                    continue
                record["to_" + peer] = {
                    key: round(summary[key]["median"] / summaries[peer][key]["median"], 3)
                    for key in RATIOS
                    if key in summary and key in summaries[peer] and summaries[peer][key]["median"] > 0
                }
            yield record


def print_json(results, out):
    for record in rows(results):
        print(json.dumps(record), file=out)


def print_table(results, out):
    last = None
    for record in rows(results):
        keys = LOAD_COLUMNS if "cpu_us" in record else START_COLUMNS if "ready_ms" in record else MEMORY_COLUMNS
        if record["scenario"] != last:
            last = record["scenario"]
            print(f"\n{last} (median of {record['rounds']}; least to greatest)", file=out)
        print(f"  {record['contestant']}", file=out)
        for key, title, form in keys:
            if key not in record:
                continue
            figure = record[key]
            text = form.format(figure["median"])
            spread = f"{form.format(figure['min'])} to {form.format(figure['max'])}"
            ratios = "  ".join(
                f"{record['to_' + peer][key]:.2f} x {peer}"
                for peer in ("nginx", "haproxy") if key in record.get("to_" + peer, {}))
            print(f"    {title:<22}{text:>12}   ({spread})   {ratios}", file=out)
