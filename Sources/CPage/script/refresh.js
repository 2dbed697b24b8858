// The view that is shown, and when it is read anew.

// Reads the view anew: at most once a second and a quarter of the time, however much happens, and every five seconds
// when nothing is heard.
const refresh = {
  view: null, timer: null, last: 0, pace: 1000, due: 0, failures: 0, isReading: false, isWanted: false,
  stop: new AbortController(), kept: {}, drawnAt: 0,

  soon(isNow) {
    const now = performance.now();
    if (isNow && this.due > now + 50) {
      clearTimeout(this.timer);
      Object.assign(this, { timer: null, due: now + 50 });
    }
    this.isWanted = true;
    if (this.isReading || this.timer || document.hidden || !this.view) return;
    this.timer = setTimeout(() => this.read(), Math.max(0, this.due - now));
  },

  show(view, isMoved) {
    // A view that is only sorted or filtered here needs no reading.
    if (!isMoved && !this.isMoved && view.title === this.view?.title && view.isLocal && Object.keys(this.kept).length) {
      this.view = view;
      return this.draw(view, this.kept);
    }
    this.stop.abort();
    this.stop = new AbortController();
    this.view = view;
    this.isReading = false;
    this.isMoved = isMoved || this.isMoved;
    this.kept = {};
    document.title = `${view.title} – Waystation`;
    main.setAttribute("aria-busy", "true");
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
    const askedAt = Date.now();
    Object.assign(this, { isReading: true, isWanted: false, last: performance.now() });
    try {
      if (!daemon.isKnown) await begin(signal);
      // Those of the last look stay where they cannot be read.
      const [found] = await Promise.all([view.read(signal), runs.read(signal).catch(() => null)]);
      if (signal.aborted) return;
      this.isReading = false;
      this.kept = found || {};
      this.failures = 0;
      this.draw(this.view, found);
      this.pace = Math.min(8000, Math.max(1000, 4 * (performance.now() - this.last)));
      this.due = this.last + this.pace;
      freshness.was(askedAt, this.kept);
      if (live.state === "away") live.connect();
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
      this.settle();
      tall.slide();
    } else tall.keep(() => morph(main, fresh));
    main.setAttribute("aria-busy", "false");
    runs.show();
    glance.was(this.kept);
    announce(this.kept);
  },

  fail(error) {
    main.setAttribute("aria-busy", "false");
    if (!(error instanceof Refusal)) console.error(error);
    // The view that was read stays, unless its subject is no longer there.
    if (error.isAway || error.status !== 404 && Object.keys(this.kept).length) {
      this.due = performance.now() + grown(this.failures);
      this.failures += 1;
      if (!Object.keys(this.kept).length) {
        morph(main, h("div", heading(this.view.title), h("p.note", "Not read yet.")));
        if (this.isMoved) this.settle();
      }
      freshness.failed(error);
      return this.soon();
    }
    this.due = this.last + this.pace;
    freshness.was(Date.now(), {});
    this.kept = {};
    const text = error instanceof Refusal ? sentence(error.message) : `The page failed: ${error.message}`;
    morph(main, h("div", heading(error.status === 404 ? "Not there" : "Not shown"),
      h("p.told bad", text), error.advice && h("p", error.advice),
      h("p", link("/", "To the overview"))));
    if (this.isMoved) this.settle();
  },

  // Another view begins at its title.
  settle() {
    this.isMoved = false;
    scrollTo(0, 0);
    (main.querySelector("h1") || main).focus({ preventScroll: true });
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
    h("p", "Read at ", when(new Date(freshness.askedAt).toISOString(), time(new Date(freshness.askedAt))), `; times are of ${zone()}.`)));
}

// The parts of a view, each as it is told when it could not be read.
const PARTS = {
  troubles: "what is wrong", status: "the daemon", routes: "the routes", shape: "the ages of jobs", history: "the last hour",
  dead: "the dead letters", list: "the jobs", route: "the route", job: "the job", companions: "what else waits",
  content: "what was sent and answered",
};
