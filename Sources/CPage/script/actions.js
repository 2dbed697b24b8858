// The actions of an operator, each with a word on what it does and the command that does the same.

// A command to be copied.
function copyable(text) {
  return h("span.command", h("code", text),
    h("button.small", {
      type: "button", "aria-label": "Copy the command", on: {
        click: async event => {
          const button = event.target;
          try {
            await navigator.clipboard.writeText(text);
            button.textContent = "Copied";
            tell("Copied the command");
          } catch {
            getSelection().selectAllChildren(button.previousSibling);
            button.textContent = "Selected";
          }
          setTimeout(() => { button.textContent = "Copy"; }, 2000);
        },
      },
    }, "Copy"));
}

const dialog = {
  opener: null, state: null,

  // `order` has title, text, fields, command(values), run(values, progress, signal, counted) and, where it is for many,
  // count(values, signal, isAgain), which gives {told, size}.
  open(order) {
    this.opener = document.activeElement;
    this.state = { order, values: {}, phase: order.count ? "counting" : "ready", told: "",
      stop: new AbortController() };
    for (const { name, value = "" } of order.fields || []) this.state.values[name] = value;
    byID("dialog").replaceChildren();
    this.draw();
    byID("dialog").showModal();
    if (order.count) this.count();
  },

  get isRunning() { return ["running", "stopping"].includes(this.state?.phase); },

  // The action under way ends with its present call, and its sum is shown before anything is closed.
  leave() {
    if (!this.isRunning) return this.close();
    this.state.stop.abort();
    this.turn({ phase: "stopping" });
  },

  close() {
    if (!this.state) return;
    this.state.stop.abort();
    this.state = null;
    byID("dialog").close();
    if (this.opener?.isConnected) this.opener.focus();
    else byID("main").focus();
  },

  // Shows what has become of the order.
  turn(news) {
    Object.assign(this.state, news);
    this.draw();
  },

  draw() {
    const { order, values, phase, told, isError } = this.state;
    const change = ({ target: { name, type, checked, value } }) => {
      values[name] = type === "checkbox" ? (checked ? "yes" : "") : value.trim();
      if (order.count) this.count();
      else this.draw();
    };
    const input = ({ name, options: words, isFlag, hint }) => words
      ? h("select", { name, on: { change } }, words.map(text =>
        h("option", { value: text, selected: text === values[name] }, text)))
      : isFlag ? h("input", { name, on: { change }, type: "checkbox" })
        : h("input", { name, on: { change }, type: "text", placeholder: hint, autocomplete: "off", spellcheck: "false" });
    const isBusy = phase === "counting" || this.isRunning;
    const body = h("form", { method: "dialog", on: { submit: () => this.run() } },
      h("h2", { id: "dialog-title" }, order.title),
      order.text && h("p", order.text),
      (order.fields || []).map(field => h(field.isFlag ? "label.flag" : "label", h("span", field.title), input(field))),
      h(isError ? "p.told bad" : "p.told", { role: "status" }, told),
      h("p.same", "The command that does the same:"),
      copyable(order.command(values)),
      order.command(values).startsWith("curl") && h("p.note",
        "One call takes 10000 jobs: while its answer has next, it goes on with that as cursor."),
      h("div.buttons",
        h(order.isGrave ? "button.grave" : "button.main", { type: "submit", disabled: phase !== "ready" }, order.button(this.state)),
        h("button", { type: "button", disabled: phase === "stopping", on: { click: () => this.leave() } }, this.isRunning ? "Stop"
          : phase === "done" ? "Close" : "Cancel"),
        isBusy && h("span.busy", phase === "counting" ? "counting jobs" : phase === "stopping" ? "ending the call under way" : "at it")));
    morph(byID("dialog"), h("div", body));
  },

  async count() {
    const state = this.state;
    state.stop.abort();
    state.stop = new AbortController();
    const { signal } = state.stop;
    this.turn({ phase: "counting", told: "", isError: false, counted: null });
    try {
      const counted = await state.order.count(state.values, signal);
      if (!signal.aborted) this.turn({ phase: counted.size ? "ready" : "none", told: counted.told, counted });
    } catch (error) {
      if (!signal.aborted) this.turn({ phase: "none", told: sentence(error.message), isError: true });
    }
  },

  async run() {
    const state = this.state;
    if (state?.phase !== "ready") return;
    const turn = news => this.state === state && this.turn(news);
    turn({ phase: "running", told: "", isError: false });
    const progress = told => turn({ told });
    const { order, values, counted, stop: { signal } } = state;
    const end = (phase, told, isError) => {
      tell(told);
      refresh.soon(true);
      turn({ phase, told, isError });
    };
    try {
      if (order.count) {
        // The number that was agreed to is what is done, and no more.
        const now = await order.count(values, signal, true);
        if (now.size > counted.size && !signal.aborted) {
          state.counted = now;
          return end("ready", `More match than were counted, so nothing was done yet. ${now.told}`, true);
        }
      }
      const told = await order.run(values, progress, signal, counted);
      if (order.count) return end("done", (signal.aborted ? "Stopped. " : "") + told, false);
      end("done", told, false);
      if (this.state === state) this.close();
    } catch (error) {
      if (signal.aborted && !(error instanceof Refusal)) return end("done", "Stopped before anything was done.", false);
      const done = error.done ? `${error.done} Then it failed: ` : "";
      end(order.count ? "done" : "ready", done + sentence(error.message) + (error.isAway && error.advice
        ? ` ${error.advice}` : ""), true);
    }
  },
};

