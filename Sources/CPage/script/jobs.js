// Jobs that match, page by page, and what is done to all of them.

const FILTERS = ["route", "state", "reason", "end", "failure_kind", "status", "label", "created_after",
  "created_before"];
const STATES = ["scheduled", "queued", "running", "retrying", "held", "succeeded", "dead", "cancelled", "expired"];
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
  return !isOver(job) && job.state !== "held" && !isDateless;
}

function attemptsOf(job) {
  const made = job.attempt_count ?? (job.attempts || []).length;
  return job.max_attempts === undefined || made > job.max_attempts ? String(made) : `${made}/${job.max_attempts}`;
}

const failedBy = job =>
  (job.last_failure ? job.last_failure.kind + (job.last_failure.status ? ` ${job.last_failure.status}` : "")
  : null);
const requestOf = job => `${(job.request || job).method || "?"} ${(job.request || job).path || "?"}`;

const filterOf = values =>
  Object.fromEntries(FILTERS.filter(name => values[name]).map(name => [name, values[name]]));

// A span such as 90m becomes a moment, as the command line has it.
function asMoment(text) {
  const found = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text);
  if (!text || !found) return text;
  const [days, hours, minutes, seconds] = found.slice(1).map(number => Number(number || 0));
  return new Date(clock.now() - 1000 * (86400 * days + 3600 * hours + 60 * minutes + seconds)).toISOString();
}

// What the interface takes for a bulk action.
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
    routes: readRoutes(signal) });
}

const readRoutes = async signal => (await read("/v1/routes", signal)).routes;

function showJobs(values, { list, routes = [] }) {
  if (!list) return h("h1", { tabindex: -1, key: "h1" }, "Kept jobs");
  const filter = filterOf(values);
  const set = event => {
    const { name, value } = event.target;
    const given = name.startsWith("created_") ? asMoment(value.trim()) : value.trim();
    // Another list begins at its beginning.
    go(query("/jobs", { ...filter, order: values.order, [name]: given }));
  };
  const choice = (name, title, options) => h("label", h("span", title),
    h("select", { name, value: values[name] || "" }, h("option", { value: "" }, "any"),
      [...new Set([...options, ...(values[name] ? [values[name]] : [])])].map(word =>
        h("option", { value: word, selected: values[name] === word }, word.replaceAll(",", ", ")))));
  const text = (name, title, hint) => h("label", h("span", title),
    h("input", { type: "text", name, value: values[name] || "", placeholder: hint,
      autocomplete: "off", spellcheck: "false" }));
  const known = kind => Object.keys(daemon.words[kind] || {});
  const own = routes.flatMap(route => route.own_kinds || []);
  const filters = h("form", { class: "filters", key: "filters", on: { change: set, submit: () => {} },
    "aria-label": "Which jobs" },
    choice("route", "Route", routes.map(route => route.name)),
    choice("state", "State", [...STATES, "scheduled,queued,running,retrying,held"]),
    choice("reason", "Waits for", (daemon.words.reason || []).filter(word => !["due", "route_removed"].includes(word))),
    choice("end", "Ended as", known("end")),
    choice("failure_kind", "Failed by", [...known("failure"), ...own]), text("status", "Status", "503"),
    text("label", "Label", "order=8841"),
    text("created_after", "Since", "1h, or a time"), text("created_before", "Before", "1h, or a time"),
    choice("order", "Order", ["newest", "oldest"]),
    Object.keys(filter).length ? link("/jobs", "Clear") : null);
  const paused = routes.filter(route => route.pause
    && list.jobs.some(job => job.route === route.name && !isOver(job)));
  const bulk = bulkFilter(values);
  return [
    h("h1", { tabindex: -1, key: "h1" }, "Kept jobs"), filters,
    may("operate") ? h("p", { class: "buttons", key: "bulk" }, h("span", "All that match:"),
      ["retry", "cancel", "hold", "release", "drop"].map(word => bulkAction(word, bulk, titled(word) + "…")))
        : null,
    paused.map(route => h("p", { class: "note", key: "paused " + route.name },
      `Route ${route.name} is ${pauseText(route)}; its jobs wait for it.`)),
    list.jobs.length ? h("div", { key: "list" }, table("Kept jobs",
      [["Job"], ["Route"], ["State"], ["Reason"], ["Attempts", "n"], ["Age", "n"], ["Next", "n"], ["Failed by"],
        ["Request"], ["Labels"]],
      list.jobs.map(job => ({
        key: job.id, cells: [
          link(jobPath(job.id), job.id), link(routePath(job.route), job.route), badge("state", job.state),
          reasonOf(job) || "–", attemptsOf(job), when(job.created_at, age(job.created_at)),
          hasNextAttempt(job) ? when(job.due_at, until(job.due_at)) : "–", failedBy(job) || "–", requestOf(job),
          (job.labels || []).join(" ") || "–",
        ],
      })), "jobs"))
      : h("p", { key: "none" }, "There are no such jobs" + (list.next ? " on this page." : ".")),
    h("nav", { class: "pages", key: "pages", "aria-label": "Pages" },
      values.cursor ? link(query("/jobs", { ...filter, order: values.order }), "First page") : null, " ",
      list.next ? link(query("/jobs", { ...filter, order: values.order, cursor: list.next }), "Next page") : null),
  ];
}
