// The figures of a route's last hour.

const sum = list => list.reduce((total, value) => total + value, 0);

// The figures of a route's hour, of requests or, where kept jobs go by it, of attempts: one request that succeeded
// must not hide deliveries that fail. Null where nothing is known.
function hourOf(history, { name, jobs, hour: known }) {
  const found = history?.routes.find(route => route.name === name);
  if (!found) return null;
  const counts = { requests: sum(found.requests), failedRequests: sum(found.failures), fallbacks: sum(found.fallbacks),
    attempts: sum(found.attempts), failedAttempts: sum(found.failed_attempts) };
  const isOfRequests = known ? known.of === "request" : !counts.attempts || counts.requests > 0 && !Object.values(jobs).some(Boolean)
    && !found.attempts.some((count, index) => count && !found.requests[index]);
  const hour = isOfRequests
    ? { what: "request", all: found.requests, failed: found.failures, helped: found.fallbacks, p50: found.p50_ms,
      p99: found.p99_ms }
    : { what: "attempt", all: found.attempts, failed: found.failed_attempts, helped: [], p50: found.attempt_p50_ms,
      p99: found.attempt_p99_ms };
  // The last column still runs: what is told of "now" is the one before it, of times the latest of a few before that.
  const at = Math.max(0, hour.all.length - 2);
  const last = list => list.slice(Math.max(0, at - 4), at + 1).findLast(value => value !== null) ?? list.at(-1) ?? null;
  // Nobody has looked at a minute that is null.
  const now = hour.all.length > 1 ? hour.all[at] : null;
  return { ...counts, ...hour, began: parsed(history.began_at), interval: history.interval_ms, causes: found.causes,
    queued: found.queued, inFlight: found.in_flight, marks: marksOf(history, found), rate: now === null ? null : now / (history.interval_ms / 1000),
    p50now: last(hour.p50), p99now: last(hour.p99) };
}

// The moments of the hour at which something was done or turned, in their order: [time, words].
function marksOf({ started_at: started, began_at: began, reloads }, { marks }) {
  const by = one => one && " by " + joined(" on ", one.user || !one.node && users.nameOf(one.uid) || `uid ${one.uid}`, one.node);
  // The first minute begins at about the time of the daemon's start.
  return [...parsed(started) > parsed(began) - 60000 ? [[started, "The daemon began"]] : [], ...reloads.map(at => [at, joined(": ", "Reloaded", live.reloads.get(at))]),
    ...marks.map(one => [one.at, (daemon.words.mark?.[joined(" ", one.event.replace("waystation.", ""), one.state)] || one.event)
      .replace(" of UPSTREAM", one.upstream ? ` of ${one.upstream}` : "") + (by(one.by) || "")])]
    .sort(([a], [b]) => parsed(a) - parsed(b));
}

// The causes of the failed attempts of a minute, or of them all.
const causesText = (causes, count) => joined(", ", ...causes.map(cause => [count(cause.counts), failureWord(cause)])
  .filter(([number]) => number).map(([number, word]) => `${grouped(number)} × ${word}`));

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
  return joined("; ", (requests || !attempts) && `${plural(requests, "request")}, ${hour.failedRequests} failed${helped}`,
    attempts > 0 && hasMore && `${plural(attempts, "attempt")}, ${hour.failedAttempts} failed`);
}

// How many of a hundred failed, of the requests and, where those are not the same, of the attempts.
function failedText(hour) {
  const ofRequests = percent(hour.failedRequests, hour.requests);
  const ofAttempts = percent(hour.failedAttempts, hour.attempts);
  return hour.what === "request" || ofRequests === ofAttempts ? ofRequests
    : (hour.requests ? ofRequests + "; " : "") + ofAttempts + " of attempts";
}

// Figures of the last hour change once in a while, and are not there in a daemon that has none.
const hours = { at: 0, name: null, document: null };
// Of so many routes in one question, whose names a target has room for.
const ASKED = 50;
async function hourly(names, signal) {
  const name = names.join();
  if (hours.name !== name || Date.now() - hours.at > 5000) {
    const asked = [];
    for (let at = 0; at < names.length; at += ASKED) asked.push(names.slice(at, at + ASKED));
    const found = await Promise.all(asked.map(some => read(query("/v1/history", { route: some.join() }), signal))).catch(error => {
      // Of a route that is not configured there is none.
      if (error.status === 404) return [];
      throw error;
    });
    const document = found.length ? { ...found[0], routes: found.flatMap(({ routes }) => routes) } : null;
    Object.assign(hours, { at: Date.now(), name, document });
  }
  return hours.document;
}
