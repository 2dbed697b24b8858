// The story of a job, in the sentences of `waystation explain`.

// The entries of the story of a job, as explain has its lines.
function story(job, companions) {
  const { attempts } = job;
  const before = job.durable ? attempts.findIndex(attempt => attempt.next === "respond_and_keep") + 1 : 0;
  const entries = attempts.slice(0, before).map(attemptEntry);
  entries.push({ time: precise(job.created_at), at: job.created_at, what: job.durable ? "accepted" : "received", more: acceptedText(job), look: "begin" });
  const hidden = (job.attempt_count ?? attempts.length) - attempts.length;
  if (hidden > 0) entries.push({ notes: [`(earlier attempts not shown: ${hidden})`] });
  const actions = (job.actions || []).filter(one => one.action !== "expunge");
  for (const attempt of attempts.slice(before)) {
    while (actions.length && parsed(actions[0].at) <= parsed(attempt.started_at)) entries.push(actionEntry(actions.shift()));
    entries.push(attemptEntry(attempt));
  }
  entries.push(...actions.map(actionEntry));
  if (!job.durable) return { title: titleOf(job), entries: [...entries, ...answeredEntries(job)], why: "", commands: [] };
  if (isOver(job) && job.state !== "succeeded" && isInDoubt(job)) entries.push({ notes: [DOUBT], look: "warn" });
  entries.push(...[nowEntry(job)].filter(Boolean), ...noticeNotes(job).map(note => ({ notes: [note] })), ...(job.actions || []).filter(one => one.action === "expunge").map(actionEntry));
  return { title: titleOf(job), entries, why: isOver(job) ? "" : whyText(job, companions),
    commands: storyCommands(job) };
}

// How it tells another route of its end, or that it tells of another job's.
function noticeNotes({ notice, notice_of: of }) {
  const before = notice?.supersedes ? `, in place of ${notice.supersedes}` : "";
  return [of && `it tells how job ${of} ended`, notice && (notice.owed ? `its notice is owed: job ${notice.job}`
    : `job ${notice.job} tells another route of it`) + before].filter(Boolean);
}

function titleOf(job) {
  const parts = [`Job ${job.id}`, job.route, requestOf(job)];
  if (job.request?.size !== undefined) parts.push(bytes(job.request.size));
  if (job.client) {
    parts.push("from " + clientText(job.client));
  }
  if (job.labels?.length) parts.push(`label ${job.labels.join(" ")}`);
  return parts.join(" · ");
}

// `alice (uid 1001)`, of whoever did something; in a fleet with the daemon whose machine's user that is.
const userText = ({ uid, user, node } = {}) => uid === undefined ? "somebody the kernel has no name for"
  : joined(" on ", user ? `${user} (uid ${uid})` : `uid ${uid}`, node);

// `shop.service (alice, uid 1001)`, or as much of it as is known.
function clientText({ uid, unit, node }) {
  // On another machine the number may be another user's.
  const name = node ? "" : users.nameOf(uid);
  if (unit) return joined(" on ", `${unit} (${name ? name + ", " : ""}uid ${uid})`, node);
  return userText({ uid, user: name, node });
}

function acceptedText(job) {
  const parts = job.durable ? ["durable"] : [];
  if (job.keyed) parts.push("with an idempotency key");
  if (job.repeatable === false
    && !isOver(job)) parts.push("not repeatable (sent again only after it was refused or never sent)");
  if (job.ordering_key) parts.push(`in order of "${job.ordering_key}"`);
  if (job.expires_at && !isOver(job)) parts.push(`expires ${comingText(job.expires_at)}`);
  const reason = job.request?.sent_once_because;
  if (reason) parts.push(`the body is not kept: it is sent once (${reason})`);
  if (job.permit_wait_ms >= 1) parts.push(`waited ${took(job.permit_wait_ms)} for a permit of the route (concurrency.max_requests)`);
  return parts.join(", ");
}

// Told where the fault is not where one looks first.
const causes = {
  too_many: "the upstream had too much to do: nobody's fault", caller: "the caller's doing: it counts for nothing",
  relay: "the relay's doing: it counts for nothing against the upstream",
};

