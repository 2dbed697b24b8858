"""A scenario as SVG, beside its control: load, goodput, attempts, backlog, window and breaker over time."""

import importlib
import math
import pathlib
import sys
from xml.sax.saxutils import escape

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Benchmarks"))
from bench import plots  # noqa: E402

from world.figures import called  # noqa: E402

WIDTH, LEFT, GAP, TOP, TALL, BETWEEN, STRIP = 860, 64, 30, 92, 96, 34, 12
# At most so many points in one line.
POINTS = 180
STYLE = plots.STYLE + """
  .offered { fill: #8c959f; fill-opacity: .3 } .good { stroke: #0969da } .attempts { stroke: #bc4c00 }
  .backlog { fill: #8250df; fill-opacity: .25; stroke: #8250df } .window { stroke: #1a7f37 }
  .under { stroke: #8c959f }
  .open { fill: #cf222e } .probing { fill: #d4a72c } .closed { fill: #8c959f; fill-opacity: .25 }
  .line { fill: none; stroke-width: 1.6; stroke-linejoin: round } .thin { fill: none; stroke-width: 1 }
  @media (prefers-color-scheme: dark) {
    .good { stroke: #4493f8 } .attempts { stroke: #f0883e } .backlog { fill: #ab7df8; stroke: #ab7df8 }
    .window { stroke: #3fb950 } .open { fill: #f85149 } .probing { fill: #d29922 }
  }
"""
LEGEND = (
    ("offered", "offered", "rect"), ("attempts", "attempts at the upstream", "line"), ("good", "successes", "line"),
    ("backlog", "waiting", "rect"), ("window", "window", "line"), ("under", "under way", "line"),
    ("open", "breaker open", "rect"), ("probing", "probing", "rect"))


def draw(results, directory):
    """One file for each scenario and case; returns their names."""
    directory.mkdir(parents=True, exist_ok=True)
    names = []
    for result in results:
        if result["control"] or "record" not in result:
            continue
        control = next((other for other in results if other["control"] and "record" in other and (
            other["scenario"], other["case"]) == (result["scenario"], result["case"])), None)
        name = called(result["scenario"], result["case"]) + ".svg"
        (directory / name).write_text(picture(result, control))
        names.append(name)
    return names


def picture(result, control=None):
    scenario = importlib.import_module(result["scenario"])
    columns = [("with the defaults", result["record"])]
    if control:
        columns.append((f"control: {scenario.CONTROL}", control["record"]))
    title = scenario.TITLE + (scenario.words(**result["case"]) if result["case"] else "")
    wide = (WIDTH - LEFT - GAP * len(columns)) / len(columns)
    panels = [rates, backlog, widths]
    most = [max(panel(record)[0] for _, record in columns) for panel in panels]
    end = max(record["end"] for _, record in columns)
    height = TOP + len(panels) * (TALL + BETWEEN) + STRIP + 54
    parts = [f'<text class="title" x="16" y="26">{escape(title)}</text>', *legend(46)]
    for index, (heading, record) in enumerate(columns):
        left = LEFT + index * (wide + GAP)
        parts.append(f'<text class="small" x="{left:.0f}" y="{TOP - 22}">{escape(heading)}</text>')
        for row, panel in enumerate(panels):
            top, steps = TOP + row * (TALL + BETWEEN), scale(panel, most[row])
            parts += axis(left, top, wide, steps, is_first=index == 0, name=panel.__doc__)
            for kind, klass, points in panel(record)[1]:
                parts.append(shape(kind, klass, points, left, top, wide / end, TALL / steps[-1][0]))
        top = TOP + len(panels) * (TALL + BETWEEN) - 14
        parts += strip(record, left, top, wide, end, is_first=index == 0)
    command = "Tests/Scenarios/run " + called(result["scenario"], result["case"])
    parts.append(f'<text class="small" x="16" y="{height - 10}">{escape(command)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img">\n<title>{escape(title)}</title>\n<style>{STYLE}</style>\n' + "\n".join(parts) + "\n</svg>\n")


# The content of a panel: (the most of it, its lines and areas as (kind, class, [(second, value)])).


def rates(record):
    """per second"""
    slice = record["slice"]
    lines = {name: thinned([(index * slice, count / slice) for index, count in enumerate(record[name])])
             for name in ("offered", "attempts", "good")}
    return highest(lines.values()), [
        ("area", "offered", lines["offered"]), ("line", "line attempts", lines["attempts"]),
        ("line", "line good", lines["good"])]


