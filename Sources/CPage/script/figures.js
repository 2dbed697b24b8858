// The last hour of a route, drawn.

const sum = list => list.reduce((total, value) => total + value, 0);

// The figures of a route's hour, of requests or, where kept jobs go by it, of attempts: one request that succeeded
// must not hide deliveries that fail. Null where nothing is known.
function hourOf(history, { name, jobs }) {
  const found = history?.routes.find(route => route.name === name);
  if (!found) return null;
  const counts = { requests: sum(found.requests), failedRequests: sum(found.failures), fallbacks: sum(found.fallbacks),
    attempts: sum(found.attempts), failedAttempts: sum(found.failed_attempts) };
  const isOfRequests = !counts.attempts || counts.requests > 0 && !Object.values(jobs).some(Boolean)
    && !found.attempts.some((count, index) => count && !found.requests[index]);
  const hour = isOfRequests
    ? { what: "request", all: found.requests, failed: found.failures, helped: found.fallbacks, p50: found.p50_ms,
      p99: found.p99_ms }
    : { what: "attempt", all: found.attempts, failed: found.failed_attempts, helped: [], p50: found.attempt_p50_ms,
      p99: found.attempt_p99_ms };
  // The last column still runs: what is told of "now" is the one before it, of times the latest of a few before that.
  const at = Math.max(0, hour.all.length - 2);
  const last = list => list.slice(Math.max(0, at - 4), at + 1).findLast(value => value !== null) ?? list.at(-1) ?? null;
  return { ...counts, ...hour, rate: hour.all.length > 1 ? hour.all[at] / (history.interval_ms / 1000) : null,
    p50now: last(hour.p50), p99now: last(hour.p99) };
}

const rateText = rate => (rate === null ? "–" : rate === 0 ? "0/s" : rate < 0.095
  ? decimals(rate * 60, 1) + "/min" : decimals(rate, rate < 10 ? 1 : 0) + "/s");

// Something is never told as nothing, nor as everything.
function percent(part, all) {
  if (!all) return "–";
  const share = 100 * part / all;
  if (part && share < 0.1) return "<0.1%";
  return part < all && share > 99 ? ">99%" : decimals(share, part && share < 10 ? 1 : 0) + "%";
}

function hourText(hour) {
  const { requests, attempts } = hour;
  const helped = hour.fallbacks ? `, ${hour.fallbacks} answered by a stand-in` : "";
  const hasMore = attempts !== requests || hour.failedAttempts !== hour.failedRequests;
  return "Last hour: " + joined("; ", (requests || !attempts) && `${plural(requests, "request")}, ${hour.failedRequests} failed${helped}`,
    attempts > 0 && hasMore && `${plural(attempts, "attempt")}, ${hour.failedAttempts} failed`);
}

// How many of a hundred failed, of the requests and, where those are not the same, of the attempts.
function failedText(hour) {
  const ofRequests = percent(hour.failedRequests, hour.requests);
  const ofAttempts = percent(hour.failedAttempts, hour.attempts);
  return hour.what === "request" || ofRequests === ofAttempts ? ofRequests
    : (hour.requests ? ofRequests + "; " : "") + ofAttempts + " of attempts";
}

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

// A word of the interface as a badge; what it means shows at the pointer, and stands in words where it matters.
const LOOKS = {
  good: "ok serving succeeded valid closed",
  bad: "failing dead open full stalled gone refused expired reload_failed",
  warn: "degraded busy paused probing retrying held forced_open forced_closed unconfigured draining refreshing cancelled",
};
const lookOf = word => Object.keys(LOOKS).find(look => LOOKS[look].split(" ").includes(word)) || "plain";
const badge = (kind, word) => word
  ? h("span.badge " + lookOf(word), { title: meaning(kind, word)?.text }, spaced(word)) : "–";

// The meanings of words and their remedies, as `waystation explain` says them.
function glossary(pairs, route) {
  const rows = pairs.map(([kind, word]) => [kind + word, word, meaning(kind, word, route)]).filter(([,, known]) => known)
    .map(([key, word, { text, remedy }]) => h("div.meaning#" + key, h("dt", word),
      h("dd", text, remedy && h("span.remedy", ` Do: ${remedy}`))));
  return rows.length && section("words", "What the words mean", h("dl.glossary", rows));
}