function attemptEntry(attempt) {
  const what = joined(" ", attempt.status, (attempt.kind !== "http_status" || !attempt.status) && attempt.kind);
  const timing = attempt.timing_ms || {};
  const phases = attempt.duration_ms >= 50
    ? [["dns", "dns"], ["connect", "connect"], ["first_byte", "first byte"]].filter(([name]) =>
      timing[name] >= 1).map(([name, title]) => `${title} ${took(timing[name])}`) : [];
  const place = joined(" ", attempt.upstream, attempt.address);
  const time = attempt.duration_ms === undefined ? "" : `in ${took(attempt.duration_ms)}`;
  const notes = causes[attempt.cause] ? [causes[attempt.cause]] : [];
  if (attempt.api_code || attempt.api_title) {
    notes.push(joined("", "the upstream says", attempt.api_code && " " + attempt.api_code, attempt.api_title && `: "${attempt.api_title}"`));
  }
  if (attempt.node) notes.push(`by ${attempt.node}`);
  if (attempt.resent) notes.push("sent once more: the upstream had closed the kept connection");
  if (attempt.result === "interrupted") notes.push("the relay crashed: whether it was sent is not known");
  for (const { rule, reason } of attempt.held_back || []) {
    notes.push(reason.startsWith("would have ") ? `${rule} ${reason}` : rule === attempt.rule ? `rule "${rule}": ${reason}`
      : /^(follow|hedge|verify)$/.test(rule) ? `${rule}: ${reason}` : `rule "${rule}" did not act: ${reason}`);
  }
  if (attempt.next) notes.push(decisionText(attempt));
  return {
    time: precise(attempt.started_at), at: attempt.started_at, what: `${attempt.look_up ? "look-up" : "attempt"} ${attempt.number}`, place: "→ " + place,
    result: joined(" ", what, attempt.look_up) || attempt.result || "?",
    more: time + (phases.length ? ` (${phases.join(", ")})` : ""),
    notes, look: attempt.kind ? "bad" : attempt.result === "success" ? "good" : "warn",
  };
}

function decisionText(attempt) {
  const standIn = attempt.next_source || "fallback";
  const wait = took(attempt.wait_ms || 0);
  const actions = {
    retry: attempt.wait_ms > 0 ? `retry in ${wait}` : "retry at once",
    refresh_credentials: "refresh the credential and try again",
    failover: `fail over to ${attempt.next_upstream || "another upstream"}`,
    respond: `answer with the ${standIn}`,
    respond_and_keep: `answered with the ${standIn}; the request goes on as a kept job`,
    quick_recovery: "take it as a success", verify: `ask the upstream in ${wait} what became of it`,
    follow: `look at ${attempt.operation || "it"} in ${wait}`,
  };
  return (attempt.rule ? `rule "${attempt.rule}": ` : "") + (actions[attempt.next] || spaced(attempt.next));
}

function actionEntry(done) {
  const what = { retry: "retried", cancel: done.asked ? "cancel asked" : "cancelled", hold: "held",
    release: "released", expunge: "expunged" }[done.action] || done.action;
  const who = "by " + userText(done);
  return { time: precise(done.at), at: done.at, what, more: who + (done.bulk ? ", in a bulk action" : ""), look: "hand" };
}

const metNoRule = ({ attempts }, attempt = attempts.findLast(one => one.next !== "hedge")) =>
  Boolean(attempt?.kind && !/^(cancelled|client_gone|http_request_error|preparation)$/.test(attempt.kind)
  && !attempt.rule && !attempt.next && (attempt.held_back || []).every(held => /^not sent a/.test(held.reason)));

const REMARKS = { upstream: "", verified: ", found by asking the upstream", followed: ", at the end of its operation",
  begun: ", and its operation goes on" };

