// Dead jobs by what they died of, by upstream and by route; those that may have been carried out stand apart.
const DOUBTS = ["outcome_unknown", "not_repeatable"];
// `said` has the upstream's words of a group, `tried` the job of it that somebody has retried.
const deads = { at: 0, count: -1, groups: [], isWhole: true, said: new Map(), tried: new Map() };
const DEAD_PAGES = 4;
// Groups that are shown.
const DEAD_GROUPS = 50;
// Groups whose words are read, those with the most jobs first.
const SAID = 8;

async function deadGroups(count, signal) {
  await Promise.all([...deads.tried.values()].map(one => one.isOver || lookAt(one, signal)));
  // Reading them is work for both sides: only when there are others than before.
  if (count === deads.count && Date.now() - deads.at < 60000) return deads;
  if (count !== 0 && deads.count > 0 && Date.now() - deads.at < (count > 500 ? 15000 : 3000)) return deads;
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
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
  await Promise.all(sorted.slice(0, SAID).map(group => hear(group, signal)));
  for (const known of [deads.said, deads.tried]) for (const key of known.keys()) if (!groups.has(key)) known.delete(key);
  Object.assign(deads, { at: Date.now(), count, isWhole, groups: sorted });
  return deads;
}

// The words of the newest job of a group stay those of the group for a while.
async function hear(group, signal) {
  const known = deads.said.get(group.key);
  if (known && (known.sample === group.sample || Date.now() - known.at < 30000)) return;
  const job = await read(query(jobURL(group.sample), { include: "body" }), signal).catch(() => null);
  if (!job) return;
  const { response, last_failure: failure } = job;
  const words = response?.source === "upstream" && wordsOf(response.body) || failure?.detail;
  deads.said.set(group.key, { sample: group.sample, at: Date.now(), words });
}

// How the job that was retried before all others does.
async function lookAt(one, signal) {
  const job = await read(jobURL(one.id), signal).catch(() => null);
  if (!job) return;
  Object.assign(one, { state: job.state, isOver: isOver(job) });
  // One that dies again is counted as before, and is not what it was.
  if (one.isOver) deads.count = -1;
}

function addDead(groups, job) {
  const end = job.end || "dead";
  const failure = job.last_failure || {};
  const doubt = DOUBTS.includes(end) ? end : null;
  const key = JSON.stringify([failure.kind || end, failure.status, doubt, job.route, failure.upstream]);
  const group = groups.get(key) || {
    key, kind: failure.kind, status: failure.status, doubt, route: job.route, upstream: failure.upstream,
    title: failureWord(failure) || end,
    count: 0, ends: {}, oldest: job.created_at, newest: job.created_at, first: job.finished_at, sample: job.id, version: job.version,
  };
  group.count += 1;
  group.ends[end] = (group.ends[end] || 0) + 1;
  if (job.created_at < group.oldest) group.oldest = job.created_at;
  if (job.finished_at < group.first) group.first = job.finished_at;
  if (job.created_at > group.newest) [group.newest, group.sample, group.version] = [job.created_at, job.id, job.version];
  groups.set(key, group);
}

const most = counts => {
  const names = Object.entries(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
  return names.slice(0, 3).join(", ") + (names.length > 3 ? ", …" : "");
};

// The reloads, the moves of breakers and the acts of operators since the first of a group died, and how its route is.
function changed({ first, route: name }, { status, routes, history }) {
  const found = history?.routes.find(one => one.name === name);
  const marks = found ? marksOf(history, found) : [];
  const loaded = status?.config.loaded_at;
  // Of more than an hour ago there is the last one alone.
  if (loaded && !marks.some(([, text]) => text.startsWith("Reloaded"))) marks.unshift([loaded, "Configuration loaded"]);
  // Some moments have whole seconds.
  const since = marks.filter(([at]) => parsed(at) + 999 >= parsed(first)).slice(-4);
  const route = routes?.find(one => one.name === name);
  const breakers = Object.entries(route?.breakers || {});
  return [
    since.length ? since.map(([at, text], index) => [index ? " · " : "", when(at, moment(at)), " ", text])
      : found ? "nothing that is on record" : "not read yet",
    route && ["; the route is ", badge("route", route.state)], breakers.map(([upstream, breaker]) => [`, ${upstream} `, badge("", breaker)]),
  ];
}

// One of them before the others, which shows whether the cause is mended.
const tryOne = ({ key, sample, version, doubt }) => action("Try one…", "operate", () => ({
  title: `Retry job ${sample} alone`,
  text: [meaning("job_action", "retry").text, doubt && ` ${sentence(DOUBT)}`],
  command: () => command("jobs", "retry", sample),
  button: () => "Retry",
  run: async () => {
    await ask("POST", `${jobURL(sample)}/retry`, null, null, `v${version}`);
    deads.tried.delete(key);
    deads.tried.set(key, { id: sample });
    if (deads.tried.size > SAID) deads.tried.delete(deads.tried.keys().next().value);
    return `Job ${sample} was retried`;
  },
}));

function deadActs(group) {
  const tried = deads.tried.get(group.key);
  const ends = Object.keys(group.ends).sort();
  const acts = ends.map(end => {
    const filter = { state: ["dead"], route: group.route, ...given({ failure_kind: group.kind, status: group.status, upstream: group.upstream }), end };
    const more = ends.length > 1 ? ` ${spaced(end)}` : "";
    return [bulkAction("retry", filter, `Retry ${tried ? "the rest" : "all"}${more}…`, group.count > 1 ? "10/s" : ""), " ",
      bulkAction("drop", filter, `Drop${more}…`), " "];
  });
  return [
    tried && h("p.note", "Tried ", link(jobPath(tried.id), tried.id), ": ", tried.state ? badge("state", tried.state) : "sent"),
    may("operate") ? [tryOne(group), " ", acts] : "–",
  ];
}

function showDead({ groups, isWhole }, found) {
  if (!groups.length) return null;
  return section("dead", "Dead letters by cause",
    !isWhole && h("p.note", `Of the newest ${500 * DEAD_PAGES}; waystation dead reads them all.`),
    table("Dead letters by cause", ["Said", "Kind", "Count.n", "Oldest.n", "Newest.n", "Route", "Ended as", "Since the first died", "Sample", "Act.acts"],
      groups.slice(0, DEAD_GROUPS).map(group => {
        const { words = "" } = deads.said.get(group.key) || {};
        const ends = Object.keys(group.ends);
        return {
          key: group.key, cells: [
            h("span", { dir: "auto" }, words.length > 120 ? words.slice(0, 120) + "…" : words || group.title),
            link(query("/jobs", { state: "dead", route: group.route, failure_kind: group.kind, status: group.status, upstream: group.upstream,
              end: ends.length > 1 ? "" : ends[0] }), group.title),
            grouped(group.count), when(group.oldest, age(group.oldest)), when(group.newest, age(group.newest)),
            [link(routePath(group.route), group.route), group.upstream && ` (${group.upstream})`],
            [most(group.ends), group.doubt && h("span.note", " may have been carried out: ask the upstream first")],
            ["from ", when(group.first, moment(group.first)), " on: ", changed(group, found)],
            link(jobPath(group.sample), group.sample), deadActs(group),
          ],
        };
      }), "deads"));
}
