// How bad it is, in one line on top of each view.

const glance = {
  found: null, isOld: true,

  // That of another moment is not that of now.
  was({ troubles, missing }) {
    this.isOld = !troubles || Boolean(missing?.troubles);
    this.found = troubles?.glance || this.found;
    this.show();
  },

  show() {
    if (!this.found) return;
    const { state, since, routes, routes_wrong: wrong, credentials_wrong: credentials, store, waiting, oldest_at: oldest,
      dead, failures_per_minute: failures } = this.found;
    const isOld = this.isOld || freshness.isStale;
    const fact = (count, one, many, ...more) => count > 0 && [" · ", amount(count), " ", count === 1 ? one : many, more];
    const place = byID("glance");
    place.className = isOld ? "old" : state;
    morph(place, h("div", h("p",
      h("strong", state !== "ok" ? titled(state) : isOld ? "Nothing was wrong" : "Nothing is wrong"), since && [" since ", sinceText(since)],
      wrong > 0 ? [" · ", amount(wrong), ` of ${plural(routes, "route")}`] : state === "ok" && ` with ${plural(routes, "route")}`,
      fact(credentials, "credential", "credentials"), store !== "ok" && ` · job store ${store}`,
      fact(failures, "failure a minute", "failures a minute"),
      fact(waiting, "job waits", "jobs wait", oldest && [", the oldest ", when(oldest, age(oldest))]),
      fact(dead, "dead job", "dead jobs"))));
  },
};

// `02:14 (20 min)`
const sinceText = text => [when(text, moment(text)), ` (${age(text)})`];

// Who listens, and does not look, is told of each trouble once.
const told = { ids: null };

function announce({ troubles: found }) {
  if (!found) return;
  const fresh = told.ids && found.troubles.filter(({ id }) => !told.ids.has(id));
  told.ids = new Set(found.troubles.map(({ id }) => id));
  if (fresh?.length) tell(fresh.slice(0, 5).map(({ cause }) => cause).join(" "));
}
