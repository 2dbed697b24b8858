// What is done to every job that matches.

const bulkValues = ({ rate, unknown }) => given({ rate, unknown: Boolean(unknown) });

// Every job that matches: `filter` is that of the API, `rate` the one that is proposed.
function bulkAction(word, filter, name, rate = "") {
  // Those that come after the count are not among them.
  let before;
  let size;
  let begun;
  const order = values => ({ action: word, filter: { ...filter, created_before: before }, ...bulkValues(values) });
  // Call by call, since one takes so many jobs and no more.
  const count = async (values, signal) => {
    const sum = { matched: 0, changed: 0, asked: 0, body_expired: 0, left_alone: 0, superseded: 0 };
    let cursor;
    do {
      const answer = await ask("POST", "/v1/jobs/actions", { ...order(values), dry_run: true, limit: 1000, ...given({ cursor }) }, signal);
      for (const key of Object.keys(sum)) sum[key] += answer[key];
      cursor = answer.next;
    } while (cursor);
    return sum;
  };
  return action(name || titled(word), "operate", () => ({
    title: filter.ids ? `${titled(word)} ${plural(filter.ids.length, "chosen job")}` : `${titled(word)} every job that matches`,
    text: [meaning("job_action", word).text,
      ` It is for ${filter.ids ? "the jobs that are chosen" : `jobs with ${words(filter)}`}, which are counted first.`],
    isGrave: word === "drop",
    fields: word === "retry" ? [
      { name: "rate", title: "Rate: how many become due in a time, such as 50/s; empty: all at once", hint: "50/s",
        value: rate },
      { name: "unknown", title: "Also those that may have been carried out: a retry may do it twice",
        isFlag: true },
      REASON,
    ] : [REASON],
    command: values => bulkCommand(word, filter, values),
    button: ({ counted: sum }) => (sum ? `${titled(word)} ${plural(sum.size, "job")}` : titled(word)),
    count: async (values, signal, isAgain) => {
      if (values.rate && !perSecond(values.rate)) throw new Error("a rate is jobs in a time, such as 50/s, 100/m or 5/h");
      const now = clock.now();
      if (!isAgain) before = parsed(filter.created_before) < now ? filter.created_before : new Date(now).toISOString();
      const sum = await count(values, signal);
      size = sum.matched;
      return { told: sentence(counted(sum, word, true)), size: sum.changed, matched: sum.matched };
    },
    // The daemon goes on with it, whoever looks.
    run: async (values, progress) => {
      // Those that were counted, or nothing.
      begun = await ask("POST", "/v1/runs", { ...order(values), seen: Math.min(size, 10000), ...given({ reason: values.reason }) });
      while (begun.state === "running") {
        progress(`Run ${begun.number}: ${counted(begun, word)}. It goes on when this is closed.`);
        await new Promise(resolve => { setTimeout(resolve, 300); });
        begun = await read(runURL(begun)).catch(error => {
          if (error.isAway) return begun;
          throw error;
        });
      }
      return (begun.state === "done" ? "" : `${titled(begun.state)}. `) + sentence(counted(begun, word));
    },
    stop: () => begun && ask("POST", runURL(begun) + "/stop"),
  }));
}

const words = filter =>
  Object.entries(filter).map(([name, value]) =>
    `${name}=${[value].flat().join("|")}`).join(", ") || "anything at all";

function perSecond(rate) {
  const found = /^([1-9][0-9]{0,6})\/([smh])$/.exec(rate);
  return found && Number(found[1]) / { s: 1, m: 60, h: 3600 }[found[2]];
}

const counted = (sum, word, isDry) => (sum.matched === 1 ? "1 job matches" : `${sum.matched} jobs match`) + came(sum, word, isDry);

// What came of those that matched, or would.
function came(sum, word, isDry) {
  let text = "";
  // The store says what it would change.
  if (isDry) {
    const rest = sum.matched - sum.changed - sum.body_expired - sum.left_alone - sum.superseded;
    if (rest > 0) text += `, ${rest} of them ${rest === 1 ? "is" : "are"} in a state in which this changes nothing`;
    if (sum.body_expired) text += `, ${sum.body_expired} cannot be sent again: their bodies are no longer kept`;
  } else {
    text += `, ${sum.changed} ${DONE[word] || "changed"}`;
    if (sum.asked) text += `, ${sum.asked} running asked to end`;
    if (sum.body_expired) text += `, ${sum.body_expired} not: their bodies are no longer kept`;
  }
  if (sum.left_alone) text += `, ${sum.left_alone} left alone: they may have been carried out; ask the upstream first`;
  if (sum.superseded) text += `, ${sum.superseded} left alone: a newer job took their place`;
  return text;
}

// Commas separate the pairs of --where, so a value that has one is said to the interface itself.
function bulkCommand(word, filter, values) {
  // Named to the command, those that may have been carried out would be retried too.
  if (filter.ids && word !== "retry" && !values.reason) return command("jobs", word, ...filter.ids);
  const names = { failure_kind: "kind", created_after: "since", created_before: "before" };
  const pairs = Object.entries(filter).flatMap(([name, value]) =>
    [value].flat().map(one => `${names[name] || name}=${one}`));
  if (filter.ids || pairs.some(pair => pair.includes(",") || pair.search(UNSAFE) >= 0)) {
    return curl("POST", "/v1/runs", { action: word, filter, ...bulkValues(values), ...given({ reason: values.reason }) });
  }
  return command("jobs", word, "--where", pairs.join(",") || "all", values.unknown ? "--unknown" : [],
    options({ rate: values.rate, reason: values.reason }));
}
