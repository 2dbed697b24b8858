// A job: its story, drawn, why it waits and what can be done.

const companions = { key: "", at: 0, found: null };

// The jobs of the job's route that are not over and have the same failure, itself included.
async function readCompanions(job, signal) {
  const kind = job.last_failure?.kind;
  if (isOver(job) || !kind || !job.durable) return null;
  const key = job.route + " " + kind;
  if (companions.key === key && Date.now() - companions.at < 10000) return companions.found;
  const list = await read(query("/v1/jobs",
    { route: job.route, failure_kind: kind, state: "queued,running,retrying,held", order: "oldest",
    limit: "500" }), signal);
  Object.assign(companions, {
    key, at: Date.now(), found: { count: list.jobs.length, hasMore: list.next, since: list.jobs[0]?.created_at },
  });
  return companions.found;
}

async function readJob(id, signal) {
  const job = { attempts: [], ...await read(jobURL(id), signal) };
  return parts({ job, companions: readCompanions(job, signal), troubles: readTroubles(signal) });
}

// Attempts and waits to scale, from the acceptance to the end, or to the next attempt.
function strip(job) {
  const attempts = job.attempts.filter(attempt => attempt.started_at);
  const from = job.created_at || attempts[0]?.started_at;
  const begin = parsed(from);
  const end = job.finished_at ? parsed(job.finished_at)
    : Math.max(clock.now(), hasNextAttempt(job) ? parsed(job.due_at) : 0);
  if (!attempts.length || !(end > begin)) return null;
  const width = 600;
  const x = at => decimals(Math.min(width, Math.max(0, (at - begin) / (end - begin) * width)), 1);
  const nodes = attempts.map(attempt => {
    const at = parsed(attempt.started_at);
    return rect(attempt.kind ? "failed" : "done", x(at), 4, Math.max(3, x(at + (attempt.duration_ms || 0)) - x(at)), 16);
  });
  if (!isOver(job)) {
    nodes.push(line("nowline", x(clock.now()), 0, x(clock.now()), 24));
    if (hasNextAttempt(job)) nodes.push(rect("due", Math.min(width - 4, x(parsed(job.due_at))), 4, 3, 16));
  }
  return h("figure.strip#strip", drawing("bars", width, 24, null, [line("base", 0, 12, width, 12), nodes]),
    h("figcaption", `${took(end - begin)} from ${moment(from)}; to scale, a bar for each attempt`));
}

function showJob({ job, companions: others }) {
  const { title, entries, why, commands } = story(job, others);
  const [id, ...about] = title.split(" · ");
  const failure = job.last_failure;
  const doubt = isInDoubt(job) ? sentence(DOUBT)
    : "";
  const item = (entry, index) => h(`li.${entry.look || "plain"}#${index}`,
    entry.at ? when(entry.at, entry.time) : h("time", entry.time || ""),
    h("div",
      entry.what && h("p", h("strong", entry.what), " ", entry.place
        && h("span.place", entry.place, " "),
        entry.result && h("span.badge " + entry.look, entry.result), " ", entry.more),
      entry.notes?.map(note => h("p.note", note))));
  const bodies = [["request", job.links?.request_body], ["response", isOver(job) && job.links?.response]].filter(([, one]) => one);
  return [
    heading(id, " ",
      h("span.about",
      about.flatMap((part, index) => ["· ", index === 0 ? link(routePath(part), part) : part, " "])),
      job.durable && badge("state", job.state)),
    h("p.buttons#do",
      job.durable && Object.keys(DONE).filter(word => actsOn(word, [job.state])).map(word =>
        jobAction(word, job, ["retry", "drop"].includes(word) ? doubt : "")),
      job.cancel_asked && h("span.note", "A cancellation was asked for; it ends with its attempt."), copyable(command("explain", job.id))),
    why && h("p.why#why", why),
    strip(job),
    section("story", "What happened", h("ol.story", entries.map(item))),
    commands.length ? section("commands", "What to do", h("ul.commands", commands.map(one => {
      const [text, before] = [one].flat().reverse();
      return h("li", before, copyable(text));
    }))) : null,
    failure?.detail && section("failure", "Last failure", sheet([["Kind", failure.kind], ["Detail", failure.detail],
      ["Sent", failure.sent], ["Status", failure.status], ["Upstream", failure.upstream]])),
    section("facts", "The job", sheet([
      ["Attempts", attemptsOf(job)], ["Answer", job.status && `${job.status} from ${job.source || "?"}`],
      ["Expires", !isOver(job) && job.expires_at && `${precise(job.expires_at)} (in ${left(job.expires_at)})`],
      ["Ordering key", job.ordering_key], ["Supersede key", job.supersede_key], ["Priority", job.priority],
      ["Version", job.version],
      ["Bodies", bodies.length ? bodies.map(([name]) =>
        [h("a", { href: `${jobURL(job.id)}/${name}/body`, download: "" }, name), " "]) : null],
    ])),
    glossary([["state", job.state], ["end", job.end], ["failure", failure?.kind]], job.route),
  ];
}
