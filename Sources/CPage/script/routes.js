// A route: how it is doing, what holds it back, and what the relay does about it.

// Pause of a route as `waystation routes` tells it.
function pauseText(route) {
  const pause = route.pause;
  if (!pause) return null;
  return ["paused", pause.until && ` until ${moment(pause.until)}`, pause.reason && `: ${pause.reason}`,
    pause.rule && ` (rule "${pause.rule}")`].filter(Boolean).join("");
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
  text += `; ${counts.failed} of ${counts.attempts} failed in the last ${exact(counts.span_ms)}`;
  return counts.failed_in_a_row > 1 ? text + `, ${counts.failed_in_a_row} in a row` : text;
}

const throttledText = upstream => upstream.rate
  && `sent at most ${plural(upstream.rate, "attempt")} a second, as it said too many came`;
const patienceText = upstream => upstream.held_until
  && `it has asked to be left alone until ${moment(upstream.held_until)}`;
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

// What the state goes by, as `waystation status` tells it.
function conditionText(route) {
  const count = route.consecutive_failures || 0;
  const isDegraded = route.state === "degraded";
  const what = count === 0 ? "the last attempt of a kept job failed"
    : count === 1 ? `the last request ${isDegraded ? "was answered by a stand-in" : "failed"}`
      : `the last ${count} requests ${isDegraded ? "failed or were answered by a stand-in" : "failed"}`;
  const failure = route.last_failure;
  return failure ? `${what}; ${failure.kind}, ${age(failure.at)} ago: ${failure.detail}` : what;
}

const OVER = ["succeeded", "dead", "cancelled", "expired"];
const waitingOf = route => sum(Object.entries(route.jobs).map(([state, count]) => OVER.includes(state) ? 0 : count));

// Breakers that are not closed, upstreams that are spared.
const forcedUpstreams = route => route.upstreams.filter(({ breaker }) => breaker.startsWith("forced"));
const hasActed = upstream => !["closed", "off"].includes(upstream.breaker);
const troubledUpstreams = route => route.upstreams.filter(one => hasActed(one) || one.held_until || one.rate);
const openUpstreams = route => route.upstreams.filter(({ breaker }) => ["open", "probing"].includes(breaker));

// What is wrong with a route: sentences, none where nothing is.
function wrongWith(route) {
  const wrong = [];
  if (route.pause) wrong.push(pauseText(route));
  if (route.state === "unconfigured") wrong.push("the configuration has no such route, and its jobs wait");
  for (const { name } of openUpstreams(route)) wrong.push(`upstream ${name} has failed so often that it is left alone`);
  if (["failing", "degraded"].includes(route.state)) wrong.push(conditionText(route));
  else if (troubledUpstreams(route).length && route.last_failure) {
    const { kind, at, detail } = route.last_failure;
    wrong.push(`the last failure was ${kind}, ${age(at)} ago: ${detail}`);
  }
  for (const { name, breaker, until: end } of forcedUpstreams(route)) {
    wrong.push(`the breaker of upstream ${name} is kept ${breaker === "forced_open" ? "open: nothing is sent to it" : "closed: it is sent to whatever comes of it"}${end ? `, until ${moment(end)}` : ""}`);
  }
  const { held, retrying, queued, scheduled, dead } = route.jobs;
  if (held && !route.pause) wrong.push(`${plural(held, "job")} ${held === 1 ? "is" : "are"} on hold until somebody releases ${held === 1 ? "it" : "them"}`);
  if (retrying && !["failing", "degraded"].includes(route.state)) wrong.push(`${plural(retrying, "job")} failed and will be tried again`);
  // Jobs that are not due yet may be the oldest, and nothing is the matter with those.
  const isOld = queued && !retrying && clock.now() - parsed(route.oldest_job_at) > 600000 && !(scheduled || held);
  if (queued >= 100 || isOld) wrong.push(`${plural(queued, "job")} could be sent and ${queued === 1 ? "waits" : "wait"} for a turn${isOld ? `, the oldest for ${ageInMinutes(route.oldest_job_at)}` : ""}`);
  if (route.state === "busy") wrong.push(`requests wait for a permit: ${route.in_flight} of ${route.max_requests} taken, ${route.pending} wait`);
  if (dead) wrong.push(`${dead} dead ${dead === 1 ? "job" : "jobs"}, given up until somebody retries or drops ${dead === 1 ? "it" : "them"}`);
  if (route.never_fails_breaches) wrong.push(`never_fails breached ${route.never_fails_breaches}x`);
  return wrong;
}

