// Jobs that match, page by page, and what is done to all of them.

const FILTERS = ["route", "state", "reason", "end", "failure_kind", "status", "upstream", "label", "created_after",
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

// How many jobs match, which the store is asked as an action would ask it: `matched`, and whether there are more.
const matches = { key: null, at: 0, found: null };
async function countJobs(values, list, signal) {
  if (!values.cursor && !list.next) return { matched: list.jobs.length };
  if (!may("operate")) return null;
  const filter = bulkFilter(values);
  const key = JSON.stringify(filter);
  if (matches.key !== key || Date.now() - matches.at > 30000) {
    const found = await ask("POST", "/v1/jobs/actions", { action: "drop", filter, dry_run: true, limit: 1000 }, signal);
    Object.assign(matches, { key, at: Date.now(), found });
  }
  return matches.found;
}

function countText({ jobs }, count) {
  if (!count) return `${plural(jobs.length, "job")} here, and there are more`;
  const all = count.next ? `more than ${grouped(count.matched)}` : grouped(count.matched);
  return !count.next && count.matched <= jobs.length ? plural(jobs.length, "job") : `${jobs.length} of ${all} jobs`;
}

// The filter that the interface takes for a bulk action.
function bulkFilter(values) {
  const filter = filterOf(values);
  if (filter.state) filter.state = filter.state.split(",");
  if (filter.status) filter.status = Number(filter.status);
  return filter;
}

async function readJobs(values, signal) {
  const list = read(query("/v1/jobs", { ...filterOf(values), order: values.order, cursor: values.cursor, limit: String(PAGE) }), signal);
  return parts({ list, count: list.then(found => countJobs(values, found, signal)), routes: readRoutes(signal), troubles: readTroubles(signal) });
}

// Each column: its title, class and name, and what it is sorted by.
const JOB_COLUMNS = {
  "Job..job": job => job.id, "Route..route": job => job.route, "State..state": job => job.state,
  "Reason..reason": reasonOf, "Attempts.n.attempts": job => job.attempt_count ?? 0,
  "Age.n.age": job => clock.now() - parsed(job.created_at), "Next.n.next": job => hasNextAttempt(job) ? parsed(job.due_at) : null,
  "Failed by..failed": job => failureWord(job.last_failure), "Request..request": requestOf, "Labels..labels": job => job.labels?.join(" "),
};

function showJobs(values, { list, count, routes = [] }) {
  if (!list) return heading("Kept jobs");
  const filter = filterOf(values);
  const isWhole = !values.cursor && !list.next;
  // Another list begins at its beginning.
  const to = change => go(query("/jobs", { ...filter, order: values.order, sort: values.sort, ...change }));
  const paused = routes.filter(route => pauseText(route)
    && list.jobs.some(job => job.route === route.name && !isOver(job)));
  const bulk = bulkFilter(values);
  // Those of jobs on other pages are not known.
  const states = bulk.state || (isWhole ? list.jobs.map(job => job.state) : [...WAITING.split(","), ...OVER]);
  const value = JOB_COLUMNS[Object.keys(JOB_COLUMNS).find(column => column.split(".")[2] === values.sort?.replace("-", ""))];
  // A part of a list is in the order in which it is told.
  const sorting = isWhole ? { sort: values.sort, to: sort => to({ sort }) }
    : { sort: { oldest: "-age", newest: "age" }[values.order], to: sort => to({ order: { "-age": "oldest", age: "newest" }[sort] }) };
  const columns = Object.keys(JOB_COLUMNS).map(column => isWhole || column.endsWith(".age") ? column : column.split(".").slice(0, 2).join("."));
  return [
    heading("Kept jobs"), jobFilters(values, routes, to),
    offers("bulk", "All that match:", states, bulk),
    may("operate") && list.jobs.length > 0 && chosenJobs(list.jobs),
    paused.map(route => h("p.note#paused " + route.name,
      `Route ${route.name} is ${pauseText(route)}; its jobs wait for it.`)),
    list.jobs.length ? h("div#list", h("p.note", { role: "status" }, countText(list, count)),
      table("Kept jobs", columns, (isWhole && value ? sorted(list.jobs, values.sort, value) : list.jobs).map(job => ({
        key: job.id, cells: [
          [may("operate") && chooser(job), link(jobPath(job.id), job.id)], link(routePath(job.route), job.route), badge("state", job.state),
          reasonOf(job) || "–", attemptsOf(job), when(job.created_at, age(job.created_at)),
          nextText(job), failureWord(job.last_failure) || "–", requestOf(job),
          job.labels?.join(" ") || "–",
        ],
      })), "jobs", sorting))
      : h("p#none", "There are no such jobs" + (list.next ? " on this page." : ".")),
    h("nav.pages#pages", { "aria-label": "Pages" },
      values.cursor && link(query("/jobs", { ...filter, order: values.order }), "First page"), " ",
      list.next && link(query("/jobs", { ...filter, order: values.order, cursor: list.next }), "Next page")),
  ];
}

function jobFilters(values, routes, to) {
  const set = ({ target: { name, value } }) => to({ [name]: name.startsWith("created_") ? asMoment(value.trim()) : value.trim() });
  const choice = (name, title, options) => h("label", h("span", title),
    h("select", { name, value: values[name] || "" }, h("option", { value: "" }, "any"),
      [...new Set([...options, values[name]])].filter(Boolean).map(word =>
        h("option", { value: word, selected: values[name] === word }, word.replaceAll(",", ", ")))));
  const text = (name, title, hint) => h("label", h("span", title),
    h("input", { type: "text", name, value: values[name] || "", placeholder: hint,
      autocomplete: "off", spellcheck: "false" }));
  const known = kind => Object.keys(daemon.words[kind] || {});
  const own = routes.flatMap(route => route.own_kinds || []);
  return h("form.filters#filters", { on: { change: set, submit: () => {} }, "aria-label": "Which jobs" },
    // Very many are found by typing.
    routes.length > TALL ? text("route", "Route", "its name") : choice("route", "Route", routes.map(route => route.name)),
    choice("state", "State", [...WAITING.split(","), ...OVER, WAITING]),
    choice("reason", "Waits for", (daemon.words.reason || []).filter(word => !["due", "route_removed"].includes(word))),
    choice("end", "Ended as", known("end")),
    choice("failure_kind", "Failed by", [...known("failure"), ...own]), text("status", "Status", "503"), text("upstream", "Upstream", "eu"),
    text("label", "Label", "order=8841"),
    text("created_after", "Since", "1h, or a time"), text("created_before", "Before", "1h, or a time"),
    choice("order", "Order", ["newest", "oldest"]),
    Object.keys(filterOf(values)).length > 0 && link("/jobs", "Clear"));
}