byID("dialog").addEventListener("cancel", event => {
  event.preventDefault();
  dialog.leave();
});
// A browser closes it nevertheless when it is asked twice, and may tell of it when another is open already.
byID("dialog").addEventListener("close", () => {
  if (!dialog.state || byID("dialog").open) return;
  dialog.leave();
  if (dialog.state) byID("dialog").showModal();
});
addEventListener("beforeunload", event => {
  if (dialog.isRunning) event.preventDefault();
});

// A button that opens an order, for who may give it.
function action(name, role, order) {
  return may(role) && h("button.small", { type: "button", on: { click: () => dialog.open(order()) } }, name);
}

const DONE = { retry: "retried", cancel: "cancelled", hold: "held", release: "released", drop: "dropped" };

// One job, as it was shown.
function jobAction(word, job, text) {
  let { id, version } = job;
  return action(titled(word), "operate", () => ({
    title: `${titled(word)} job ${id}`,
    text: [meaning("job_action", word).text, text && " " + text],
    isGrave: word === "drop",
    command: () => command("jobs", word, id),
    button: () => titled(word),
    run: async () => {
      const path = jobURL(id);
      try {
        await (word === "drop" ? ask("DELETE", path, null, null, version) : ask("POST", `${path}/${word}`, null, null, version));
      } catch (error) {
        if (error.status !== 412) throw error;
        const now = await read(path);
        ({ version } = now);
        throw new Error(`the job has changed since it was shown, and nothing was done: it is ${now.state} now${now.reason ? ` (${now.reason})` : ""}. Do it again if it is still wanted`);
      }
      return `Job ${id} was ${word === "cancel" ? "cancelled, or asked to end" : DONE[word]}`;
    },
  }));
}

const bulkValues = ({ rate, unknown }) => given({ rate, unknown: Boolean(unknown) });

