// Times and spans as the command line tells them.

const parsed = text => (text ? Date.parse(text) : NaN);

// The daemon's clock, which need not be the browser's.
const clock = {
  ahead: 0,
  now() { return Date.now() + this.ahead; },
  learn(date) {
    const ahead = Date.parse(date) - Date.now();
    // The field has whole seconds.
    if (!Number.isNaN(ahead)) this.ahead = Math.abs(ahead) > 2500 ? ahead : 0;
  },
};

// A duration as the configuration spells it: `1m30s`.
function exact(milliseconds) {
  let rest = Math.floor(milliseconds);
  if (!(rest > 0)) return "0s";
  let text = "";
  for (const [size, name] of [[86400000, "d"], [3600000, "h"], [60000, "m"], [1000, "s"], [1, "ms"]]) {
    if (rest >= size) text += Math.floor(rest / size) + name;
    rest %= size;
  }
  return text;
}

// A span in its largest unit: `12 s`, `4 min`, `3 h`, `5 d`.
function span(milliseconds) {
  const seconds = Math.floor(Math.max(0, milliseconds) / 1000);
  if (seconds < 60) return seconds + " s";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min";
  return seconds < 172800 ? Math.floor(seconds / 3600) + " h" : Math.floor(seconds / 86400) + " d";
}

// A duration, in the same units: `0.4 ms`, `12 ms`, `1.25 s`, `41 min 3 s`, `3 d 4 h`.
function took(milliseconds) {
  const bounded = Math.min(Math.max(0, milliseconds), 1e13);
  if (bounded < 1000) return decimals(bounded, bounded < 10 ? 1 : 0) + " ms";
  if (bounded < 60000) return decimals(bounded / 1000, bounded % 1000 ? 2 : 0) + " s";
  const seconds = Math.floor(bounded / 1000);
  const units = [[86400, " d"], [3600, " h"], [60, " min"], [1, " s"]];
  const first = units.findIndex(([size]) => size <= seconds);
  const [[large, name], [small, next]] = units.slice(first);
  const rest = Math.floor(seconds % large / small);
  return Math.floor(seconds / large) + name + (rest ? " " + rest + next : "");
}

// A moment that is told in few words has all of them at the pointer.
const when = (text, shown) => (text ? h("time", { datetime: text, title: text }, shown) : shown);

// `Europe/Berlin (UTC+02:00)`, of `15:07:10 GMT+0200 (and its name)`.
function zone() {
  const text = new Date().toTimeString();
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";
  return `${name} (UTC${text.slice(12, 15)}:${text.slice(15, 17)})`;
}

const age = text => (text ? span(clock.now() - parsed(text)) : "–");

// Of a route's oldest job, which of very many is known to the minute only.
const ageOfOldest = ({ oldest_job_at: text }) =>
  parsed(text) % 60000 === 0 && clock.now() - parsed(text) < 60000 ? "< 1 min" : age(text);

function until(text) {
  if (!text) return "–";
  return parsed(text) <= clock.now() ? "now" : span(parsed(text) - clock.now());
}

const comingText = text => parsed(text) <= clock.now() ? "now" : "in " + span(parsed(text) - clock.now());

const time = date => date.toTimeString().slice(0, 8);
// Swedes write `2025-11-20`.
const day = date => date.toLocaleDateString("sv");
const today = () => day(new Date(clock.now()));

// `15:07:10` today, `Nov 20 15:07` this year, else `2025-11-20`.
function moment(text) {
  const date = new Date(parsed(text));
  if (day(date) === today()) return time(date);
  return day(date).slice(0, 4) === today().slice(0, 4)
    ? date.toDateString().slice(4, 10).replace(" 0", " ") + " " + time(date).slice(0, 5) : day(date);
}

// With milliseconds, and the day when it is not today's.
function precise(text) {
  const date = new Date(parsed(text));
  return (day(date) === today() ? "" : day(date) + " ") + time(date) + "." + String(date % 1000).padStart(3, "0");
}
