// A job: what the upstream said, its story, drawn, why it waits and what can be done.

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
  return parts({ job, companions: readCompanions(job, signal), content: readContent(job, signal), troubles: readTroubles(signal) });
}

// The waits before, between and after the attempts, and what each was for: [from, to, words].
function waitsOf(job, attempts, begin, end) {
  const waits = [];
  let from = begin;
  let cause = "";
  for (const { number, started_at: started, duration_ms: duration = 0, rule } of attempts) {
    const at = parsed(started);
    if (at - from >= 1) waits.push([from, at, `before attempt ${number}${cause}`]);
    from = Math.max(from, at + duration);
    cause = rule ? ` (rule "${rule}")` : "";
  }
  if (end > from && job.state !== "running") {
    waits.push([from, end, isOver(job) ? "before it ended" : `for ${spaced(reasonOf(job) || "its turn")}, ${span(clock.now() - from)} of it gone`]);
  }
  return waits;
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
  const waits = waitsOf(job, attempts, begin, end);
  const nodes = waits.map(([since, to]) => rect("wait", x(since), 9, x(to) - x(since), 6));
  nodes.push(...attempts.map(attempt => {
    const at = parsed(attempt.started_at);
    return rect(attempt.kind ? "failed" : "done", x(at), 4, Math.max(3, x(at + (attempt.duration_ms || 0)) - x(at)), 16);
  }));
  if (!isOver(job)) {
    nodes.push(line("nowline", x(clock.now()), 0, x(clock.now()), 24));
    if (hasNextAttempt(job)) nodes.push(rect("due", Math.min(width - 4, x(parsed(job.due_at))), 4, 3, 16));
  }
  const longest = waits.sort(([a, b], [c, d]) => d - c - b + a).slice(0, 3).map(([since, to, words]) => `${took(to - since)} ${words}`);
  return h("figure.strip#strip", drawing("bars", width, 24, null, [line("base", 0, 12, width, 12), nodes]),
    h("figcaption", joined(". ", `${took(end - begin)} from ${moment(from)}, to scale: a bar for each attempt, a thin one for each wait`,
      longest.length > 0 && `The longest: ${longest.join("; ")}`)));
}

// What the upstream said last, or why it said nothing.
function said(job, content) {
  const failure = job.last_failure;
  if (!failure || job.state === "succeeded") return null;
  const { source, body } = content?.response || {};
  const words = source === "upstream" && wordsOf(body) || job.attempts.at(-1)?.api_title;
  return section("said", words ? `The upstream answered ${failure.status || ""}` : "Last failure",
    words && h("blockquote", { dir: "auto" }, words),
    sheet([["Kind", failureWord(failure)], ["Detail", failure.detail], ["Sent", failure.sent], ["Upstream", failure.upstream]]));
}

// What becomes of it by itself, and when.
function comingOf(job) {
  if (!job.durable) return "";
  if (job.state === "running") return "It is with the upstream.";
  if (isOver(job)) {
    return job.state === "succeeded" ? "It is over." : job.links?.request_body
      ? "It is over, and is sent again only if somebody retries it." : "It is over, and its content is gone.";
  }
  const next = hasNextAttempt(job) && parsed(job.due_at) > clock.now();
  return next ? ["Next attempt ", comingText(job.due_at), ", at ", when(job.due_at, moment(job.due_at)), "."]
    : `Next attempt as soon as nothing holds it back.`;
}

function showJob({ job, companions: others, content }) {
  const { title, entries, why, commands } = story(job, others);
  const [id, ...about] = title.split(" · ");
  const doubt = isInDoubt(job) ? sentence(DOUBT)
    : "";
  const item = (entry, index) => h(`li.${entry.look || "plain"}#${index}`,
    entry.at ? when(entry.at, entry.time) : h("time", entry.time || ""),
    h("div",
      entry.what && h("p", h("strong", entry.what), " ", entry.place
        && h("span.place", entry.place, " "),
        entry.result && h("span.badge " + entry.look, entry.result), " ", entry.more),
      entry.notes?.map(note => h("p.note", note))));
  return [
    heading(id, " ",
      h("span.about",
      about.flatMap((part, index) => ["· ", index === 0 ? link(routePath(part), part) : part, " "])),
      job.durable && badge("state", job.state)),
    said(job, content),
    h("p.next#next", comingOf(job)),
    why && h("p.why#why", why),
    h("p.buttons#do",
      job.durable && Object.keys(DONE).filter(word => actsOn(word, [job.state])).map(word =>
        jobAction(word, job, ["retry", "drop"].includes(word) ? doubt : "")),
      job.cancel_asked && h("span.note", "A cancellation was asked for; it ends with its attempt."), copyable(command("explain", job.id))),
    strip(job),
    section("story", "What happened", h("ol.story", entries.map(item))),
    commands.length ? section("commands", "What to do", h("ul.commands", commands.map(one => {
      const [text, before] = [one].flat().reverse();
      return h("li", before, copyable(text));
    }))) : null,
    showContent(job, content),
    section("facts", "The job", sheet([
      ["Attempts", attemptsOf(job)], ["Answer", !content?.response && job.status && `${job.status} from ${job.source || "?"}`],
      ["Expires", !isOver(job) && job.expires_at && `${precise(job.expires_at)} (${comingText(job.expires_at)})`],
      ["Ordering key", job.ordering_key], ["Supersede key", job.supersede_key], ["Priority", job.priority],
      ["Version", job.version],
    ])),
    glossary([["state", job.state], ["end", job.end], ["failure", job.last_failure?.kind]], job.route),
  ];
}
