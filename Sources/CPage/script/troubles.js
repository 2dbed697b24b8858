// The troubles of routes, what the relay does about them, and what there is to do: sentences.

const TROUBLE = "What is wrong, and what the relay does about it";
const OVER = ["succeeded", "dead", "cancelled", "expired"];

const isFailing = ({ state }) => ["failing", "degraded"].includes(state);
const agoText = ({ at, detail, kind }) => `${age(at)} ago: ${detail} (${kind})`;

// The condition that the state goes by, as `waystation status` tells it.
function conditionText({ lately: { requests, failed, stand_ins: others }, last_failure: failure }) {
  const parts = joined(" and ", failed > 0 && `${failed} failed`, others > 0 && `${others} ${others > 1 ? "were" : "was"} answered by a stand-in`);
  const what = !parts ? "a circuit breaker is open"
    : requests > 1 ? `of the latest ${requests} requests ${parts}` : "the latest request " + parts.slice(2);
  return failure ? `${what}; the latest failure, ${agoText(failure)}` : what;
}

// Breakers that are not closed, upstreams that are spared.
const forcedUpstreams = route => route.upstreams.filter(({ breaker }) => breaker.startsWith("forced"));
const hasActed = upstream => !["closed", "off"].includes(upstream.breaker);
const troubledUpstreams = route => route.upstreams.filter(one => hasActed(one) || one.held_until || one.holds || one.rate);
const isOpen = ({ breaker }) => ["open", "probing"].includes(breaker);
// Of several upstreams each may fail for a reason of its own.
const failingUpstreams = ({ upstreams }) =>
  upstreams.filter(one => isOpen(one) || upstreams.length > 1 && one.counts?.failed_in_a_row);

// Whether the route fails for want of its credential, which then is what is wrong.
const isForWantOf = (credential, route) => credential && isFailing(route) && (credential.state === "refused"
  ? credential.refused_by?.includes(route.name)
  : credential.state === "failing" && route.last_failure?.kind === "credentials_failed");

// The troubles of a route beside the credential that is told of elsewhere; empty where nothing is wrong.
function wrongWith(route, credential) {
  const wrong = [];
  const { held, retrying, queued, scheduled, dead } = route.jobs;
  const are = (count, what) => `${plural(count, "job")} ${count === 1 ? "is" : "are"} ${what} ${count === 1 ? "it" : "them"}`;
  if (route.pause) wrong.push(pauseText(route));
  if (route.state === "unconfigured") wrong.push("the configuration has no such route, and its jobs wait");
  for (const one of failingUpstreams(route)) {
    const failure = one.last_failure;
    // That of the only one is told below as the route's.
    const isTold = !failure || isFailing(route) && route.upstreams.length === 1 && failure.detail === route.last_failure?.detail;
    wrong.push(`upstream ${one.name} ${isOpen(one) ? "has failed so often that its breaker is open" : "fails"}${
      isTold ? "" : `; its last failure, ${agoText(failure)}`}`);
  }
  if (isFailing(route)) {
    if (!isForWantOf(credential, route)) wrong.push(conditionText(route));
  } else if (troubledUpstreams(route).length && !failingUpstreams(route).length && route.last_failure) {
    wrong.push(`the last failure, ${agoText(route.last_failure)}`);
  }
  for (const { name, breaker, until: end } of forcedUpstreams(route)) {
    wrong.push(`the breaker of upstream ${name} is kept ${breaker === "forced_open" ? "open: nothing is sent to it" : "closed: it is sent to whatever comes of it"}${end ? `, until ${moment(end)}` : ""}`);
  }
  if (held && !route.pause) wrong.push(are(held, "on hold until somebody releases"));
  if (retrying && !isFailing(route)) wrong.push(`${plural(retrying, "job")} failed and will be tried again`);
  // Jobs that are not due yet may be the oldest, and nothing is the matter with those.
  const isOld = queued && !retrying && clock.now() - parsed(route.oldest_job_at) > 600000 && !(scheduled || held);
  if (queued >= 100 || isOld) wrong.push(`${plural(queued, "job")} could be sent and ${queued === 1 ? "waits" : "wait"} for a turn${isOld ? `, the oldest for ${ageOfOldest(route)}` : ""}`);
  if (route.state === "busy") wrong.push(`requests wait for a permit: ${route.in_flight} of ${route.max_requests} taken, ${route.pending} wait`);
  if (dead) wrong.push(`${dead} dead ${dead === 1 ? "job" : "jobs"}, given up until somebody retries or drops ${dead === 1 ? "it" : "them"}`);
  if (route.never_fails_breaches) wrong.push(`never_fails breached ${route.never_fails_breaches}x`);
  return wrong;
}

