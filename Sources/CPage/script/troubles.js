// What is wrong, what the relay does about it and what is to be done, in the sentences of GET /v1/troubles.

const TROUBLE = "What is wrong, and what the relay does about it";

const readTroubles = signal => read("/v1/troubles", signal);

// The order of the document, in which each trouble keeps its place for half a minute: nothing jumps under a finger.
const places = { ids: [], at: 0 };

function placed(troubles) {
  const ids = troubles.map(({ id }) => id);
  if (!places.ids.length || Date.now() - places.at > 30000) Object.assign(places, { ids, at: Date.now() });
  else places.ids = [...places.ids.filter(id => ids.includes(id)), ...ids.filter(id => !places.ids.includes(id))];
  return places.ids.map(id => troubles[ids.indexOf(id)]);
}

function showTroubles({ troubles, trouble_count: count }) {
  if (!troubles.length) return null;
  return h("section.trouble#trouble", h("h2.unseen", TROUBLE), h("div.cards", placed(troubles).map(troubleCard)),
    count > troubles.length && h("p.note", `and ${grouped(count - troubles.length)} more`));
}

const failuresText = failures => failures.map(one => `${grouped(one.count)} × ${failureWord(one)}`).join(", ");

function troubleCard(trouble) {
  const { id, state, since, cause, relay, remedy, failures_per_minute: rate, waiting, oldest_at: oldest, next_at: next,
    expiring, dying, ends_at: end, routes, route_count: count, failures, last_failure: failure, action: order } = trouble;
  const line = commandOf(trouble);
  const row = (title, ...content) => content.some(part => !isNothing(part)) && h("div", h("dt", title), h("dd", content));
  return h(`article.${state}#${id}`,
    h("h3", cause),
    h("p.note", badge("route", state), since && [" since ", sinceText(since)],
      count > 0 && [` · ${plural(count, "route")}: `, routes.slice(0, 8).map((name, index) => [index ? ", " : "", link(routePath(name), name)]),
        routes.length > 8 && h("details#all", h("summary", `all ${grouped(count)}`), routes.slice(8).map(name => [link(routePath(name), name), " "]))]),
    h("dl",
      row("Callers", rate > 0 && [amount(rate), rate === 1 ? " failure" : " failures", " a minute"]),
      row("Jobs", waiting > 0 && [amount(waiting), waiting === 1 ? " job waits" : " jobs wait", oldest && `, the oldest ${age(oldest)}`, ". "],
        expiring > 0 && [amount(expiring), expiring === 1 ? " expires" : " expire"], expiring > 0 && dying > 0 && " and ",
        dying > 0 && [amount(dying), dying === 1 ? " dies" : " die"],
        end && [" within the hour, the first ", when(end, comingText(end)), "."]),
      row("Attempts", failures.length > 1 && `${failuresText(failures)} failed`),
      row("Last", failure && !cause.includes(failure.detail) && [when(failure.at, `${age(failure.at)} ago`), `: ${failure.detail}`]),
      row("Relay", relay,
        next && parsed(next) > clock.now() && [" Next ", when(next, comingText(next)), "."]),
      // The command stands below.
      row("Do", remedy.replace(line, "").trim())),
    h("p.buttons", order && troubleAction(trouble), copyable(line + socketOption())));
}

// The command that helps, or else one that tells more.
function commandOf({ remedy, action: order, routes }) {
  const told = remedy.indexOf("waystation ");
  if (order) return order.command;
  if (told >= 0 && !remedy.includes("ROUTE")) return remedy.slice(told);
  return routes.length ? `waystation routes${routes.length === 1 ? ` ${routes[0]}` : ""}` : "waystation status";
}

// The one thing that helps at once: what is for many jobs counts them first.
function troubleAction({ cause, remedy, action: { word, role, method, path, document: body, command: line, seen } }) {
  if (path === "/v1/jobs/actions") return bulkAction(body.action, body.filter, word + "…");
  return action(word + "…", role, () => ({
    title: word, text: `${cause} ${remedy}`, button: () => word, command: () => line + socketOption(),
    run: async () => {
      await ask(method, path, body, null, seen);
      return `Done: ${line}`;
    },
  }));
}
