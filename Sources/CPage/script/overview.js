// The first view: what is wrong, what the relay does about it, and how everything is doing.

async function readOverview(signal) {
  const status = read("/v1/status", signal);
  return parts({
    status, routes: readRoutes(signal), shape: read("/v1/shape", signal), history: hourly(null, signal),
    dead: status.then(({ jobs }) => deadGroups(jobs.dead, signal)),
  });
}

// The troubles of the daemon itself, in the words of `waystation status`.
function daemonTroubles(status) {
  const { config, shedding, storage, journal } = status;
  const troubles = [];
  const trouble = (text, kind, word) => troubles.push({ text, kind, word });
  if (status.draining) trouble("The daemon is stopping.", "daemon", "draining");
  if (config.last_reload_error) trouble(`The last reload was refused: ${config.last_reload_error}`, "daemon",
    "reload_failed");
  if (shedding?.level > 0) trouble(`Memory is short${shedding.reason ? ` (${shedding.reason})` : ""}: new work is refused, the least urgent first.`);
  if (status.constrained) trouble("The network counts as constrained.");
  if (status.callers_known === false) trouble("Callers' users are not known: set PrivateUsers=no in the daemon's unit, or allow_users, keys and the sight of jobs tell nobody apart.");
  if (storage.state === "full") trouble(`The job store has no room, at ${storage.used_bytes} of ${storage.max_bytes} bytes: no job is accepted; free space on its disk, or raise storage.max_size.`, "store", "full");
  if (storage.state === "stalled") trouble("The disk of the job store takes no writes: no job is accepted until it does.", "store", "stalled");
  else if (storage.state === "gone") trouble("A file of the job store was removed or replaced while the daemon has it open: no job is accepted or delivered.", "store", "gone");
  else if (storage.state === "ok" && storage.used_bytes > 0.8 * storage.max_bytes) trouble(`The job store is nearly full, at ${bytes(storage.used_bytes)} of ${bytes(storage.max_bytes)}: without room no job is accepted.`, "store", "full");
  else if (storage.state === "ok" && storage.disk_available_bytes < Math.min(storage.disk_bytes / 10, storage.max_bytes)) trouble(`The disk of the job store is nearly full, with ${bytes(storage.disk_available_bytes)} left: without room no job is accepted.`, "store", "full");
  if (storage.corrupt_records) trouble(`Damaged records met in the job store since the start: ${storage.corrupt_records}.`);
  if (journal.blocked_seconds > 2) trouble(`The journal has not taken a record for ${journal.blocked_seconds}s: look at systemd-journald, or at what reads the daemon's standard error; requests go on.`);
  else if (journal.lost_records) trouble(`Records the journal did not take since the start: ${journal.lost_records}.`);
  return troubles;
}

// A credential that fails, with the routes that fail for want of it.
function credentialCard(credential, routes, history) {
  const { name, state, refused_by: by } = credential;
  const { text, remedy } = meaning("credential", state);
  const wanting = routes.filter(route => route.credential === name && isForWantOf(credential, route));
  const ofRoute = (route, words) => [link(routePath(route.name), route.name), ": ", sentence(words)];
  return troubleCard("credential " + name, false, h("h3", `Credential ${name} `, badge("credential", state)),
    [`credential ${name} is ${state}${by ? `, by the upstreams of ${by.join(", ")}` : ""}`,
      ...wanting.map(route => ofRoute(route, conditionText(route)))],
    [text, ...wanting.flatMap(route => doneAbout(route, hourOf(history, route)).map(words => ofRoute(route, words)))], [remedy]);
}

