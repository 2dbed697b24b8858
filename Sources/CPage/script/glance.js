// How bad it is, in one line on top of each view.

function showGlance({ troubles: found, missing }) {
  const place = byID("glance");
  // That of another moment is not that of now.
  place.classList.toggle("old", !found || Boolean(missing?.troubles));
  if (!found) return;
  const { state, since, routes, routes_wrong: wrong, credentials_wrong: credentials, store, waiting, oldest_at: oldest,
    dead, failures_per_minute: failures } = found.glance;
  const fact = (count, ...words) => count > 0 && [" · ", amount(count), " ", ...words];
  place.classList.remove("ok", "paused", "degraded", "failing");
  place.classList.add(state);
  morph(place, h("div", h("p",
    h("strong", state === "ok" ? "Nothing is wrong" : titled(state)),
    since && [" since ", sinceText(since)],
    wrong > 0 ? [" · ", amount(wrong), ` of ${plural(routes, "route")}`] : state === "ok" && ` with ${plural(routes, "route")}`,
    fact(credentials, credentials === 1 ? "credential" : "credentials"), store !== "ok" && ` · job store ${store}`,
    fact(failures, failures === 1 ? "failure a minute" : "failures a minute"),
    fact(waiting, waiting === 1 ? "job waits" : "jobs wait", oldest && [", the oldest ", when(oldest, age(oldest))]),
    fact(dead, dead === 1 ? "dead job" : "dead jobs"))));
}

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
