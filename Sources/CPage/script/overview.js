// The first view: what is wrong, what the relay does about it, and how everything is doing.

// Figures of the last hour change once in a while, and are not there in a daemon that has none.
const hours = { at: 0, name: null, document: null };
async function hourly(name, signal) {
  // Of very many routes less often.
  const patience = hours.document ? Math.max(5000, 100 * hours.document.routes.length) : 5000;
  if (hours.name !== name || Date.now() - hours.at > patience) {
    const document = await read(query("/v1/history", { route: name }), signal).catch(error => {
      // Of a route that is not configured there is none.
      if (error.status === 404) return null;
      throw error;
    });
    Object.assign(hours, { at: Date.now(), name, document });
  }
  return hours.document;
}

// Dead jobs by what they died of; those that may have been carried out stand apart.
const DOUBTS = ["outcome_unknown", "not_repeatable"];
const deads = { at: 0, count: -1, groups: [], isWhole: true };
const DEAD_PAGES = 4;

async function deadGroups(count, signal) {
  // Reading them is work for both sides: only when there are others than before.
  if (count === deads.count && Date.now() - deads.at < 60000) return deads;
  if (count !== 0 && Date.now() - deads.at < (count > 500 ? 15000 : 3000)) return deads;
  const groups = new Map();
  let cursor = null;
  let isWhole = true;
  for (let page = 0; count && page < DEAD_PAGES; page += 1) {
    const list = await read(query("/v1/jobs", { state: "dead", limit: "500", cursor }), signal);
    for (const job of list.jobs) addDead(groups, job);
    cursor = list.next;
    isWhole = !cursor;
    if (!cursor) break;
  }
  Object.assign(deads, { at: Date.now(), count, isWhole,
    groups: [...groups.values()].sort((a, b) => b.count - a.count || (a.title < b.title ? -1 : 1)) });
  return deads;
}

function addDead(groups, job) {
  const end = job.end || "dead";
  const failure = job.last_failure || {};
  const doubt = DOUBTS.includes(end) ? end : null;
  const key = JSON.stringify([failure.kind || end, failure.status, doubt]);
  const group = groups.get(key) || {
    key, kind: failure.kind, status: failure.status, doubt,
    title: failureWord(failure) || end,
    count: 0, routes: {}, ends: {}, oldest: job.created_at, newest: job.created_at, sample: job.id,
  };
  group.count += 1;
  group.routes[job.route] = (group.routes[job.route] || 0) + 1;
  group.ends[end] = (group.ends[end] || 0) + 1;
  if (job.created_at < group.oldest) group.oldest = job.created_at;
  if (job.created_at > group.newest) [group.newest, group.sample] = [job.created_at, job.id];
  groups.set(key, group);
}

const most = counts => {
  const names = Object.entries(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
  return names.slice(0, 3).join(", ") + (names.length > 3 ? ", …" : "");
};

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

const ROUTE_ROWS = 200;

function showRoutes(status, routes, history, values) {
  const credentials = new Map(status.credentials?.map(one => [one.name, one]));
  const wanted = routes.filter(({ name }) => !values.name || name.includes(values.name));
  const rows = wanted.slice(0, ROUTE_ROWS).map(route => {
    const hour = hourOf(history, route);
    const failure = route.last_failure;
    const credential = credentials.get(route.credential);
    const waiting = waitingOf(route);
    const { dead } = route.jobs;
    const open = route.upstreams.filter(hasActed);
    return {
      key: route.name, class: route.state === "unconfigured" ? "isbad" : "is" + lookOf(route.state),
      cells: [
        link(routePath(route.name), route.name), badge("route", route.state),
        hour ? bars(hour, 20) : "–", hour?.rate != null ? plural(rateText(hour.rate), hour.what) : "–", hour ? failedText(hour)
          : "–",
        hour?.p50now != null ? `${short(hour.p50now)} / ${short(hour.p99now ?? hour.p50now)}` : "–",
        open.length ? open.map(upstream => [badge("", upstream.breaker), " ", upstream.name, " "])
          : route.upstreams.some(upstream => upstream.breaker === "closed") ? badge("", "closed") : "off",
        credential ? badge("credential", credential.state) : route.credential ? "not fetched" : "none",
        waiting ? jobsOf(route.name, { state: WAITING }, grouped(waiting)) : "0",
        dead ? jobsOf(route.name, { state: "dead" }, grouped(dead)) : "0",
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
    wanted.length > ROUTE_ROWS && h("p.note", `${ROUTE_ROWS} of ${wanted.length} routes; name some of them above`));
}

function showDead({ groups, isWhole }) {
  if (!groups.length) return null;
  return section("dead", "Dead letters by cause",
    !isWhole && h("p.note", `Of the newest ${500 * DEAD_PAGES}; waystation dead reads them all.`),
    table("Dead letters by cause", ["Kind", "Count.n", "Oldest.n", "Newest.n", "Routes", "Ended as", "Sample", "Act.acts"],
      groups.slice(0, 50).map(group => {
        const filters = Object.keys(group.ends).sort().map(end => ({
          state: ["dead"], ...given({ failure_kind: group.kind, status: group.status }), end,
        }));
        const several = filters.length > 1;
        return {
          key: group.key, cells: [
            link(query("/jobs", { state: "dead", failure_kind: group.kind, status: group.status, end: several ? ""
              : filters[0].end }), group.title),
            grouped(group.count), when(group.oldest, age(group.oldest)), when(group.newest, age(group.newest)), most(group.routes),
            [most(group.ends), group.doubt && h("span.note", " may have been carried out: ask the upstream first")],
            link(jobPath(group.sample), group.sample),
            may("operate") ? filters.map(filter =>
              ["retry", "drop"].map(word =>
                [bulkAction(word, filter, titled(word) + (several ? ` ${spaced(filter.end)}…` : "…")), " "])) : "–",
          ],
        };
      })));
}

// An event as `waystation events` tells it.
function eventWords(data) {
  return joined("  ",
    data.attempt !== undefined && `attempt ${data.attempt}`, data.upstream, data.state, data.status, data.kind,
    data.end && `ended as ${data.end}`,
    data.rule && `rule ${data.rule}`, data.wait_ms !== undefined && `next in ${short(data.wait_ms)}`,
    data.lost !== undefined && `events that are gone: ${data.lost}`, data.detail);
}

function showEvents(title) {
  const events = [...live.recent].reverse().map(text => JSON.parse(text));
  return section("events", title,
    live.lost > 0 && h("p.note", `${grouped(live.lost)} events were missed; the figures above were read anew.`),
    events.length ? table(title, ["Time", "What", "Route", "Job", "More"],
      events.map(({ id, time: at, type, data = {} }, index) => ({
        key: id || index, cells: [when(at, precise(at)), type.replace("waystation.", ""),
          data.route ? link(routePath(data.route), data.route) : "–",
          data.job ? link(jobPath(data.job), data.job) : "–", eventWords(data)],
      })), "events") : h("p.note", "Nothing that the daemon remembers."));
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
