// The last hour of a route, drawn.

const sum = list => (list || []).reduce((total, value) => total + (value || 0), 0);

// The figures of a route's hour, of requests or, where kept jobs go by it, of attempts: one request that succeeded
// must not hide deliveries that fail. Null where nothing is known.
function hourOf(history, { name, jobs }) {
  const found = history?.routes.find(route => route.name === name);
  if (!found) return null;
  const tried = sum(found.attempts);
  const isOfRequests = !tried || sum(found.requests) > 0 && !Object.values(jobs || {}).some(Boolean)
    && !found.attempts.some((count, index) => count && !found.requests[index]);
  const hour = isOfRequests
    ? { what: "request", all: found.requests, failed: found.failures, helped: found.fallbacks, p50: found.p50_ms,
      p99: found.p99_ms }
    : { what: "attempt", all: found.attempts, failed: found.failed_attempts, helped: [], p50: found.attempt_p50_ms,
      p99: found.attempt_p99_ms };
  // The last column still runs: what is told of "now" is the one before it.
  const at = Math.max(0, hour.all.length - 2);
  const last = list => {
    for (let index = at; index >= Math.max(0, at - 4);
      index -= 1) if (list && list[index] != null) return list[index];
    return list && list[list.length - 1] != null ? list[list.length - 1] : null;
  };
  return {
    ...hour, requests: sum(found.requests), failedRequests: sum(found.failures), attempts: tried,
    failedAttempts: sum(found.failed_attempts), fallbacks: sum(found.fallbacks), began: history.began_at, interval: history.interval_ms, total: sum(hour.all),
    rate: hour.all.length > 1 ? hour.all[at] / (history.interval_ms / 1000) : null,
    p50now: last(hour.p50), p99now: last(hour.p99),
  };
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
  return "Last hour: " + [(requests || !attempts) && `${plural(requests, "request")}, ${hour.failedRequests} failed${helped}`,
    attempts && hasMore && `${plural(attempts, "attempt")}, ${hour.failedAttempts} failed`].filter(Boolean).join("; ");
}

// How many of a hundred failed, of the requests and, where those are not the same, of the attempts.
function failedText(hour) {
  const ofRequests = percent(hour.failedRequests, hour.requests);
  const ofAttempts = percent(hour.failedAttempts, hour.attempts);
  return hour.what === "request" || ofRequests === ofAttempts ? ofRequests
    : (hour.requests ? ofRequests + "; " : "") + ofAttempts + " of attempts";
}

// A bar for each minute: all of them, the stand-ins and, at the bottom and with a mark below, the failures.
function bars(hour, height) {
  const step = 3;
  const width = 60 * step;
  const most = Math.max(1, ...hour.all);
  const first = 60 - hour.all.length;
  const nodes = [];
  const bar = (index, from, to, look) => {
    const tall = Math.max(1, Math.round((to - from) / most * height));
    nodes.push(h("rect", {
      x: (first + index) * step, width: step - 1, y: height - Math.round(from / most * height) - tall,
      height: tall, class: look,
    }));
  };
  hour.all.forEach((count, index) => {
    if (!count) return;
    const failed = Math.min(count, hour.failed[index] || 0);
    const helped = Math.min(count - failed, (hour.helped && hour.helped[index]) || 0);
    bar(index, 0, count, "all");
    if (helped) {
      bar(index, failed, failed + helped, "helped");
      // Striped, since a colour alone says nothing to some.
      const [x, y] = [(first + index) * step + 1, part => height - Math.round(part / most * height)];
      nodes.push(h("line", { x1: x, x2: x, y1: Math.max(0, Math.min(y(failed) - 3, y(failed + helped))), y2: y(failed), class: "helped" }));
    }
    if (failed) {
      bar(index, 0, failed, "failed");
      nodes.push(h("rect", { x: (first + index) * step, width: step - 1, y: height + 1, height: 2,
        class: "failed" }));
    }
  });
  return h("svg", { viewBox: `0 0 ${width} ${height + 3}`, width, height: height + 3, role: "img",
    "aria-label": hourText(hour), class: "bars" },
    h("line", { x1: 0, x2: width, y1: height + 0.5, y2: height + 0.5, class: "base" }), nodes);
}

// Half and nearly all of the times, minute by minute, on a scale of powers.
function times(hour, height) {
  const step = 3;
  const known = [...(hour.p50 || []), ...(hour.p99 || [])].filter(value => value != null);
  if (!known.length) return null;
  const [low, high] = [Math.log10(Math.max(0.1, Math.min(...known))), Math.log10(Math.max(1, ...known))];
  const y = value => 2 + (height - 4) * (1 - (Math.log10(Math.max(0.1, value)) - low) / Math.max(0.5,
    high - low));
  const line = (list, look) => {
    // A minute without a figure is a gap.
    const runs = [[]];
    list.forEach((value, index) => {
      if (value == null) runs.push([]);
      else runs[runs.length - 1].push([(60 - list.length + index) * step + 1, decimals(y(value), 1)]);
    });
    return runs.filter(run => run.length).map(run => (run.length === 1
      ? h("circle", { cx: run[0][0], cy: run[0][1], r: 1.5, class: look })
      : h("polyline", { points: run.map(point => point.join(",")).join(" "), class: look })));
  };
  const label = `Times of the last hour: half within ${short(hour.p50now || 0)}, 99 of 100 within ${short(hour.p99now || 0)} lately`;
  return h("svg", { viewBox: `0 0 ${60 * step} ${height}`, width: 60 * step, height, role: "img",
    "aria-label": label, class: "bars" },
    line(hour.p99 || [], "p99"), line(hour.p50 || [], "p50"));
}

// A share of a limit.
function meter(used, limit) {
  const share = limit ? Math.min(1, used / limit) : 0;
  return h("svg", { viewBox: "0 0 40 6", width: 40, height: 6, class: share > 0.8 ? "meter high" : "meter",
    "aria-hidden": "true" },
    h("rect", { width: 40, height: 6, class: "rest" }),
    h("rect", { width: decimals(40 * share, 1), height: 6, class: "used" }));
}

// A word of the interface as a badge; what it means shows at the pointer, and stands in words where it matters.
const LOOKS = {
  ok: "good", serving: "good", succeeded: "good", valid: "good", closed: "good",
  failing: "bad", dead: "bad", open: "bad", full: "bad", stalled: "bad", refused: "bad", expired: "bad",
  reload_failed: "bad",
  degraded: "warn", busy: "warn", paused: "warn", probing: "warn", retrying: "warn", held: "warn",
  forced_open: "warn",
  forced_closed: "warn", unconfigured: "warn", draining: "warn", refreshing: "warn", cancelled: "warn",
};
function badge(kind, word) {
  if (!word) return "–";
  const known = meaning(kind, word);
  return h("span", { class: "badge " + (LOOKS[word] || "plain"), title: known?.text }, spaced(word));
}

// What a word means and what to do, in the words of `waystation explain`.
function explained(kind, word) {
  const known = word && meaning(kind, word);
  return known && h("div", { class: "meaning", key: kind + word }, h("dt", word),
    h("dd", known.text, known.remedy && h("span.remedy", ` Do: ${known.remedy}`)));
}

function glossary(pairs) {
  const seen = new Set();
  const rows = pairs.filter(([kind, word]) => word && !seen.has(kind + word) && seen.add(kind + word))
    .map(([kind, word]) => explained(kind, word)).filter(Boolean);
  return rows.length ? h("section", { key: "words" }, h("h2", "What the words mean"),
    h("dl.glossary", rows)) : null;
}
