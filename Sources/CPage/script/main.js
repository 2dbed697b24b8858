// Which view the URL names, and when it is read anew.

const main = byID("main");

function place() {
  const [path, rest] = location.hash.slice(1).split("?");
  return { path: path || "/", values: Object.fromEntries(new URLSearchParams(rest || "")) };
}

function go(to) {
  if (location.hash !== "#" + to) location.hash = to;
}

function named(path, prefix) {
  try {
    return path.startsWith(prefix) && path.length > prefix.length ? decodeURIComponent(path.slice(prefix.length))
      : null;
  } catch {
    return null;
  }
}

// What a URL shows: its title, what of the events it is about, how to read it and how to show that.
function viewAt({ path, values }) {
  if (path === "/") return { title: "Overview", filter: "", read: readOverview, show: (found) =>
    showOverview(values, found) };
  if (path === "/jobs") return { title: "Jobs", filter: values.route ? query("", { route: values.route }).slice(1)
    : "", read: (signal) => readJobs(values, signal), show: (found) => showJobs(values, found) };
  const job = named(path, "/job/");
  if (job) return { title: `Job ${job}`, filter: query("", { job }).slice(1), read: (signal) =>
    readJob(job, signal), show: showJob };
  const route = named(path, "/route/");
  if (route) return { title: `Route ${route}`, filter: query("", { route }).slice(1), read: (signal) =>
    readRoute(route, signal), show: (found) => [...showRoute(route, found), showEvents("Its latest events")] };
  return { title: "Nothing here", filter: "", read: async () => null, show: () =>
    [h("h1", { tabindex: -1 }, "Nothing here"), h("p", null, link("/", "To the overview"))] };
}

// Reads the view anew: at most once a second and a quarter of the time, however much happens, and every five seconds
// when nothing is heard.
const refresh = {
  view: null, timer: null, last: 0, pace: 1000, isReading: false, isWanted: false, stop: new AbortController(),
  states: new Map(),

  soon(isNow) {
    if (isNow) this.last = Math.min(this.last, performance.now() - this.pace + 50);
    this.isWanted = true;
    if (this.isReading || this.timer || document.hidden || !this.view) return;
    this.timer = setTimeout(() => this.read(), Math.max(0, this.pace - (performance.now() - this.last)));
  },

  show(view, isMoved) {
    this.stop.abort();
    this.stop = new AbortController();
    this.view = view;
    this.isReading = false;
    this.isMoved = isMoved;
    document.title = `${view.title} – Waystation`;
    live.follow(view.filter);
    clearTimeout(this.timer);
    this.timer = null;
    this.read();
  },

  async read() {
    clearTimeout(this.timer);
    this.timer = null;
    const { view } = this;
    const { signal } = this.stop;
    Object.assign(this, { isReading: true, isWanted: false, last: performance.now() });
    try {
      if (!daemon.role) await begin(signal);
      const found = await view.read(signal);
      if (signal.aborted) return;
      this.draw(view, found);
      this.pace = Math.min(20000, Math.max(1000, 4 * (performance.now() - this.last)));
      away(null);
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      this.fail(error);
    }
    this.isReading = false;
    if (this.isWanted) this.soon();
  },

  draw(view, found) {
    const fresh = h("div", null, view.show(found));
    if (this.isMoved) {
      main.replaceChildren(...fresh.childNodes);
      this.isMoved = false;
      scrollTo(0, 0);
      (main.querySelector("h1") || main).focus({ preventScroll: true });
    } else morph(main, fresh);
    main.setAttribute("aria-busy", "false");
    if (found && found.routes) this.compare(found.routes);
  },

  // Tells who listens, and does not look, that a route is doing otherwise than before.
  compare(routes) {
    const changed = routes.filter(({ name, state }) => this.states.has(name) && this.states.get(name) !== state);
    this.states = new Map(routes.map(({ name, state }) => [name, state]));
    if (changed.length) tell(changed.slice(0, 5).map(({ name, state }) =>
      `Route ${name}: ${spaced(state)}`).join("; "));
  },

  fail(error) {
    if (!(error instanceof Refusal)) console.error(error);
    if (error.isAway || error.status === 503) return away(error);
    away(null);
    const text = error instanceof Refusal ? sentence(error.message) : `The page failed: ${error.message}`;
    morph(main, h("div", null, h("h1", { tabindex: -1 }, error.status === 404 ? "Not there" : "Not shown"),
      h("p", { class: "told bad" }, text), error.advice && h("p", null, error.advice),
      h("p", null, link("/", "To the overview"))));
    if (this.isMoved) main.querySelector("h1").focus();
    this.isMoved = false;
  },
};

// Says that the daemon is away, and since when; what is shown stays, and says of when it is.
let goneSince = null;
function away(error) {
  document.body.classList.toggle("stale", Boolean(error));
  if (!error) {
    if (goneSince) tell("The daemon is back");
    goneSince = null;
    byID("away").replaceChildren();
    return;
  }
  goneSince = goneSince || new Date();
  morph(byID("away"), h("div", null,
    h("p", null, h("strong", null, `The daemon is away since ${time(goneSince)}: `), sentence(error.message)),
    h("p", null, error.advice ? sentence(error.advice) + " " : "",
      "What is below was read before. The page goes on by itself when the daemon is back.")));
}

async function begin(signal) {
  const [version, words] = await Promise.all([read("/v1/version", signal), read("/ui/words.json", signal)]);
  Object.assign(daemon, { role: version.role, version: version.version, words });
  live.follow(refresh.view.filter);
  byID("foot").replaceChildren(h("p", null, `waystationd ${version.version}. This page has the role `,
    h("strong", null, version.role),
    may("admin") ? " of its socket: it may do everything." : may("operate")
      ? " of its socket: it may act on jobs and routes, and not reload the configuration."
      : " of its socket: it shows everything and changes nothing. Who may act runs waystation ui with the control socket."));
}

function draw() {
  const at = place();
  const views = [["/", "Overview"], ["/jobs", "Jobs"]];
  morph(byID("views"), h("nav", null,
    views.map(([path, name]) => h("a", { href: "#" + path, "aria-current": at.path === path ? "page" : null },
    name))));
  if (dialog.state) dialog.close();
  refresh.show(viewAt(at), true);
}

live.onChange = () => refresh.soon();
addEventListener("hashchange", draw);
byID("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
// A page that nobody sees keeps no connection, of which a browser has six.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    live.stop();
    showLive();
  } else if (daemon.role) {
    live.connect();
    refresh.soon(true);
  }
});
setInterval(() => {
  showLive();
  if (performance.now() - refresh.last > 5000) refresh.soon();
}, 1000);
draw();