// The measures that the relay takes against the trouble.
function doneAbout(route, hour) {
  const done = [];
  for (const upstream of troubledUpstreams(route)) {
    done.push(`upstream ${upstream.name}: ${joined("; ", hasActed(upstream) && `breaker ${breakerText(upstream)}`, sparedText(upstream))}`);
  }
  const { held, retrying } = route.jobs;
  const waiting = waitingOf(route) - held;
  if (waiting) {
    done.push(joined(", ", `keeps ${plural(waiting, "job")} until ${waiting === 1 ? "it" : "they"} can be delivered`,
      !held && `the oldest ${ageOfOldest(route)} old`,
      retrying > 0 && route.next_attempt_at && `the next attempt ${comingText(route.next_attempt_at)}`));
  }
  if (hour?.fallbacks) done.push(`answered ${plural(hour.fallbacks, "request")} with a stand-in in the last hour`);
  else if (route.fallbacks && (!hour || route.state === "degraded"))
    done.push(`answered ${plural(route.fallbacks, "request")} with a stand-in since its start`);
  if (route.recovered) done.push(`had ${plural(route.recovered, "request")} succeed by another attempt since its start`);
  if (route.retries_under_way) done.push(`retries: ${retriesText(route)}`);
  return done;
}

// The advice for each thing that is wrong.
function adviceFor(route, credential) {
  const { name, jobs } = route;
  const todo = [];
  const add = (kind, word, where = "") => {
    const remedy = meaning(kind, word, name)?.remedy;
    if (remedy) todo.push(where ? [where, remedy] : remedy);
  };
  const all = (word, state) => h("code", bulkCommand(word, { route: name, state }, {}));
  const [forced] = forcedUpstreams(route);
  if (route.pause) add("route", "paused");
  else if (isFailing(route) || troubledUpstreams(route).length) {
    // Each kind with the upstreams that fail so, where there are several.
    const kinds = new Map(route.last_failure ? [[route.last_failure.kind, []]] : []);
    for (const { name: one, last_failure: failure } of failingUpstreams(route)) {
      if (failure) kinds.set(failure.kind, [...kinds.get(failure.kind) || [], one]);
    }
    // That nothing was sent is no cause, and no matter where a rule helps.
    if (kinds.delete("breaker_open") && !kinds.size && !forced) {
      const rule = route.rules?.find(({ on, action }) => on.some(word => ["breaker_open", "any"].includes(word))
        && /failover|respond/.test(action));
      if (rule) todo.push(`mend the upstream; until then rule "${rule.name}" helps (${spaced(rule.action)})`);
      else kinds.set("breaker_open", []);
    }
    if (isForWantOf(credential, route)) kinds.delete("credentials_failed");
    for (const [kind, names] of kinds) add("failure", kind, route.upstreams.length > 1 && names.length ? `${names.join(", ")}: ` : "");
  } else if (route.state !== "ok") add("route", route.state);
  if (forced) todo.push(["When it may be left to itself again: ", h("code", command("breaker", `${name}/${forced.name}`, "auto"))]);
  if (jobs.held && !route.pause) todo.push(["When what is on hold may go on: ", all("release", "held")]);
  if (jobs.retrying) todo.push(["To try again now what failed: ", all("retry", "retrying")]);
  if (jobs.dead) todo.push(["When the cause of the ", jobsOf(name, { state: "dead" }, "dead jobs"), " is mended: ", all("retry", "dead"), " or, to give them up: ", all("drop", "dead")]);
  if (!todo.length && jobs.queued) todo.push(["See what holds it back: ", h("code", command("limits", name))]);
  return todo;
}

function troubleCard(key, isMild, title, ...texts) {
  const part = ([name, list]) => list.length > 0 && h("div", h("dt", name),
    h("dd", list.map(text => h("p", typeof text === "string" ? sentence(text) : text))));
  return h(`article.${isMild ? "mild" : ""}#${key}`, title, h("dl", ["Wrong", "Relay", "You"].map((name, index) => part([name, texts[index]]))));
}

const routeTitle = ({ name, state }) => h("h3", link(routePath(name), name), " ", badge("route", state));
