// The view that the URL names.

const main = byID("main");

function place() {
  const [path, rest] = location.hash.slice(1).split("?");
  return { path: path || "/", values: Object.fromEntries(new URLSearchParams(rest || "")) };
}

// Another filter of the same view leaves the keyboard and the window where they are.
function go(to) {
  if (location.hash === "#" + to) return;
  if (place().path !== to.split("?")[0]) location.hash = to;
  else {
    history.replaceState(null, "", "#" + to);
    draw(false);
  }
}

function named(path, prefix) {
  try {
    return path.startsWith(prefix) && path.length > prefix.length ? decodeURIComponent(path.slice(prefix.length))
      : null;
  } catch {
    return null;
  }
}

// The view at a URL: its title, which events it is about, how to read it and how to show that.
function viewAt({ path, values }) {
  if (path === "/") return { title: "Overview", filter: "", isLocal: true, read: signal => readOverview(values, signal),
    show: found => showOverview(values, found) };
  if (path === "/jobs") return { title: "Jobs", filter: values.route ? query("", { route: values.route }).slice(1)
    : "", read: signal => readJobs(values, signal), show: found => showJobs(values, found) };
  const job = named(path, "/job/");
  if (job) return { title: `Job ${job}`, filter: query("", { job }).slice(1), read: signal =>
    readJob(job, signal), show: showJob };
  const route = named(path, "/route/");
  if (route) return { title: `Route ${route}`, filter: query("", { route }).slice(1), read: signal =>
    readRoute(route, signal), show: found => [...showRoute(route, found), showEvents("Its latest events")] };
  return { title: "Nothing here", filter: "", read: async () => null, show: () =>
    [heading("Nothing here"), h("p", link("/", "To the overview"))] };
}

function draw(isMoved) {
  const at = place();
  const views = [["/", "Overview"], ["/jobs", "Jobs"]];
  morph(byID("views"), h("nav",
    views.map(([path, name]) => h("a", { href: "#" + path, "aria-current": at.path === path ? "page" : null },
    name))));
  if (dialog.state && !dialog.isRunning) dialog.close();
  refresh.show(viewAt(at), isMoved);
}

live.onChange = () => refresh.soon();
addEventListener("hashchange", () => draw(true));
byID("skip").addEventListener("click", event => {
  event.preventDefault();
  main.focus();
});
// A page that nobody sees keeps no connection, of which a browser has six.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    live.stop();
    freshness.show();
  } else if (daemon.role) {
    freshness.show();
    live.connect();
    refresh.soon(true);
  }
});
setInterval(() => freshness.show(), 500);
setInterval(() => {
  if (performance.now() - refresh.last > 5000) refresh.soon();
  refresh.again();
  runs.again();
}, 1000);
draw(true);
