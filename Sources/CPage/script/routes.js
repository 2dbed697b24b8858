// All routes, a row for each.

const jobsOf = (route, values, text) => link(query("/jobs", { route, ...values }), text);

// A route that is not configured has no more than jobs.
const whole = route => ({ upstreams: [], ...route });

// The routes as they were told, of which an answer brings those that have changed.
const roster = { next: null, routes: [] };

async function readRoutes(signal) {
  const { next, whole: isWhole, routes } = await read(query("/v1/table", { since: roster.next }), signal);
  const changed = new Map(routes.map(route => [route.name, route]));
  roster.routes = isWhole ? routes : roster.routes.map(route => changed.get(route.name) || route);
  roster.next = String(next);
  return roster.routes;
}

const STATES = ["failing", "unconfigured", "degraded", "paused", "route_closed", "busy", "ok"];
const credentialOf = ({ credential }, credentials) => credential && (credentials.get(credential)?.state || "not fetched");

// Each column by its name: its title and class, the value that it is sorted by, without which it has nothing to tell, and
// what stands in it.
const COLUMNS = {
  route: ["Route.name", route => route.name, route => link(routePath(route.name), route.name)],
  state: ["State.state", route => STATES.indexOf(route.state), route => badge("route", route.state)],
  hour: ["Last hour.hour", route => route.hour?.count, (route, { history, most }) => {
    const hour = hourOf(history, route);
    return hour ? bars(hour, 20, most) : "–";
  }],
  rate: ["Rate now.n", ({ hour }) => hour?.last, ({ hour }) => plural(rateText(hour.last / 60), hour.of)],
  failed: ["Failed, last hour.n failed", ({ hour }) => hour && hour.failed / hour.count, (route, { history }) => {
    const hour = hourOf(history, route);
    return hour ? failedText(hour) : percent(route.hour.failed, route.hour.count);
  }],
  times: ["p50 / p99 now.n times", ({ hour }) => hour?.p99_ms ?? hour?.p50_ms, ({ hour }) => `${took(hour.p50_ms)} / ${took(hour.p99_ms ?? hour.p50_ms)}`],
  breaker: ["Breaker.breaker", ({ breakers }) => breakers && Object.keys(breakers).length, ({ breakers }) =>
    Object.entries(breakers).map(([name, breaker]) => [badge("", breaker), " ", name, " "])],
  credential: ["Credential", (route, { credentials }) => credentialOf(route, credentials), (route, { credentials }) =>
    credentials.has(route.credential) ? badge("credential", credentialOf(route, credentials)) : "not fetched"],
  queued: ["Queued.n", route => route.queued, route => jobsOf(route.name, { state: WAITING }, amount(route.queued))],
  dead: ["Dead.n", route => route.dead, route => jobsOf(route.name, { state: "dead" }, amount(route.dead))],
  oldest: ["Oldest.n", route => route.queued && clock.now() - parsed(route.oldest_job_at), ageOfOldest],
  failure: ["Last failure.failure", ({ last_failure: failure }) => failure && parsed(failure.at), ({ last_failure: failure }) =>
    h("span", { title: failure.detail }, failureWord(failure), ", ", when(failure.at, `${age(failure.at)} ago`))],
};

// Those with the name that is looked for, as they are sorted; else those with trouble first, in the order of the
// troubles.
function arranged(routes, troubles, { name = "", sort = "" }, context) {
  const wanted = routes.filter(route => route.name.includes(name));
  const column = COLUMNS[sort.replace("-", "")];
  if (column) return sorted(wanted, sort, route => column[1](route, context));
  const ranks = new Map();
  for (const wrong of troubles?.troubles.flatMap(one => one.routes) || []) if (!ranks.has(wrong)) ranks.set(wrong, ranks.size);
  return ranks.size ? sorted(wanted, "", route => ranks.get(route.name)) : wanted;
}

// The bars of the rows that are drawn, and of no others.
function hoursOf(routes, troubles, values, signal) {
  const all = arranged(routes, troubles, values, { credentials: new Map() });
  const [from, to] = all.length > TALL ? tall.range(all.length) : [0, all.length];
  const drawn = all.slice(from, to).filter(route => route.hour).map(route => route.name);
  // And those of the dead letters, since which something may have changed.
  const known = new Set(routes.filter(route => route.state !== "unconfigured").map(route => route.name));
  const names = new Set([...drawn, ...deads.groups.slice(0, DEAD_GROUPS).map(group => group.route).filter(name => known.has(name))]);
  return names.size ? hourly([...names], signal) : null;
}

function showRoutes(status, routes, troubles, history, values) {
  const to = change => go(query("/", { ...values, ...change }));
  const context = { history, credentials: new Map(status.credentials?.map(one => [one.name, one])),
    // One scale for all, or the bars of one could not be held against those of another.
    most: Math.max(1, ...routes.map(({ hour }) => hour?.most || 0)) };
  const columns = Object.entries(COLUMNS);
  const has = (route, index) => !isNothing(columns[index][1][1](route, context) ?? null);
  const rows = arranged(routes, troubles, values, context).map(route => ({
    key: route.name, class: route.state === "unconfigured" ? "isbad" : "is" + lookOf(route.state),
    has: index => has(route, index), cells: () => columns.map(([, [,, cell]], index) => has(route, index) ? cell(route, context) : "–"),
  }));
  tall.onRest = () => {
    const known = new Set(history?.routes.map(({ name }) => name));
    if (rows.slice(tall.from, tall.to).some(({ key, has }) => has(2) && !known.has(key))) refresh.soon(true);
  };
  return section("routes", "Routes",
    (routes.length > 12 || values.name) && h("form.filters", { on: { submit: () => {},
      input: event => to({ name: event.target.value.trim() }) } },
    h("label", h("span", "Name has"), h("input", { type: "search", name: "name", value: values.name || "" })),
    h("p.note", { role: "status" }, values.name ? `${grouped(rows.length)} of ${plural(grouped(routes.length), "route")}` : plural(grouped(routes.length), "route"))),
    table("Routes", columns.map(([name, [title]]) => title + (title.includes(".") ? "." : "..") + name), rows, "routes", { sort: values.sort, to: sort => to({ sort }) }),
    context.most > 1 && h("p.note", "All bars have one scale, the highest is ", amount(context.most), " in a minute."));
}
