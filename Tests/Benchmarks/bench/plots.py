"""The plots that README.md shows, as SVG that suits a light and a dark page."""

import math
import os
from xml.sax.saxutils import escape

WIDTH, LABELS, VALUES, LEFT = 860, 190, 120, 16
BAR, GAP = 20, 8
STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-size: 15px; font-weight: 600 } .small { font-size: 11px; fill: #59636e }
  .bar { fill: #8c959f } .own { fill: #0969da } .spread { stroke: #1f2328; stroke-width: 1.5 }
  .grid { stroke: #d1d9e0; stroke-width: 1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .small { fill: #9198a1 }
    .bar { fill: #656c76 } .own { fill: #4493f8 } .spread { stroke: #f0f6fc } .grid { stroke: #3d444d }
  }
"""
NAMES = {
    "waystation": "Waystation", "waystation, one stream": "Waystation, one stream", "nginx": "nginx",
    "haproxy": "HAProxy", "envoy": "Envoy", "caddy": "Caddy", "floor": "C without features", "redis": "Redis (LPUSH)",
    "redis reliable": "Redis (3 operations)", "rabbitmq": "RabbitMQ", "beanstalkd": "beanstalkd",
    "postgresql": "PostgreSQL", "celery": "Celery + Redis", "sidekiq": "Sidekiq + Redis", "awa-pg": "awa + PostgreSQL",
}
# File, then of each panel: scenario, figure, title, what the axis says.
PLOTS = {
    "relay.svg": (
        ("1", "cpu_us", "A request relayed: CPU", "microseconds of one core per request; less is better"),
        ("1", "per_second", "A request relayed: throughput", "requests per second on one core; more is better"),
    ),
    "kept.svg": (
        ("7", "per_second", "A job accepted, on disk before the answer", "jobs per second on one core; more is better"),
        ("8", "per_second", "A job's whole life: accepted, delivered over HTTP, settled (Redis and PostgreSQL alone deliver nothing)",
         "lives per second on one core; more is better"),
    ),
}


def draw(document, directory):
    """Draws those of the plots that there are figures for; returns the others' names."""
    os.makedirs(directory, exist_ok=True)
    missing = []
    for name, panels in PLOTS.items():
        if any(scenario not in document["summaries"] for scenario, *_ in panels):
            missing.append(name)
            continue
        with open(os.path.join(directory, name), "w") as file:
            file.write(plot(document, panels))
    return missing


def plot(document, panels):
    y, parts = LEFT, []
    for scenario, figure, title, axis in panels:
        table = {name: each[figure] for name, each in document["summaries"][scenario].items() if figure in each}
        text, y = panel(table, title, axis, y)
        parts.append(text)
    where = document["machine"]
    for line in (
        f"Medians of the rounds, with their quartiles. One core of {where['cores']} ({where['processor']}), load and "
        f"upstream on another; {where['system']}, {where['disk']}.",
        ", ".join(versions(document, panels)),
        document["command"],
    ):
        parts.append(f'<text class="small" x="{LEFT}" y="{y}">{escape(line)}</text>')
        y += 16
    title = escape("; ".join(title for _, _, title, _ in panels))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" role="img">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n")


def versions(document, panels):
    """Of those that the panels show, each once."""
    shown = {name for scenario, *_ in panels for name in document["summaries"][scenario]}
    return dict.fromkeys(
        f"{NAMES.get(name, name).partition(' (')[0].partition(' +')[0]} {number}"
        for name, number in document["versions"].items() if number and name in shown)


def panel(table, title, axis, top):
    """Bars, and the place below them."""
    left, right = LEFT + LABELS, WIDTH - VALUES
    step, end = scale(max(each["high"] for each in table.values()))
    bottom = top + 34 + len(table) * (BAR + GAP)

    def at(value):
        return left + (right - left) * value / end

    parts = [
        f'<text class="title" x="{LEFT}" y="{top + 12}">{escape(title)}</text>',
    ]
    for index in range(round(end / step) + 1):
        x = at(index * step)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{top + 26}" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(
            f'<text class="small" x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{short(index * step)}</text>')
    for index, (name, each) in enumerate(table.items()):
        y = top + 32 + index * (BAR + GAP)
        middle, kind = y + BAR / 2, "own" if name.startswith("waystation") else "bar"
        parts += [
            f'<text x="{left - 8}" y="{middle + 4.5}" text-anchor="end">{escape(NAMES.get(name, name))}</text>',
            f'<rect class="{kind}" x="{left}" y="{y}" width="{at(each["median"]) - left:.1f}" height="{BAR}" rx="2"/>',
            f'<line class="spread" x1="{at(each["low"]):.1f}" y1="{middle}" x2="{at(each["high"]):.1f}" y2="{middle}"/>',
            f'<text x="{max(at(each["high"]), at(each["median"])) + 8:.1f}" y="{middle + 4.5}">'
            f"{short(each['median'])}</text>",
        ]
    parts.append(
        f'<text class="small" x="{(left + right) / 2:.1f}" y="{bottom + 30}" text-anchor="middle">{escape(axis)}</text>')
    return "\n".join(parts), bottom + 58


def scale(most):
    """A step of 1, 2 or 5 times a power of ten, and the end of an axis with at most six of them."""
    power = 10 ** math.floor(math.log10(most / 6))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power * 6 >= most * 0.999)
    return step, step * math.ceil(most / step - 0.001)


def short(value):
    """Three digits that count."""
    if value >= 1_000:
        return f"{value:,.0f}" if value < 10_000 else f"{value / 1000:,.1f}k".replace(".0k", "k")
    return f"{value:.3g}"
