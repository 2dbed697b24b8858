// The view that is shown, and when it is read anew.

// Reads the view anew: at most once a second and a quarter of the time, however much happens, and every five seconds
// when nothing is heard.
const refresh = {
  view: null, timer: null, last: 0, pace: 1000, isReading: false, isWanted: false, stop: new AbortController(),
  states: new Map(), kept: {}, readAt: null, drawnAt: 0,

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
    this.isMoved = isMoved || this.isMoved;
    this.kept = {};
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
      if (!daemon.isKnown) await begin(signal);
      const found = await view.read(signal);
      if (signal.aborted) return;
      this.isReading = false;
      this.readAt = new Date();
      this.kept = found || {};
      this.draw(view, found);
      this.pace = Math.min(20000, Math.max(1000, 4 * (performance.now() - this.last)));
      away(null);
      showFoot();
    } catch (error) {
      if (signal.aborted) return;
      this.isReading = false;
      this.fail(error);
    }
    if (this.isWanted) this.soon();
  },

  // A view that was read grows older while nothing is read.
  again() {
    const isOld = performance.now() - this.drawnAt > this.pace;
    if (isOld && !document.hidden && Object.keys(this.kept).length) this.draw(this.view, this.kept);
  },

  draw(view, found) {
    this.drawnAt = performance.now();
    const fresh = h("div", Object.entries((found?.missing) || {}).map(([name, error]) =>
      h("p.told bad#missing " + name, `Not read anew: ${PARTS[name]}. ${sentence(error.message)}`)),
      view.show(found));
    if (this.isMoved) {
      main.replaceChildren(...fresh.childNodes);
      this.isMoved = false;
      scrollTo(0, 0);
      (main.querySelector("h1") || main).focus({ preventScroll: true });
    } else morph(main, fresh);
    main.setAttribute("aria-busy", "false");
    if (found?.routes) this.compare(found.routes);
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
    // The view that was read stays, unless its subject is no longer there.
    if (error.isAway || error.status !== 404 && Object.keys(this.kept).length) return away(error);
    away(null);
    this.kept = {};
    const text = error instanceof Refusal ? sentence(error.message) : `The page failed: ${error.message}`;
    morph(main, h("div", heading(error.status === 404 ? "Not there" : "Not shown"),
      h("p.told bad", text), error.advice && h("p", error.advice),
      h("p", link("/", "To the overview"))));
    if (this.isMoved) main.querySelector("h1").focus();
    this.isMoved = false;
  },
};

// The daemon at the other end may be another one, with another page and perhaps another role for this one.
async function begin(signal) {
  const version = await read("/v1/version", signal);
  const isOther = daemon.version && daemon.version !== version.version;
  // Not under the hands of somebody who is at something.
  if (isOther && !dialog.state) return location.reload();
  if (!daemon.version) daemon.words = await read("/ui/words.json", signal);
  Object.assign(daemon, { role: version.role, version: daemon.version || version.version, isKnown: !isOther });
  if (live.state === "off" && !document.hidden) live.follow(refresh.view.filter);
}

function showFoot() {
  morph(byID("foot"), h("footer", h("p", `waystationd ${daemon.version}. This page has the role `,
    h("strong", daemon.role),
    may("admin") ? " of its socket: it may do everything." : may("operate")
      ? " of its socket: it may act on jobs and routes, and not reload the configuration."
      : " of its socket: it shows everything and changes nothing. Who may act runs waystation ui with the control socket."),
    h("p", "Read at ", when(refresh.readAt.toISOString(), time(refresh.readAt)), `; times are of ${zone()}.`)));
}

// The parts of a view, each as it is told when it could not be read.
const PARTS = {
  status: "the daemon", routes: "the routes", shape: "the ages of jobs", history: "the last hour",
  dead: "the dead letters", list: "the jobs", route: "the route", job: "the job", companions: "what else waits",
};