function showTroubles(status, routes, history, isWhole) {
  const ofDaemon = daemonTroubles(status);
  // The worst first, should there be more than are told of.
  const ranks = ["failing", "unconfigured", "degraded", "paused", "busy"];
  const rank = ({ route }) => (ranks.includes(route.state) ? ranks.indexOf(route.state) : ranks.length);
  const credentials = new Map(status.credentials.map(one => [one.name, one]));
  const ofRoutes = routes.map(route => ({ route, credential: credentials.get(route.credential) }))
    .map(one => ({ ...one, wrong: wrongWith(one.route, one.credential) })).filter(({ wrong }) => wrong.length)
    .sort((a, b) => rank(a) - rank(b));
  const ofCredentials = status.credentials.filter(({ state }) => ["failing", "refused"].includes(state));
  if (!ofDaemon.length && !ofRoutes.length && !ofCredentials.length) {
    // Nothing is said of what was not seen.
    if (!isWhole) return null;
    const unused = routes.filter(({ requests }) => requests === 0).length;
    return h("p.fine#fine",
      "Nothing is wrong: no route fails or is paused, no breaker is open or forced, no job is dead, on hold, to be tried again or waiting for long, and the store has room.",
      unused ? ` ${unused} of ${plural(routes.length, "route")} had no request since the daemon's start.` : "");
  }
  return h("section.trouble#trouble", h("h2", TROUBLE), h("div.cards",
    ofDaemon.map(({ text, kind, word }) => h("article#" + text,
      h("p", h("strong", text)),
      word && h("p.remedy", "Do: ", meaning(kind, word)?.remedy))),
    ofCredentials.map(credential => credentialCard(credential, routes, history)),
    ofRoutes.slice(0, 20).map(({ route, credential, wrong }) =>
      troubleCard("route " + route.name, route.state !== "failing", routeTitle(route), wrong,
        doneAbout(route, hourOf(history, route)), adviceFor(route, credential)))), ofRoutes.length > 20 && h("p", `and ${ofRoutes.length - 20} routes more, below`));
}

function showDaemon(status) {
  const { config, storage, memory, spool, journal, shedding } = status;
  return h("section.daemon#daemon", h("h2.unseen", "The daemon"),
    sheet([
      ["Daemon", ["waystationd ", status.version, " ", badge("daemon", status.state)]],
      ["Up", status.uptime_seconds < 60 ? `${status.uptime_seconds}s` : short(status.uptime_seconds * 1000)],
      ["Configuration", h("span", { title: `digest ${config.digest}` },
        `${config.file} (${config.digest.slice(0, 12)}, loaded `, when(config.loaded_at, moment(config.loaded_at)), ")")],
      ["In flight", `${status.in_flight}; ${plural(status.connections, "connection")}${status.connections_refused ? `, ${status.connections_refused} refused` : ""}`],
      ["Job store", [badge("store", storage.state),
        ` ${bytes(storage.used_bytes)}${storage.max_bytes ? ` of ${bytes(storage.max_bytes)} ` : ""}`,
        storage.max_bytes && meter(storage.used_bytes, storage.max_bytes)]],
      ...[["Memory", memory], ["Spool", spool]].map(([title, { used_bytes: used, limit_bytes: limit }]) =>
        [title, [`${bytes(used)} of ${bytes(limit)} `, meter(used, limit)]]),
      ["Shedding", shedding.level ? `level ${shedding.level}, ${shedding.refused} refused` : shedding.refused
        ? `none, ${shedding.refused} refused earlier` : "none"],
      ["Journal", journal.lost_records ? `${journal.lost_records} lost` : "takes all records"],
      ["Network", status.constrained ? "constrained" : "not constrained"],
      ["Kept jobs", `${status.jobs.queued} not over, ${status.jobs.running} running, ${status.jobs.held} held, ${status.jobs.dead} dead`],
    ]),
    reloadAction(), constrainedAction());
}

function showOverview(values, { status, routes, shape, history, dead, missing }) {
  return [
    heading(h("span.unseen", "Overview")),
    status && showDaemon(status),
    status && routes && showTroubles(status, routes, history, !missing.status && !missing.routes),
    routes && showRoutes(status || {}, routes, history, values),
    shape?.rows.length > 0 && section("shape", "Kept jobs that are not over, by age",
      shapeTable(shape, "Route", name => jobsOf(name, { state: WAITING, order: "oldest" }, name))),
    dead && showDead(dead), showEvents("Latest events"),
  ];
}
