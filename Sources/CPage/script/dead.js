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
      }), "deads"));
}
