// A route: how it is doing, and what holds it back.

// Pause of a route as `waystation routes` tells it.
function pauseText(route) {
  const pause = route.pause;
  if (!pause) return null;
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

// As `waystation limits` tells it.
const failureText = ({ kind, at, detail }) => `${kind} at ${moment(at)}: ${detail}`;

const waitingOf = route => sum(Object.entries(route.jobs).map(([state, count]) => OVER.includes(state) ? 0 : count));
const jobsOf = (route, values, text) => link(query("/jobs", { route, ...values }), text);

async function readRoute(name, signal) {
  const found = await parts({
    route: read("/v1/routes/" + encodeURIComponent(name), signal), status: read("/v1/status", signal),
    history: hourly(name, signal), shape: read(query("/v1/shape", { by: "failure_kind", route: name }), signal),
  });
  if (!found.route) throw found.missing.route;
  found.route = whole(found.route);
  return found;
}

function showRoute(name, { route, status = {}, history, shape = { rows: [] } }) {
  const hour = hourOf(history, route);
  const failure = route.last_failure;
  const credential = status.credentials?.find(one => one.name === route.credential);
  const wrong = wrongWith(route);
  const done = doneAbout(route, hour);
  if (["failing", "refused", "refreshing"].includes(credential?.state)) done.unshift(meaning("credential", credential.state).text);
  const isKnown = route.state !== "unconfigured";
  return [
    heading("Route ", name, " ", badge("route", route.state)),
    h("p.buttons#do",
      isKnown && (route.pause ? resumeAction(name) : pauseAction(name)),
      jobsOf(name, {}, "All its jobs"), isKnown && copyable(command("limits", name))),
    wrong.length > 0 && h("section.trouble#wrong", h("h2.unseen", TROUBLE),
      troubleCard("card", route.state !== "failing", null, wrong, done, adviceFor(route))),
    hour && section("hour", "Last hour",
      h("div.charts",
        h("figure", bars(hour, 56), h("figcaption", hourText(hour), hour.rate !== null && `; ${plural(rateText(hour.rate), hour.what)} now`)),
        h("figure", times(hour, 56), h("figcaption",
          hour.p50now === null ? "No times yet"
            : `Lately half within ${short(hour.p50now)}, 99 of 100 within ${short(hour.p99now ?? hour.p50now)} (lower and upper line)`))),
      h("p.note", `A bar is a minute's ${hour.what}s: striped by a stand-in, red and marked below failed.`)),
    isKnown && section("limits", "What holds it back",
      sheet([
        ["Permits", `${route.in_flight} of ${route.max_requests} taken, ${route.pending} of ${route.max_pending_requests} places to wait for one taken`],
        ["Retries", retriesText(route)], ["Rate", rateLimitText(route)],
        ["Credential", route.credential
          && [route.credential, " ", credential ? badge("credential", credential.state) : "not fetched",
          credential?.expires_in_seconds && ` expires in ${short(credential.expires_in_seconds * 1000)}`]],
      ]),
      table("Upstreams", ["Upstream", "Breaker", "Under way", "What it is spared", "Last failure", "Act.acts"],
        route.upstreams.map(upstream => ({
          key: upstream.name,
          cells: [upstream.name, [upstream.breaker === "off" ? "off" : badge("", upstream.breaker),
            h("span.note", " ",
            (breakerText(upstream) || "").slice(spaced(upstream.breaker).length).replace(/^; /, ""))],
            underWayText(upstream), sparedText(upstream) || "nothing", upstream.last_failure ? failureText(upstream.last_failure) : "–",
            [breakerAction(name, upstream.name) || "–", sparedText(upstream) && clearAction(name, upstream.name)]],
        })))),
    section("counts", "Since the daemon's start",
      sheet([
        ["Requests", isKnown && `${route.requests}: ${route.succeeded} succeeded, ${route.recovered} of them recovered, ${route.fallbacks} stand-ins, ${route.failed} failed, ${route.cancelled} cancelled`],
        ["Last failure", failure && failureText(failure)],
        ["Delivery", route.delivery],
        ["Jobs", Object.values(route.jobs).some(Boolean)
          ? Object.entries(given(route.jobs)).map(([state, count], index) =>
            [index ? ", " : "", jobsOf(name, { state }, `${count} ${state}`)]) : "none"],
        ["Oldest job", route.oldest_job_at && ageOfOldest(route) + " old"],
        ["Next attempt", route.next_attempt_at && comingText(route.next_attempt_at)],
      ])),
    shape.rows.length > 0 && section("waits", "What its waiting jobs failed of last",
      shapeTable(shape, "Failure", kind =>
        kind === "none" ? "none: not tried, or not failed" : jobsOf(name, { failure_kind: kind }, kind))),
    route.rules && section("rules", "Its rules, in the order they are read",
      route.rules.length ? table("Rules", ["Rule", "On", "Does", "Attempts at most.n", "Acted.n"], route.rules.map((rule, key) =>
        ({ key, cells: [rule.name, rule.on.join(", "), spaced(rule.action), rule.max_attempts ?? "–", grouped(rule.acted)] })))
        : h("p", "It has none: what a request meets is one attempt.")),
    glossary([["route", route.state], ["failure", failure?.kind],
      ["credential", credential?.state !== "valid" && credential?.state]], name),
  ];
}

// Ages across, the darker the more.
function shapeTable(shape, title, name) {
  const bounds = shape.bucket_ms;
  const most = Math.max(1, ...shape.rows.flatMap(row => row.counts));
  const cell = count => (count
    ? h("span.heat heat" + Math.ceil(5 * Math.log1p(count) / Math.log1p(most)), grouped(count))
    : h("span.none", "·"));
  const columns = [title, "Total.n", ...bounds.map(bound => `<${exact(bound)}.n`),
    (bounds.length ? exact(bounds.at(-1)) + "+" : "Any age") + ".n"];
  const rows = shape.rows.slice(0, 100).map(row =>
    ({ key: row.key, cells: [name(row.key), grouped(row.total), ...row.counts.map(cell)] }));
  if (shape.rows.length > 1) rows.unshift({ key: "\u0000", class: "total",
    cells: ["all", grouped(shape.total.total),
    ...shape.total.counts.map(count => (count ? grouped(count) : "·"))] });
  return table("Kept jobs that are not over, by age", columns, rows, "shape");
}
