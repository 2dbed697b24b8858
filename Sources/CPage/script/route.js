// A route: how it is doing, and what holds it back.

async function readRoute(name, signal) {
  const found = await parts({
    troubles: readTroubles(signal), route: read("/v1/routes/" + encodeURIComponent(name), signal), status: read("/v1/status", signal),
    history: hourly([name], signal), shape: read(query("/v1/shape", { by: "failure_kind", route: name }), signal),
  });
  if (!found.route) throw found.missing.route;
  found.route = whole(found.route);
  return found;
}

function showRoute(name, { troubles, route, status = {}, history, shape = { rows: [] } }) {
  const hour = hourOf(history, route);
  const failure = route.last_failure;
  const credential = status.credentials?.find(one => one.name === route.credential);
  const wrong = troubles?.troubles.filter(({ routes }) => routes.includes(name)) || [];
  const isKnown = route.state !== "unconfigured";
  return [
    heading("Route ", name, " ", badge("route", route.state)),
    h("p.buttons#do",
      isKnown && (route.pause ? resumeAction(route) : pauseAction(route)),
      jobsOf(name, {}, "All its jobs"), isKnown && copyable(command("limits", name))),
    wrong.length > 0 && h("section.trouble#wrong", h("h2.unseen", TROUBLE),
      wrong.map(troubleCard)),
    hour && section("hour", "Last hour",
      h("div.charts",
        rateChart(hour), timesChart(hour), queueChart(hour)),
      (hour.causes.length > 0 || hour.marks.length > 0) && sheet([["Failed", causesText(hour.causes, sum)],
        ["Marked", hour.marks.length > 0 && hour.marks.slice(-8).map(([at, text], index) => [index ? "; " : "", when(at, moment(at)), " ", text])]]),
      h("p.note", `A bar is a minute's ${hour.what}s: striped by a stand-in, red and marked below failed.`)),
    isKnown && section("limits", "What holds it back",
      sheet([
        ["Permits", `${route.in_flight} of ${route.max_requests} taken, ${route.pending} of ${route.max_pending_requests} places to wait for one taken`],
        ["Retries", retriesText(route)], ["Rate", rateLimitText(route)],
        ["Credential", route.credential
          && [route.credential, " ", credential ? badge("credential", credential.state) : "not fetched",
          credential?.expires_in_seconds && ` expires in ${took(credential.expires_in_seconds * 1000)}`]],
      ]),
      table("Upstreams", ["Upstream", "Breaker", "Under way", "What it is spared", "Last failure", "Act.acts"],
        route.upstreams.map(upstream => ({
          key: upstream.name,
          cells: [upstream.name, [upstream.breaker === "off" ? "off" : badge("", upstream.breaker),
            h("span.note", " ",
            (breakerText(upstream) || "").slice(spaced(upstream.breaker).length).replace(/^; /, ""))],
            underWayText(upstream), sparedText(upstream) || "nothing", upstream.last_failure ? failureText(upstream.last_failure) : "–",
            [breakerAction(route, upstream.name) || "–", " ", sparedText(upstream) && clearAction(route, upstream.name)]],
        })))),
    section("counts", "Since the daemon's start",
      sheet([
        ["Requests", isKnown && (route.requests > 0 ? `${route.requests}: ${route.succeeded} succeeded, ${route.recovered} of them recovered, ${route.fallbacks} stand-ins, ${route.failed} failed, ${route.cancelled} cancelled` : "none")],
        ["Last failure", failure && failureText(failure)],
        ["Delivery", route.delivery],
        ["Jobs", Object.values(route.jobs).some(Boolean)
          ? Object.entries(given(route.jobs)).map(([state, count], index) =>
            [index ? ", " : "", jobsOf(name, { state }, `${count} ${state}`)]) : "none"],
        ["Reports", reportsText(route) || null],
        ["Oldest job", route.oldest_job_at && ageOfOldest(route) + " old"],
        ["Next attempt", route.next_attempt_at && comingText(route.next_attempt_at)],
      ])),
    shape.rows.length > 0 && section("waits", "What its waiting jobs failed of last",
      shapeTable(shape, "Failure", kind =>
        kind === "none" ? "none: not tried, or not failed" : jobsOf(name, { failure_kind: kind }, kind))),
    route.rules && section("rules", "Its rules, in the order they are read",
      route.rules.length ? table("Rules", ["Rule", "On", "Does", "Attempts at most.n", "Acted.n"], route.rules.map((rule, key) =>
        ({ key, cells: [rule.name, rule.on.join(", "), spaced(rule.action), rule.max_attempts ?? "–", rule.reports ? "reports" : grouped(rule.acted)] })))
        : h("p", "It has none: what a request meets is one attempt.")),
    glossary([["route", route.state], ["failure", failure?.kind],
      ["credential", credential?.state !== "valid" && credential?.state]], name),
  ];
}
