// The latest events.

// An event as `waystation events` tells it.
function eventWords(data) {
  return joined(" · ",
    data.attempt !== undefined && `attempt ${data.attempt}`, data.upstream, data.state, data.status, data.kind,
    data.end && `ended as ${data.end}`,
    data.rule && `rule ${data.rule}`, data.wait_ms !== undefined && `next in ${took(data.wait_ms)}`,
    data.lost !== undefined && `events that are gone: ${data.lost}`, data.detail);
}

function showEvents(title) {
  const events = [...live.recent].reverse();
  return section("events", title,
    live.lost > 0 && h("p.note", `${grouped(live.lost)} events were missed; the figures above were read anew.`),
    events.length ? table(title, ["Last", "What", "Route", "Job", "More"],
      events.map(({ key, count, event: { time: at, type, data = {} } }) => ({
        key, cells: [when(at, `${age(at)} ago`), (count > 1 ? `${grouped(count)} × ` : "") + type.replace("waystation.", ""),
          data.route ? link(routePath(data.route), data.route) : "–",
          data.job ? link(jobPath(data.job), data.job) : "–", eventWords(data)],
      })), "events") : h("p.note", live.state === "live" ? "Nothing that the daemon remembers." : "Not read yet."));
}
