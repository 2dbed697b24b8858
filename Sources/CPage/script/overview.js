// The first view: what is wrong, and how all routes are doing.

async function readOverview(values, signal) {
  const [troubles, routes] = [readTroubles(signal), readRoutes(signal)];
  return parts({
    troubles, status: readStatus(signal), routes, shape: read("/v1/shape", signal),
    history: Promise.allSettled([troubles, routes]).then(([{ value: wrong }, { value: all = [] }]) => hoursOf(all, wrong, values, signal)),
    dead: routes.then(all => deadGroups(sum(all.map(({ dead = 0 }) => dead)), signal)),
  });
}

// It tells of each route, which of very many is work for both sides.
const statuses = { at: 0, found: null };
async function readStatus(signal) {
  if (!statuses.found || Date.now() - statuses.at > 10 * (roster.routes.length - TALL)) {
    Object.assign(statuses, { found: await read("/v1/status", signal), at: Date.now() });
  }
  return statuses.found;
}

function showDaemon(status) {
  const { config, storage, memory, spool, journal, shedding } = status;
  return h("details.daemon#daemon", h("summary", "The daemon"),
    sheet([
      ["Daemon", ["waystationd ", status.version, " ", badge("daemon", status.state)]],
      ["Up", span(status.uptime_seconds * 1000)],
      ["Configuration", h("span", { title: `digest ${config.digest}` },
        `${config.file} (${config.digest.slice(0, 12)}, loaded `, when(config.loaded_at, moment(config.loaded_at)), ")")],
      ["In flight", `${status.in_flight}; ${plural(status.connections, "connection")}${status.connections_refused ? `, ${status.connections_refused} refused` : ""}`],
      ["Job store", [badge("store", storage.state),
        ` ${bytes(storage.used_bytes)}${storage.max_bytes ? ` of ${bytes(storage.max_bytes)} ` : ""}`,
        storage.max_bytes && meter(storage.used_bytes, storage.max_bytes)]],
      ...[["Memory", memory], ["Spool", spool]].map(([title, { used_bytes: used, limit_bytes: limit }]) =>
        [title, [`${bytes(used)} of ${bytes(limit)} `, meter(used, limit)]]),
      ["Shedding", shedding.would_have_refused !== undefined ? `reports; ${shedding.would_have_refused} would have been refused`
        : shedding.level ? `level ${shedding.level}, ${shedding.refused} refused` : shedding.refused
        ? `none, ${shedding.refused} refused earlier` : "none"],
      ["Journal", journal.lost_records ? `${journal.lost_records} lost` : "takes all records"],
      ["Network", status.constrained ? "constrained" : "not constrained"],
      ["Kept jobs", `${status.jobs.queued} not over, ${status.jobs.running} running, ${status.jobs.held} held, ${status.jobs.dead} dead`],
    ]),
    reloadAction(status.config?.digest), constrainedAction());
}

function showOverview(values, { troubles, status, routes, shape, history, dead }) {
  return [
    heading(h("span.unseen", "Overview")),
    troubles && showTroubles(troubles),
    routes && showRoutes(status || {}, routes, troubles, history, values),
    dead && showDead(dead, { status, routes, history }),
    shape?.rows.length > 0 && section("shape", "Kept jobs that are not over, by age",
      shapeTable(shape, "Route", name => jobsOf(name, { state: WAITING, order: "oldest" }, name))),
    showEvents("Latest events"), status && showDaemon(status),
  ];
}
