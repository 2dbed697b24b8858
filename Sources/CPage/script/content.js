// The content of a job: fields, the words that matter, and bodies for who asks for them.

// The document with the fields and with bodies of up to 64 KiB, read once for each version of the job.
const contents = { key: "", found: null };

async function readContent(job, signal) {
  const key = `${job.id} ${job.version}`;
  if (job.durable && contents.key !== key) {
    const { request, response } = await read(query(jobURL(job.id), { include: "body" }), signal);
    const path = response?.body?.href;
    if (path && isOver(job)) response.body.text = await firstBytes(path).then(readable, () => "");
    opened.delete(answerPath(job));
    Object.assign(contents, { key, found: { request, response } });
  }
  return contents.key === key ? contents.found : null;
}

// The names of users, which `waystation ui` looks up; nothing waits for one.
const users = {
  names: new Map(),

  nameOf(uid) {
    if (!this.names.has(uid)) {
      this.names.set(uid, null);
      read(query("/ui/users", { ids: String(uid) })).then(found => this.names.set(uid, found?.[uid]), () => {});
    }
    return this.names.get(uid);
  },
};

// Where documents of errors have their words.
const TELLING = ["title", "message", "error", "detail", "error_description", "description", "reason", "errors"];

function telling(value, depth = 0) {
  if (typeof value === "string") return value.trim();
  if (!value || typeof value !== "object" || depth > 3) return "";
  const known = Array.isArray(value) ? value.slice(0, 3)
    : TELLING.map(word => value[Object.keys(value).find(name => name.toLowerCase() === word)]);
  return [...new Set(known.map(one => telling(one, depth + 1)).filter(Boolean))].join(": ");
}

// The part of an answer's body that says what is wrong: its words where it is a document that has some, else how it
// begins, without the marks and scripts of a page.
function wordsOf(body) {
  const text = body?.text ?? (body?.json === undefined ? "" : telling(body.json) || JSON.stringify(body.json));
  const plain = text.slice(0, 4000).replace(/<(script|style)\b.*?(<\/\1>|$)|<[^<>]*>/gis, " ").replace(/\s+/g, " ").trim();
  return plain.length > 300 ? plain.slice(0, 300) + "…" : plain;
}

// Bodies that somebody has opened, by address: what is shown of each, or why it is not.
const opened = new Map();
const BODY_LIMIT = 16384;

// The first bytes of a body; no more of it is read.
async function firstBytes(path) {
  const stop = new AbortController();
  const response = await fetch(path, { signal: AbortSignal.any([stop.signal, AbortSignal.timeout(10000)]),
    redirect: "error", cache: "no-store" });
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).detail || `the answer is ${response.status}`);
  const reader = response.body.getReader();
  const found = new Uint8Array(BODY_LIMIT);
  let count = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const room = piece.value.subarray(0, BODY_LIMIT - count);
    found.set(room, count);
    count += room.length;
    if (count === BODY_LIMIT) break;
  }
  stop.abort();
  return found.subarray(0, count);
}

const answerPath = job => `${jobURL(job.id)}/response/body`;

// Bytes that are no UTF-8 become U+FFFD, and marks that a terminal or the order of text would act on are spelled out.
function readable(bytes, isWhole = false) {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: !isWhole });
  return text.replace(/\r\n/g, "\n").replace(UNSAFE, mark => ("\n\t".includes(mark) ? mark : safe(mark)));
}

// A document of one text, for a frame that runs nothing, loads nothing and leads nowhere.
const inert = text => "<!doctype html><meta charset=utf-8><meta name=color-scheme content='light dark'>"
  + "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\"><pre wrap dir=auto>\n"
  + text.replace(/[&<>"']/g, mark => `&#${mark.charCodeAt(0)};`);

// `known` is the body where it is at hand already.
async function openBody(path, size, known) {
  opened.clear();
  try {
    const all = known && new TextEncoder().encode(known);
    const bytes = all ? all.subarray(0, BODY_LIMIT) : await firstBytes(path);
    const isCut = bytes.length < (all?.length ?? size);
    opened.set(path, { isCut, document: inert(readable(bytes, !isCut)) });
  } catch (error) {
    opened.set(path, { told: sentence(error.message) });
  }
  refresh.draw(refresh.view, refresh.kept);
}

// A body: how long it is, its beginning in a frame once somebody wants it, and all of it as a file where there is one.
function bodyOf(name, path, size, known) {
  const { document, told, isCut } = opened.get(path) || {};
  return [
    h(`p.buttons#${name}-body`, `Body: ${bytes(size)} `, size > 0 && [
      h("button", { type: "button", "aria-expanded": String(Boolean(document)), on: { click: () => {
        if (!document) return openBody(path, size, known);
        opened.clear();
        refresh.draw(refresh.view, refresh.kept);
      } } }, document ? "Hide it" : size > BODY_LIMIT ? `Show its first ${bytes(BODY_LIMIT)}` : "Show it"), " ",
      !known && h("a", { href: path, download: "" }, `Download the ${name}`)]),
    told && h(`p.told bad#${name}-told`, told),
    known && document && h(`p.note#${name}-anew`, "Laid out anew: a number of more than 15 digits may be rounded."),
    isCut && h(`p.note#${name}-cut`, `The first ${bytes(BODY_LIMIT)} of it.`),
    document && h(`iframe.body#${name}-frame ${path}`, { title: `Body of the ${name}`, sandbox: "", srcdoc: document, loading: "eager" }),
  ];
}

const fieldsOf = (title, headers) => headers?.length > 0 && table(title, ["Field", "Value"],
  headers.map(([name, value], key) => ({ key, cells: [name, value] })), "fields");

function showContent(job, content) {
  const { request, response } = content || {};
  const { body } = response || {};
  const known = body?.text ?? (body?.json === undefined ? null : JSON.stringify(body.json, null, 2));
  return [
    section("request", "What it was sent", h("p", requestOf(job), job.client && [" from ", clientText(job.client)]),
      fieldsOf("Fields of the request", request?.headers),
      job.links?.request_body && bodyOf("request", job.links.request_body, job.request.size)),
    response?.status && section("answer", "What it was answered",
      h("p", joined(" ", response.status, "from the", response.source)), fieldsOf("Fields of the answer", response.headers),
      // The daemon gives it as it is once the job is over; before that the document may have it.
      body?.size !== undefined && (isOver(job) || known ? bodyOf("answer", answerPath(job), body.size, !isOver(job) && known)
        : h("p.note", "Its body can be read when the job is over."))),
  ];
}
