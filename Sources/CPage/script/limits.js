// What holds a route back, in the words of `waystation limits`.

// Pause of a route, or its planned window, as `waystation routes` tells it.
function pauseText(route) {
  const pause = route.pause;
  if (!pause) return route.closed_until ? `closed until ${moment(route.closed_until)}, as planned` : null;
  return joined("", "paused", pause.until && ` until ${moment(pause.until)}`, pause.reason && `: ${pause.reason}`,
    pause.rule && ` (rule "${pause.rule}")`);
}

// The breaker of an upstream as `waystation limits` tells it; null where it is off.
function breakerText(upstream) {
  const word = upstream.breaker;
  if (!word || word === "off") return null;
  let text = spaced(word);
  if (upstream.since) text += ` since ${moment(upstream.since)}`;
  if (upstream.until && word !== "open") text += ` until ${moment(upstream.until)}`;
  else if (upstream.until) text += parsed(upstream.until) > clock.now() ? `, probed at ${moment(upstream.until)}`
    : ", probed by the next request";
  const counts = upstream.counts;
  if (!counts) return text;
  const { attempts, failed, failed_in_a_row: row, span_ms: lately } = counts;
  return text + (!attempts ? `; ${row > 1 ? `the last ${row} failed, ` : ""}none in the last `
    : `; ${failed} of ${attempts} failed in the last `) + exact(lately) + (attempts && row > 1 ? `, ${row} in a row` : "");
}

// The requests that an upstream is not sent, or not so fast; as `waystation limits` tells of them.
const sparedText = ({ failing = [], rate, rate_of: paced, holds = [], held_until: held }) => joined("; ",
  ...failing.map(({ requests, uid, failed, attempts }) =>
    `${requests}${uid === undefined ? "" : ` of user ${uid}`}: ${failed} of ${attempts} failed; others go on`),
  rate && `${paced ? paced + " " : ""}sent at most ${plural(rate, "attempt")} a second, as it said too many came`,
  ...holds.map(({ requests, until }) => `it has asked ${requests} to wait until ${moment(until)}`),
  held && `it has asked requests to wait until ${moment(held)}`);
const underWayText = upstream =>
  `${upstream.under_way}${upstream.window ? ` of a window of ${upstream.window}` : ""} under way`;

function retriesText(route) {
  const text = `${route.retries_under_way} under way`;
  return route.retries_left === undefined ? text : `${text}, ${route.retries_left} more may begin`;
}

function rateLimitText(route) {
  if (route.turns_left === undefined) return null;
  return `${plural(route.turns_left, "attempt")} may begin now${route.next_turn_at ? `, the next at ${moment(route.next_turn_at)}` : ""}`;
}

const reportsText = ({ reporting = [] }) => joined("; ", ...reporting.map(({ name, would_have: count }) =>
  `${name} would have acted ${plural(count, "time")}`));

// As `waystation limits` tells it.
const failureText = ({ kind, at, detail }) => `${kind} at ${moment(at)}: ${detail}`;
