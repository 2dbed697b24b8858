// The daemon at the other end: what is asked of it, and what it tells.

const daemon = { role: null, version: null, socket: "", words: {}, isKnown: false };

const RANKS = ["submit", "read", "operate", "admin"];
const may = role => RANKS.indexOf(daemon.role) >= RANKS.indexOf(role);

// Why there is no answer, or not the one that was asked for.
class Refusal extends Error {
  constructor(status, code, detail, advice) {
    super(detail);
    Object.assign(this, { status, code, advice });
  }

  // Whether the daemon itself was not reached.
  get isAway() { return this.status === 0 || this.code === "daemon_away"; }
}

// A read is over in ten seconds, and what changes many jobs in minutes.
const patienceFor = method => (method === "GET" ? 10000 : 120000);

// `seen` is the version, revision or digest that was shown.
async function ask(method, path, document, signal, seen) {
  const limit = AbortSignal.timeout(patienceFor(method));
  let response;
  let text;
  try {
    response = await fetch(path, {
      method, signal: signal ? AbortSignal.any([signal, limit]) : limit, redirect: "error", cache: "no-store",
      ...(document ? { body: JSON.stringify(document) } : {}),
      headers: { ...(document ? { "Content-Type": "application/json" } : {}),
        ...(seen ? { "If-Match": `"${seen}"` } : {}) },
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    if (limit.aborted) {
      throw new Refusal(0, "no_answer", `the daemon has not answered within ${took(patienceFor(method))}`,
        method === "GET" ? "See systemctl status waystationd, and its journal."
          : "Whether it was done is not known: look before doing it again.");
    }
    throw new Refusal(0, "unreachable", "waystation ui has ended, or the way to it is cut",
      "Run waystation ui again, and open its link.");
  }
  if (response.headers.get("Date")) clock.learn(response.headers.get("Date"));
  const isJSON = /json/.test(response.headers.get("Content-Type") || "");
  const answer = isJSON && text ? JSON.parse(text) : null;
  if (path === "/v1/version") daemon.socket = decodeURIComponent(response.headers.get("Waystation-Socket") || "");
  if (response.ok) return answer;
  let detail = (answer && (answer.detail || answer.title)) || text.trim() || `the answer is ${response.status}`;
  for (const { pointer, message, hint } of (answer?.errors) || []) {
    detail += `; ${pointer}: ${message}${hint ? ` (${hint})` : ""}`;
  }
  throw new Refusal(response.status, answer?.code, detail, answer?.advice);
}

const read = (path, signal) => ask("GET", path, null, signal);

function query(path, values) {
  const text = String(new URLSearchParams(given(values)));
  return text ? path + "?" + text : path;
}

// The meaning of a word of one kind: {text, remedy}, of a route where one is meant; null for an unknown word.
function meaning(kind, word, route = "ROUTE") {
  const words = daemon.words[kind];
  if (!words || !Object.hasOwn(words, word)) return null;
  const [text, remedy] = words[word];
  return { text, remedy: remedy?.replace("ROUTE", quoted(route)) };
}

// Whether the daemon answers anything.
const isThere = () => fetch("/v1/version", { signal: AbortSignal.timeout(3000) }).then(({ ok }) => ok, () => false);

// Reads the parts of a view, each for itself: one that fails is told of, and shown as it was read before.
async function parts(wanted) {
  const ends = await Promise.allSettled(Object.values(wanted));
  const found = { ...refresh.kept, missing: {} };
  Object.keys(wanted).forEach((name, index) => {
    const { reason, value } = ends[index];
    if (reason) found.missing[name] = reason;
    else found[name] = value;
  });
  const reasons = Object.values(found.missing);
  const grave = reasons.find(reason => !(reason instanceof Refusal));
  const unanswered = reasons.find(reason => reason.isAway);
  if (grave || reasons.length === ends.length) throw grave || unanswered || reasons[0];
  // One part may take too long, or the daemon has stopped amid them all.
  if (unanswered && !await isThere()) throw unanswered;
  return found;
}
