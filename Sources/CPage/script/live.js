// The stream of events: it says that something has changed, and keeps the last few for who wants to read them, those that
// tell the same as one.
const live = {
  source: null, retry: 0, timer: null, last: null, filter: "", count: 0, lost: 0,
  recent: [], reloads: new Map(), onChange: () => {}, state: "off", next: 0,

  // How many different ones of the last events are kept.
  room: 24,
  // Nothing of what happens all the time: the figures tell of it.
  quiet: ["job.accepted", "job.attempt.started", "job.succeeded", "heartbeat", "gap"],

  // Begins to follow, or follows something else from now on.
  follow(filter) {
    if (this.source && filter === this.filter) return;
    if (filter !== this.filter) {
      this.recent = [];
      this.last = null;
    }
    this.filter = filter;
    // The words tell which events there are.
    if (daemon.role) this.connect();
  },

  stop() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
    this.state = "off";
  },

  connect() {
    this.stop();
    const types = daemon.words.event || [];
    const isOfJob = this.filter.startsWith("job=");
    const wanted = types.filter(type => isOfJob || !this.quiet.includes(type)).map(type =>
      "waystation." + type);
    const type = isOfJob ? "" : "&type=" + wanted.join(",");
    const source = new EventSource(`/v1/events?after=${this.last || 0}${type}${this.filter ? "&" + this.filter : ""}`);
    this.source = source;
    this.set("connecting");
    source.onopen = () => {
      this.retry = 0;
      // Another daemon may have taken the place of the one that was asked.
      daemon.isKnown = false;
      this.set("live");
      refresh.soon(freshness.isAway);
    };
    source.onerror = () => {
      if (this.source !== source) return;
      this.stop();
      // The browser's own way of trying again would not grow, and would say nothing.
      const wait = grown(this.retry);
      this.retry += 1;
      this.set("away", performance.now() + wait);
      this.timer = setTimeout(() => this.connect(), wait);
      this.onChange();
    };
    const heard = event => {
      this.last = event.lastEventId || this.last;
      this.count += 1;
      this.keep(JSON.parse(event.data));
      this.onChange();
    };
    for (const name of wanted) source.addEventListener(name, heard);
    source.addEventListener("waystation.gap", event => {
      // Events from before the page was there are none that it has missed.
      if (this.last) this.lost += JSON.parse(event.data).data.lost || 0;
      heard(event);
    });
  },

  // The newest stands last.
  keep(event) {
    const { route, upstream, state, status, kind, end, rule, lost } = event.data || {};
    const key = JSON.stringify([event.type, route, upstream, state, status, kind, end, rule, lost]);
    const at = this.recent.findIndex(one => one.key === key);
    const [known] = at < 0 ? [] : this.recent.splice(at, 1);
    this.recent.push({ key, event, count: (known?.count || 0) + 1 });
    if (this.recent.length > this.room) this.recent.shift();
    // Which keys of the configuration a reload has changed, by its moment.
    if (event.type === "waystation.config.reloaded") this.reloads.set(event.time, event.data?.detail);
    if (this.reloads.size > this.room) this.reloads.delete(this.reloads.keys().next().value);
  },

  set(state, next = 0) {
    Object.assign(this, { state, next });
    freshness.show();
  },
};
