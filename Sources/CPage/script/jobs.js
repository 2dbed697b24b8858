// Jobs that match, page by page, and what is done to all of them.

const FILTERS = ["route", "state", "reason", "end", "failure_kind", "status", "label", "created_after",
  "created_before"];
const WAITING = "scheduled,queued,running,retrying,held";
const OVER = ["succeeded", "dead", "cancelled", "expired"];
const PAGE = 50;

const isOver = job => OVER.includes(job.state);

// Why it waits, or why it is over.
function reasonOf(job) {
  const blocker = job.blocker?.reason;
  if (!isOver(job) && blocker && !["due", "running"].includes(blocker)) return blocker;
  return job.reason || (job.end && job.end !== job.state ? job.end : null);
}

function hasNextAttempt(job) {
  const isDateless = ["route_paused", "route_removed", "ordering"].includes(job.blocker?.reason);
  return job.due_at && !isOver(job) && job.state !== "held" && !isDateless;
}

// When it is tried next: not before its date, nor before what holds it back then.
function nextText(job) {
  const { reason = "due", until: end } = job.blocker || {};
  if (!hasNextAttempt(job)) return "–";
  if (parsed(job.due_at) > clock.now() || reason === "due") return when(job.due_at, until(job.due_at));
  return end ? when(end, until(end)) : "–";
}

function attemptsOf(job) {
  const made = job.attempt_count ?? job.attempts?.length ?? 0;
  return job.max_attempts === undefined || made > job.max_attempts ? String(made) : `${made}/${job.max_attempts}`;
}

// The kind of a failure, with the status of the answer.
const failureWord = failure => failure && joined(" ", failure.kind, failure.status);
const requestOf = job => `${(job.request || job).method || "?"} ${(job.request || job).path || "?"}`;

const filterOf = values => given(Object.fromEntries(FILTERS.map(name => [name, values[name]])));

// A span such as 90m becomes a moment, as the command line has it.
function asMoment(text) {
  const found = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text);
  if (!text || !found) return text;
  const seconds = [86400, 3600, 60, 1].reduce((sum, size, index) => sum + size * (found[index + 1] || 0), 0);
  return new Date(clock.now() - 1000 * seconds).toISOString();
}

// The filter that the interface takes for a bulk action.
function bulkFilter(values) {
  const filter = filterOf(values);
  if (filter.state) filter.state = filter.state.split(",");
  if (filter.status) filter.status = Number(filter.status);
  return filter;
}

async function readJobs(values, signal) {
  return parts({
    list: read(query("/v1/jobs", { ...filterOf(values), order: values.order, cursor: values.cursor,
      limit: String(PAGE) }), signal),
    routes: readRoutes(signal), troubles: readTroubles(signal) });
}

function showJobs(values, { list, routes = [] }) {
  if (!list) return heading("Kept jobs");
  const filter = filterOf(values);
  const set = event => {
    const { name, value } = event.target;
    const given = name.startsWith("created_") ? asMoment(value.trim()) : value.trim();
    // Another list begins at its beginning.
    go(query("/jobs", { ...filter, order: values.order, [name]: given }));
  };
  const choice = (name, title, options) => h("label", h("span", title),
    h("select", { name, value: values[name] || "" }, h("option", { value: "" }, "any"),
      [...new Set([...options, values[name]])].filter(Boolean).map(word =>
        h("option", { value: word, selected: values[name] === word }, word.replaceAll(",", ", ")))));
  const text = (name, title, hint) => h("label", h("span", title),
    h("input", { type: "text", name, value: values[name] || "", placeholder: hint,
      autocomplete: "off", spellcheck: "false" }));
  const known = kind => Object.keys(daemon.words[kind] || {});
  const own = routes.flatMap(route => route.own_kinds || []);
  const filters = h("form.filters#filters", { on: { change: set, submit: () => {} }, "aria-label": "Which jobs" },
    choice("route", "Route", routes.map(route => route.name)),
    choice("state", "State", [...WAITING.split(","), ...OVER, WAITING]),
    choice("reason", "Waits for", (daemon.words.reason || []).filter(word => !["due", "route_removed"].includes(word))),
    choice("end", "Ended as", known("end")),
    choice("failure_kind", "Failed by", [...known("failure"), ...own]), text("status", "Status", "503"),
    text("label", "Label", "order=8841"),
    text("created_after", "Since", "1h, or a time"), text("created_before", "Before", "1h, or a time"),
    choice("order", "Order", ["newest", "oldest"]),
    Object.keys(filter).length > 0 && link("/jobs", "Clear"));
  const paused = routes.filter(route => route.pause
    && list.jobs.some(job => job.route === route.name && !isOver(job)));
  const bulk = bulkFilter(values);
  // Those of jobs on other pages are not known.
  const states = bulk.state || (values.cursor || list.next ? [...WAITING.split(","), ...OVER] : list.jobs.map(job => job.state));
  const offered = Object.keys(DONE).filter(word => actsOn(word, states));
  return [
    heading("Kept jobs"), filters,
    may("operate") && offered.length > 0 && h("p.buttons#bulk", h("span", "All that match:"),
      offered.map(word => bulkAction(word, bulk, titled(word) + "…"))),
    paused.map(route => h("p.note#paused " + route.name,
      `Route ${route.name} is ${pauseText(route)}; its jobs wait for it.`)),
    list.jobs.length ? h("div#list", table("Kept jobs",
      ["Job", "Route", "State", "Reason", "Attempts.n", "Age.n", "Next.n", "Failed by", "Request", "Labels"],
      list.jobs.map(job => ({
        key: job.id, cells: [
          link(jobPath(job.id), job.id), link(routePath(job.route), job.route), badge("state", job.state),
          reasonOf(job) || "–", attemptsOf(job), when(job.created_at, age(job.created_at)),
          nextText(job), failureWord(job.last_failure) || "–", requestOf(job),
          job.labels?.join(" ") || "–",
        ],
      })), "jobs"))
      : h("p#none", "There are no such jobs" + (list.next ? " on this page." : ".")),
    h("nav.pages#pages", { "aria-label": "Pages" },
      values.cursor && link(query("/jobs", { ...filter, order: values.order }), "First page"), " ",
      list.next && link(query("/jobs", { ...filter, order: values.order, cursor: list.next }), "Next page")),
  ];
}