function nowEntry(job) {
  if (isOver(job)) {
    const failure = job.last_failure
      ? `: ${job.last_failure.kind}${job.last_failure.detail ? `: ${job.last_failure.detail}` : ""}` : "";
    const status = job.status !== undefined && !failure ? `: answered ${job.status}` : "";
    const standIn = REMARKS[job.source] ?? (job.source ? ` with the ${job.source}` : "");
    const rules = job.end === "exhausted" && metNoRule(job) ? ", no rule acts on it" : "";
    const end = job.end && job.end !== job.state ? ` (${job.end}${rules})` : "";
    return { time: precise(job.finished_at), at: job.finished_at, what: job.state + end + status + standIn + failure,
      look: job.state === "succeeded" ? "good" : "bad" };
  }
  if (job.state === "running") {
    const at = job.under_way;
    return at ? { time: precise(at.started_at), what: `attempt ${at.number} → ${at.upstream}`, more: "under way",
      look: "now" } : { what: "with the upstream", look: "now" };
  }
  if (!hasNextAttempt(job)) return null;
  const reason = reasonOf(job);
  if (parsed(job.due_at) <= clock.now()) return { what: "next attempt", more: `as soon as it may${reason ? ` (${reason})` : ""}`, look: "next" };
  return { time: precise(job.due_at), at: job.due_at, what: "next attempt", more: comingText(job.due_at), look: "next" };
}

function whyText(job, companions) {
  const blocker = job.blocker || {};
  const reason = blocker.reason || job.reason;
  if (!reason) return "";
  let text = `Why it waits: ${reason}.`;
  if (blocker.detail) text += ` ${sentence(blocker.detail)}`;
  if (blocker.since) text += ` Since ${moment(blocker.since)}.`;
  if (blocker.until && blocker.until !== job.due_at) text += ` Until ${moment(blocker.until)}.`;
  if (companions?.count > 1) {
    text += ` The route sees the same failure on ${companions.hasMore ? "more than " : ""}${companions.count} jobs${companions.since ? ` (since ${moment(companions.since)})` : ""}.`;
  }
  return text;
}

const DOUBT = "it may have been carried out: ask the upstream first, a retry may do it twice";

const isInDoubt = job => job.in_doubt === true || DOUBTS.includes(job.end);

// The commands that may help, as explain names them: [words before it, command].
function storyCommands(job) {
  const jobs = word => command("jobs", word, job.id);
  const ofRoute = (word, ...more) => command(word, job.route, ...more);
  const journal = `waystation logs ${job.id}`;
  if (job.state === "succeeded") return [];
  if (isOver(job) && !job.links.request_body) return [jobs("drop"), journal];
  const known = { cat: job.status !== undefined && command("cat", job.id, "--response"), limits: ofRoute("limits"),
    resume: ofRoute("resume"), pause: ofRoute("pause"), breaker: ofRoute("breaker", "closed"), reload: command("reload"), status: command("status"),
    "--route": command("jobs", "--route", job.route, "--limit", "all") };
  const { advice } = daemon.words;
  const clauses = isOver(job)
    ? advice[isInDoubt(job) && !["superseded", "corrupt"].includes(job.end) ? "outcome_unknown" : job.end] ?? advice.exhausted
    : advice[job.state === "running" ? job.state : job.blocker?.reason || job.reason] ?? advice.backoff;
  return [...clauses.split(";").map(clause => clause.split("$")).map(([before, word]) => [before, known[word] ?? jobs(word)])
    .filter(([, one]) => one), journal];
}

// The end of one that was answered at once.
function answeredEntries(job) {
  const entries = [];
  if (metNoRule(job)) entries.push({ notes: ["no rule of the route acts on this failure"] });
  let what = `answered ${job.status ?? "no answer"}${REMARKS[job.source] ?? ""}`, look = "good";
  if (["fallback", "placeholder", "stale"].includes(job.outcome)) {
    what += ` with the ${job.outcome}`;
    if (job.kept) what += "; the request goes on as " + (job.kept.job === job.id ? "a kept job" : `the kept job ${job.kept.job}`);
    look = "warn";
  } else if (job.outcome !== "success") {
    const { detail, sent } = job.last_failure || {};
    const isSafe = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].includes(job.request?.method);
    what = "failed" + (detail ? `: ${detail}` : "");
    if (sent === "unknown") what += " (outcome unknown: it may have been carried out)";
    if (sent === "answered" && !isSafe) what += " (an answer that does not say it was refused: it may have been carried out)";
    look = "bad";
  }
  entries.push({ time: precise(job.finished_at), at: job.finished_at, what, look });
  if (job.ordinary_path) entries.push({ notes: [`took the ordinary path, which costs the relay more: ${job.ordinary_path.detail}`] });
  return entries;
}