// What the relay does about it: sentences.
function doneAbout(route, hour, credentials) {
  const done = [];
  const credential = (credentials || []).find(one => one.name === route.credential);
  if (credential && ["failing", "refused",
    "refreshing"].includes(credential.state)) done.push(meaning("credential", credential.state).text);
  for (const upstream of troubledUpstreams(route)) {
    const parts = [hasActed(upstream) && `breaker ${breakerText(upstream)}`,
      patienceText(upstream), throttledText(upstream)];
    done.push(`upstream ${upstream.name}: ${parts.filter(Boolean).join("; ")}`);
  }
  const waiting = waitingOf(route);
  if (waiting) done.push(`keeps ${plural(waiting, "job")} until they can be delivered, the oldest ${ageInMinutes(route.oldest_job_at)} old`);
  if (hour?.fallbacks) done.push(`answered ${plural(hour.fallbacks, "request")} with a stand-in in the last hour`);
  else if (route.fallbacks && (!hour || route.state === "degraded"))
    done.push(`answered ${plural(route.fallbacks, "request")} with a stand-in since its start`);
  if (route.recovered) done.push(`had ${plural(route.recovered, "request")} succeed by another attempt since its start`);
  if (route.retries_under_way) done.push(`retries: ${retriesText(route)}`);
  return done;
}

// What there is to do of a route that serves.
function lookAt(route) {
  const [forced] = forcedUpstreams(route);
  if (forced) return { remedy: `When it may be left to itself again: waystation breaker ${route.name}/${forced.name} auto` };
  const state = ["dead", "held", "retrying", "queued"].find(name => route.jobs[name]);
  return state === "queued" ? { remedy: `See what holds it back: waystation limits ${route.name}` }
    : meaning("state", state || "retrying");
}

// What is wrong, what the relay does about it, and what there is to do.
function troubleSheet(route, wrong, done) {
  const failure = ["failing", "degraded"].includes(route.state) || troubledUpstreams(route).length
    ? route.last_failure : null;
  const known = route.pause ? meaning("route", "paused") : failure ? meaning("failure", failure.kind)
    : openUpstreams(route).length ? meaning("failure", "breaker_open")
      : route.state === "ok" ? lookAt(route) : meaning("route", route.state);
  const part = (title, texts) => texts.length
    ? h("div", h("dt", title), h("dd", texts.map(text => h("p", sentence(text))))) : null;
  return h("dl", part("Wrong", wrong), part("Relay", done),
    part("You", known && wrong.length ? [known.remedy] : []));
}

const TROUBLE = "What is wrong, and what the relay does about it";
const troubleCard = ({ name, state }, ...content) => h(`article.${state === "failing" ? "" : "mild"}#route ${name}`, content);

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
  const done = doneAbout(route, hour, status.credentials);
  const isKnown = route.state !== "unconfigured";
  return [
    heading("Route ", name, " ", badge("route", route.state)),
    h("p.buttons#do",
      isKnown && (route.pause ? resumeAction(name) : pauseAction(name)),
      jobsOf(name, {}, "All its jobs"), isKnown && copyable(command("limits", name))),
    wrong.length > 0 && h("section.trouble#wrong", h("h2.unseen", TROUBLE), troubleCard(route, null, troubleSheet(route, wrong, done))),
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
      table("Upstreams", ["Upstream", "Breaker", "Under way", "What it is spared", "Act.acts"],
        route.upstreams.map(upstream => ({
          key: upstream.name,
          cells: [upstream.name, [upstream.breaker === "off" ? "off" : badge("", upstream.breaker),
            h("span.note", " ",
            (breakerText(upstream) || "").slice(spaced(upstream.breaker).length).replace(/^; /, ""))],
            underWayText(upstream), [patienceText(upstream), throttledText(upstream)].filter(Boolean).join("; ")
              || "nothing",
            breakerAction(name, upstream.name) || "–"],
        })))),
    section("counts", "Since the daemon's start",
      sheet([
        ["Requests", isKnown && `${route.requests}: ${route.succeeded} succeeded, ${route.recovered} of them recovered, ${route.fallbacks} stand-ins, ${route.failed} failed, ${route.cancelled} cancelled`],
        ["Last failure", failure && `${failure.kind} at ${moment(failure.at)}: ${failure.detail}`],
        ["Delivery", route.delivery],
        ["Jobs", Object.values(route.jobs).some(Boolean)
          ? Object.entries(given(route.jobs)).map(([state, count], index) =>
            [index ? ", " : "", jobsOf(name, { state }, `${count} ${state}`)]) : "none"],
        ["Oldest job", route.oldest_job_at && ageInMinutes(route.oldest_job_at) + " old"],
      ])),
    shape.rows.length > 0 && section("waits", "What its waiting jobs failed of last",
      shapeTable(shape, "Failure", kind =>
        kind === "none" ? "none: not tried, or not failed" : jobsOf(name, { failure_kind: kind }, kind))),
    route.rules && section("rules", "Its rules, in the order they are read",
      route.rules.length ? table("Rules", ["Rule", "On", "Does", "Acted.n"], route.rules.map((rule, key) =>
        ({ key, cells: [rule.name, rule.on.join(", "), spaced(rule.action), grouped(rule.acted)] })))
        : h("p", "It has none: what a request meets is one attempt.")),
    glossary([["route", route.state], ["failure", failure?.kind],
      ["credential", credential && credential.state !== "valid" && credential.state]]),
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