// Every job that matches: `filter` is that of the API.
function bulkAction(word, filter, name) {
  // Those that come after the count are not among them.
  let before;
  const body = (values, isDry, cursor, most) => ({
    action: word, filter: { ...filter, created_before: before }, dry_run: isDry,
    limit: Math.min(most, values.rate ? 10000 : 1000), ...bulkValues(values), ...given({ cursor }),
  });
  // Call by call, since one takes so many jobs and no more.
  const perform = async (values, isDry, signal, most, progress) => {
    const sum = { matched: 0, changed: 0, asked: 0, body_expired: 0, left_alone: 0, superseded: 0 };
    let cursor = null;
    try {
      do {
        const answer = await ask("POST", "/v1/jobs/actions", body(values, isDry, cursor, most - sum.matched),
          isDry ? signal : null);
        for (const key of Object.keys(sum)) sum[key] += answer[key] || 0;
        cursor = answer.next;
        if (progress) progress(counted(sum, word, isDry));
        if (cursor && !isDry && values.rate) await pause(answer.changed / perSecond(values.rate) * 1000, signal);
      } while (cursor && !signal.aborted && sum.matched < most);
    } catch (error) {
      if (!isDry && sum.matched) error.done = sentence(counted(sum, word, isDry));
      throw error;
    }
    return sum;
  };
  return action(name || titled(word), "operate", () => ({
    title: `${titled(word)} every job that matches`,
    text: [meaning("job_action", word).text,
      ` It is for jobs with ${words(filter)}: they are counted first, and nothing is changed before you say so.`],
    isGrave: word === "drop",
    fields: word === "retry" ? [
      { name: "rate", title: "Rate: how many become due in a time, such as 50/s; empty: all at once", hint: "50/s",
        value: "" },
      { name: "unknown", title: "Also those that may have been carried out: a retry may do it twice",
        isFlag: true },
    ] : [],
    command: values => bulkCommand(word, filter, values),
    button: ({ counted: sum }) => (sum ? `${titled(word)} ${plural(sum.size, "job")}` : titled(word)),
    count: async (values, signal, isAgain) => {
      if (values.rate && !perSecond(values.rate)) throw new Error("a rate is jobs in a time, such as 50/s, 100/m or 5/h");
      const now = clock.now();
      if (!isAgain) before = parsed(filter.created_before) < now ? filter.created_before : new Date(now).toISOString();
      const sum = await perform(values, true, signal, Infinity);
      return { told: sentence(counted(sum, word, true)), size: sum.matched - sum.left_alone, matched: sum.matched };
    },
    run: async (values, progress, signal, { matched }) =>
      sentence(counted(await perform(values, false, signal, matched, progress), word, false)),
  }));
}

const words = filter =>
  Object.entries(filter).map(([name, value]) =>
    `${name}=${[value].flat().join("|")}`).join(", ") || "anything at all";

function perSecond(rate) {
  const found = /^([1-9][0-9]{0,6})\/([smh])$/.exec(rate);
  return found && Number(found[1]) / { s: 1, m: 60, h: 3600 }[found[2]];
}

const pause = (milliseconds, signal) => new Promise(resolve => {
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  });
});

function counted(sum, word, isDry) {
  let text = sum.matched === 1 ? "1 job matches" : `${sum.matched} jobs match`;
  if (!isDry) {
    text += `, ${sum.changed} ${DONE[word]}`;
    if (sum.asked) text += `, ${sum.asked} running asked to end`;
    if (sum.body_expired) text += `, ${sum.body_expired} not: their bodies are no longer kept`;
  }
  if (sum.left_alone) text += `, ${sum.left_alone} left alone: they may have been carried out; ask the upstream first`;
  if (sum.superseded) text += `, ${sum.superseded} left alone: a newer job took their place`;
  return text;
}

// Commas separate the pairs of --where, so a value that has one is said to the interface itself, which takes 10000 jobs
// in a call.
function bulkCommand(word, filter, values) {
  const names = { failure_kind: "kind", created_after: "since", created_before: "before" };
  const pairs = Object.entries(filter).flatMap(([name, value]) =>
    [value].flat().map(one => `${names[name] || name}=${one}`));
  if (pairs.some(pair => pair.includes(",") || pair.search(UNSAFE) >= 0)) {
    return curl("POST", "/v1/jobs/actions", { action: word, filter, dry_run: false, ...bulkValues(values) });
  }
  return command("jobs", word, "--where", pairs.join(",") || "all", values.unknown ? "--unknown" : [],
    options({ rate: values.rate }));
}

