// The last hour of a route, drawn.

// A picture; without words for it, one that says what stands in words beside it.
const drawing = (look, width, height, label, nodes) => h("svg." + look, { viewBox: `0 0 ${width} ${height}`, width,
  height, preserveAspectRatio: "none", ...(label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }) }, nodes);
const rect = (look, x, y, width, height) => h("rect." + look, { x, y, width, height });
const line = (look, x1, y1, x2, y2) => h("line." + look, { x1, y1, x2, y2 });

// How wide a minute is, and an hour.
const STEP = 3;
const HOUR = 60 * STEP;

// A bar for each minute: all of them, the stand-ins and, at the bottom and with a mark below, the failures.
function bars(hour, height) {
  const most = Math.max(1, ...hour.all);
  const y = part => height - Math.round(part / most * height);
  const nodes = [];
  hour.all.forEach((count, index) => {
    if (!count) return;
    const x = HOUR + (index - hour.all.length) * STEP;
    const bar = (look, from, to) => {
      const tall = Math.max(1, Math.round((to - from) / most * height));
      nodes.push(rect(look, x, y(from) - tall, STEP - 1, tall));
    };
    const failed = Math.min(count, hour.failed[index] || 0);
    const helped = Math.min(count - failed, hour.helped[index] || 0);
    bar("all", 0, count);
    if (helped) {
      bar("helped", failed, failed + helped);
      // Striped, since a colour alone says nothing to some.
      nodes.push(line("helped", x + 1, Math.max(0, Math.min(y(failed) - 3, y(failed + helped))), x + 1, y(failed)));
    }
    if (failed) {
      bar("failed", 0, failed);
      nodes.push(rect("failed", x, height + 1, STEP - 1, 2));
    }
  });
  return drawing("bars", HOUR, height + 3, hourText(hour), [line("base", 0, height + 0.5, HOUR, height + 0.5), nodes]);
}

// Half and nearly all of the times, minute by minute, on a scale of powers.
function times({ p50, p99, p50now, p99now }, height) {
  const known = [...p50, ...p99].filter(value => value !== null);
  if (!known.length) return null;
  const [low, high] = [Math.log10(Math.max(0.1, Math.min(...known))), Math.log10(Math.max(1, ...known))];
  const y = value => 2 + (height - 4) * (1 - (Math.log10(Math.max(0.1, value)) - low) / Math.max(0.5, high - low));
  const curve = (look, list) => {
    // A minute without a figure is a gap.
    const runs = [[]];
    list.forEach((value, index) => {
      if (value === null) runs.push([]);
      else runs.at(-1).push([HOUR + (index - list.length) * STEP + 1, decimals(y(value), 1)]);
    });
    return runs.filter(run => run.length).map(run => run.length === 1
      ? h("circle." + look, { cx: run[0][0], cy: run[0][1], r: 1.5 }) : h("polyline." + look, { points: run.join(" ") }));
  };
  return drawing("bars", HOUR, height,
    `Times of the last hour: half within ${short(p50now || 0)}, 99 of 100 within ${short(p99now || 0)} lately`,
    [curve("p99", p99), curve("p50", p50)]);
}

// A share of a limit.
function meter(used, limit) {
  const share = limit ? Math.min(1, used / limit) : 0;
  return drawing(share > 0.8 ? "meter high" : "meter", 40, 6, null,
    [rect("rest", 0, 0, 40, 6), rect("used", 0, 0, decimals(40 * share, 1), 6)]);
}
