// All routes, a row for each.

const waitingOf = route => sum(Object.entries(route.jobs).map(([state, count]) => OVER.includes(state) ? 0 : count));
const jobsOf = (route, values, text) => link(query("/jobs", { route, ...values }), text);

// A route that is not configured has no more than jobs.
const whole = route => ({ upstreams: [], ...route });
const readRoutes = async signal => (await read("/v1/routes", signal)).routes.map(whole);

const ROUTE_ROWS = 200;

function showRoutes(status, routes, troubles, history, values) {
  // Those with trouble first, in the order of the troubles.
  const names = [...new Set(troubles?.troubles.flatMap(one => one.routes))];
  const rank = ({ name }) => (names.includes(name) ? names.indexOf(name) : names.length);
  const credentials = new Map(status.credentials?.map(one => [one.name, one]));
  const wanted = routes.filter(({ name }) => !values.name || name.includes(values.name)).sort((a, b) => rank(a) - rank(b));
  const shown = wanted.slice(0, ROUTE_ROWS).map(route => ({ route, hour: hourOf(history, route) }));
  // One scale for all, or the bars of one could not be held against those of another.
  const most = Math.max(1, ...shown.flatMap(({ hour }) => hour?.all || []));
  const rows = shown.map(({ route, hour }) => {
    const failure = route.last_failure;
    const credential = credentials.get(route.credential);
    const waiting = waitingOf(route);
    const { dead } = route.jobs;
    const open = route.upstreams.filter(hasActed);
    return {
      key: route.name, class: route.state === "unconfigured" ? "isbad" : "is" + lookOf(route.state),
      cells: [
        link(routePath(route.name), route.name), badge("route", route.state),
        hour && sum(hour.all) ? bars(hour, 20, most) : "–", hour?.rate != null ? plural(rateText(hour.rate), hour.what) : "–", hour ? failedText(hour) : "–",
        hour?.p50now != null ? `${took(hour.p50now)} / ${took(hour.p99now ?? hour.p50now)}` : "–",
        open.length ? open.map(upstream => [badge("", upstream.breaker), " ", upstream.name, " "])
          : "–",
        credential ? badge("credential", credential.state) : route.credential ? "not fetched" : "–",
        waiting ? jobsOf(route.name, { state: WAITING }, amount(waiting)) : "–",
        dead ? jobsOf(route.name, { state: "dead" }, amount(dead)) : "–",
        waiting ? ageOfOldest(route) : "–",
        failure ? h("span", { title: failure.detail }, failureWord(failure), ", ", when(failure.at, `${age(failure.at)} ago`)) : "–",
      ],
    };
  });
  return section("routes", "Routes",
    (routes.length > 12 || values.name) && h("form.filters", { on: { submit: () => {},
      change: event => go(query("/", { name: event.target.value.trim() })) } },
    h("label", h("span", "Name has"), h("input", { type: "search", name: "name", value: values.name || "" }))),
    table("Routes", ["Route", "State", "Last hour", "Rate now.n", "Failed, last hour.n", "p50 / p99 now.n", "Breaker",
      "Credential", "Queued.n", "Dead.n", "Oldest.n", "Last failure"], rows, "routes"),
    most > 1 && h("p.note", "All bars have one scale, the highest is ", amount(most), " in a minute."),
    wanted.length > ROUTE_ROWS && h("p.note", `${ROUTE_ROWS} of ${wanted.length} routes; name some of them above`));
}