const routeCall = (name, what) => `/v1/routes/${encodeURIComponent(name)}/${what}`;

function pauseAction(name) {
  return action("Pause", "operate", () => ({
    title: `Pause route ${name}`,
    text: "Nothing of the route is sent until it is resumed: kept jobs wait, requests get 503 route_paused.",
    fields: [
      { name: "for", title: "For how long, such as 10m; empty: until it is resumed", hint: "10m" },
      { name: "reason", title: "Reason: what others are told", hint: "maintenance" },
    ],
    command: values => command("pause", name, options(values)),
    button: () => "Pause",
    run: async values => {
      await ask("POST", routeCall(name, "pause"), given(values));
      return `Route ${name} is paused`;
    },
  }));
}

function resumeAction(name) {
  return action("Resume", "operate", () => ({
    title: `Resume route ${name}`,
    text: "Lets the route go on, with the jobs that waited.",
    command: () => command("resume", name),
    button: () => "Resume",
    run: async () => {
      await ask("POST", routeCall(name, "resume"));
      return `Route ${name} goes on`;
    },
  }));
}

function breakerAction(route, upstream) {
  return action("Breaker…", "operate", () => ({
    title: `Breaker of ${upstream} (route ${route})`,
    text: "Open, nothing is sent to it: requests fail with breaker_open, kept jobs wait. Closed, it always is. Auto leaves it to itself.",
    fields: [
      { name: "state", title: "Keep it", options: ["open", "closed", "auto"], value: "open" },
      { name: "for", title: "For how long, 1s to 1d; empty: 10m", hint: "10m" },
    ],
    command: values => command("breaker", `${route}/${upstream}`, values.state, options({ for: values.for })),
    button: ({ values }) => (values.state === "auto" ? "Leave to itself" : `Keep ${values.state}`),
    run: async values => {
      await ask("PUT", routeCall(route, "breaker"), { ...given(values), upstream });
      return `The breaker of ${upstream} is ${values.state === "auto" ? "left to itself" : "kept " + values.state}`;
    },
  }));
}

function clearAction(route, upstream) {
  return action("Clear limits…", "operate", () => ({
    title: `Clear the limits of ${route}/${upstream}`,
    text: "Lifts what it asked for and what was learnt of it, not its breaker.",
    fields: [{ name: "class", title: "Only of these requests, such as GET /reports" }],
    command: values => command("limits", route, "--clear", options({ upstream, ...values })),
    button: () => "Clear",
    run: async values => {
      await ask("POST", routeCall(route, "limits/clear"), given({ upstream, requests: values.class }));
      return `The limits of ${upstream} are cleared`;
    },
  }));
}

function constrainedAction() {
  return action("Network…", "operate", () => ({
    title: "Say whether the network is constrained",
    text: "While it is, upstreams used when_constrained take the first one's place. on and off hold until auto leaves it to the configured files, or the daemon restarts.",
    fields: [{ name: "state", title: "State", options: ["on", "off", "auto"], value: "on" }],
    command: values => command("constrained", values.state),
    button: ({ values }) => `Say ${values.state}`,
    run: async values => {
      const answer = await ask("PUT", "/v1/constrained", { state: values.state });
      return `The network ${answer.constrained ? "counts" : "does not count"} as constrained`;
    },
  }));
}

function reloadAction() {
  return action("Reload…", "admin", () => ({
    title: "Reload the configuration",
    text: "The daemon reads its configuration again. One with errors is refused; the old one stays.",
    command: () => command("reload"),
    button: () => "Reload",
    run: async () => {
      const answer = await ask("POST", "/v1/reload");
      const changes = ["added", "removed", "modified"].filter(name => answer[name]?.length)
        .map(name => `${name === "modified" ? "changed" : name}: ${answer[name].join(", ")}`);
      return joined(": ", "Reloaded", answer.changed === false ? "the file is as it was" : changes.join("; "));
    },
  }));
}