def backlog(record):
    """waiting"""
    line = thinned([(at, unfinished + pending) for at, unfinished, pending, *_ in record["looks"]], max)
    return highest([line]), [("area", "backlog", line)]


def widths(record):
    """at once"""
    window = [(at, window) for at, _, _, window, *_ in record["looks"] if window is not None]
    under = [(at, under) for at, _, _, _, under, _ in record["looks"]]
    # Logarithms: that a window of 5 is half of one of 10 matters more than what either is of 256.
    window, under = ([(at, math.log10(max(1, value))) for at, value in thinned(line, choose)]
                     for line, choose in ((window, min), (under, max)))
    return highest([window, under]), [("line", "thin under", under), ("line", "line window", window)]


def scale(panel, most):
    """The steps of an axis: (place, what stands there)."""
    if panel is widths:
        return [(power, plots.short(10 ** power)) for power in range(max(1, math.ceil(most - 0.001)) + 1)]
    step, limit = plots.scale(max(most, 10))
    steps = [index * step for index in range(round(limit / step) + 1)]
    # Every other where they would stand too close.
    every = 2 if len(steps) > 5 else 1
    return [(at, plots.short(at) if (len(steps) - 1 - index) % every == 0 else "") for index, at in enumerate(steps)]


def highest(lines):
    return max((value for line in lines for _, value in line), default=0)


def thinned(points, choose=None):
    """No more points than can be seen: the means of neighbours, or what `choose` takes of them."""
    count = -(-len(points) // POINTS)
    groups = [points[index:index + count] for index in range(0, len(points), count)] if points else []
    choose = choose or (lambda values: sum(values) / len(values))
    return [(group[0][0], choose([value for _, value in group])) for group in groups]


# The drawing of the panels.


def shape(kind, klass, points, left, top, per_second, per_unit):
    placed = [(left + at * per_second, top + TALL - value * per_unit) for at, value in points]
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    if kind == "line" or not placed:
        return f'<polyline class="{klass}" points="{text}"/>'
    base = top + TALL
    return f'<polygon class="{klass}" points="{placed[0][0]:.1f},{base} {text} {placed[-1][0]:.1f},{base}"/>'


def axis(left, top, wide, steps, is_first, name):
    parts = []
    for at, words in steps:
        y = top + TALL * (1 - at / steps[-1][0])
        parts.append(f'<line class="grid" x1="{left:.0f}" y1="{y:.1f}" x2="{left + wide:.0f}" y2="{y:.1f}"/>')
        if is_first and words:
            parts.append(f'<text class="small" x="{left - 6:.0f}" y="{y + 4:.1f}" text-anchor="end">{words}</text>')
    if is_first:
        parts.append(f'<text class="small" x="16" y="{top - 8}">{name}</text>')
    return parts


def strip(record, left, top, wide, end, is_first):
    """The breaker's states one after the other, and the seconds below them."""
    looks, parts, begin = record["looks"], [], 0
    for index, look in enumerate(looks):
        if index + 1 < len(looks) and looks[index + 1][5] == look[5]:
            continue
        until = looks[index + 1][0] if index + 1 < len(looks) else record["end"]
        if look[5] in ("open", "probing", "closed"):
            x, width = left + begin / end * wide, (until - begin) / end * wide
            parts.append(f'<rect class="{look[5]}" x="{x:.1f}" y="{top}" width="{width:.1f}" height="{STRIP}"/>')
        begin = until
    if is_first:
        parts.append(f'<text class="small" x="16" y="{top + 10}">breaker</text>')
    step, _ = plots.scale(end)
    for index in range(int(end / step) + 1):
        x = left + index * step / end * wide
        parts.append(f'<text class="small" x="{x:.1f}" y="{top + STRIP + 16}" text-anchor="middle">'
                     f"{plots.short(index * step)}{' s' if index == 0 else ''}</text>")
    return parts


def legend(y):
    parts, x = [], 16
    for klass, words, kind in LEGEND:
        mark = (f'<rect class="{klass}" x="{x}" y="{y - 9}" width="14" height="10"/>' if kind == "rect" else
                f'<line class="line {klass}" x1="{x}" y1="{y - 4}" x2="{x + 14}" y2="{y - 4}"/>')
        parts += [mark, f'<text class="small" x="{x + 18}" y="{y}">{words}</text>']
        x += 30 + 6.2 * len(words)
    return parts
