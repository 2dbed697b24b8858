// The actions on a job, a route, an upstream and the daemon.

// The states of the jobs that each action does something to.
const WAITS = ["scheduled", "queued", "retrying"];
const ACTS_ON = { retry: [...WAITS, "held", "dead", "cancelled", "expired"], cancel: [...WAITS, "running", "held"], hold: WAITS,
  release: ["held"], drop: [...WAITS, "held", "succeeded", "dead", "cancelled", "expired"] };
const actsOn = (word, states) => states.some(state => ACTS_ON[word].includes(state));

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
        await ask(word === "drop" ? "DELETE" : "POST", word === "drop" ? path : `${path}/${word}`, null, null, `v${version}`);
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

const REASON = { name: "reason", title: "Reason: what others are told", hint: "maintenance" };

const routeURL = name => `/v1/routes/${encodeURIComponent(name)}`;

// Does it to a route that is still as it was shown.
async function onRoute(route, method, what, document) {
  try {
    await ask(method, `${routeURL(route.name)}/${what}`, document, null, route.revision);
  } catch (error) {
    if (error.status !== 412) throw error;
    ({ revision: route.revision } = await read(routeURL(route.name)));
    throw new Error(`${error.message}. Do it again if it is still wanted`);
  }
}

function pauseAction(route) {
  const { name } = route;
  return action("Pause", "operate", () => ({
    title: `Pause route ${name}`,
    text: "Nothing of the route is sent until it is resumed: kept jobs wait, requests get 503 route_paused.",
    fields: [
      { name: "for", title: "For how long, such as 10m; empty: until it is resumed", hint: "10m" },
      REASON,
    ],
    command: values => command("pause", name, options(values)),
    button: () => "Pause",
    run: async values => {
      await onRoute(route, "POST", "pause", given(values));
      return `Route ${name} is paused`;
    },
  }));
}

function resumeAction(route) {
  const { name } = route;
  return action("Resume", "operate", () => ({
    title: `Resume route ${name}`,
    text: "Lets the route go on, with the jobs that waited.",
    command: () => command("resume", name),
    button: () => "Resume",
    run: async () => {
      await onRoute(route, "POST", "resume");
      return `Route ${name} goes on`;
    },
  }));
}

function breakerAction(route, upstream) {
  return action("Breaker…", "operate", () => ({
    title: `Breaker of ${upstream} (route ${route.name})`,
    text: "Open, nothing is sent to it: requests fail with breaker_open, kept jobs wait. Closed, it always is. Auto leaves it to itself.",
    fields: [
      { name: "state", title: "Keep it", options: ["open", "closed", "auto"], value: "open" },
      { name: "for", title: "For how long, 1s to 1d; empty: 10m", hint: "10m" },
    ],
    command: values => command("breaker", `${route.name}/${upstream}`, values.state, options({ for: values.for })),
    button: ({ values }) => (values.state === "auto" ? "Leave to itself" : `Keep ${values.state}`),
    run: async values => {
      await onRoute(route, "PUT", "breaker", { ...given(values), upstream });
      return `The breaker of ${upstream} is ${values.state === "auto" ? "left to itself" : "kept " + values.state}`;
    },
  }));
}

function clearAction(route, upstream) {
  return action("Clear limits…", "operate", () => ({
    title: `Clear the limits of ${route.name}/${upstream}`,
    text: "Lifts what it asked for and what was learnt of it, not its breaker.",
    fields: [{ name: "class", title: "Only of these requests, such as GET /reports" }],
    command: values => command("limits", route.name, "--clear", options({ upstream, ...values })),
    button: () => "Clear",
    run: async values => {
      await onRoute(route, "POST", "limits/clear", given({ upstream, requests: values.class }));
      return `The limits of ${upstream} are cleared`;
    },
  }));
}

function constrainedAction() {
  return action("Network…", "operate", () => ({
    title: "Say whether the network is constrained",
    text: "While it is, requests do as their routes say. on and off hold until auto, or until the daemon restarts.",
    fields: [{ name: "state", title: "State", options: ["on", "off", "auto"], value: "on" }],
    command: values => command("constrained", values.state),
    button: ({ values }) => `Say ${values.state}`,
    run: async values => {
      const answer = await ask("PUT", "/v1/constrained", { state: values.state });
      return `The network ${answer.constrained ? "counts" : "does not count"} as constrained`;
    },
  }));
}

function reloadAction(digest) {
  return action("Reload…", "admin", () => ({
    title: "Reload the configuration",
    text: "The daemon reads its configuration again. One with errors is refused; the old one stays.",
    command: () => command("reload"),
    button: () => "Reload",
    run: async () => {
      const answer = await ask("POST", "/v1/reload", null, null, digest);
      const changes = ["added", "removed", "modified"].filter(name => answer[name]?.length)
        .map(name => `${name === "modified" ? "changed" : name}: ${answer[name].join(", ")}`);
      return joined(": ", "Reloaded", answer.changed === false ? "the file is as it was" : changes.join("; "));
    },
  }));
}
