// Words, figures and commands as the command line tells them.

// The parts that are there, with a mark between them.
const joined = (mark, ...parts) => parts.filter(part => !isNothing(part)).join(mark);
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const spaced = word => String(word).replaceAll("_", " ");

const decimals = (value, count) => (Math.round(value * 10 ** count) / 10 ** count).toFixed(count);

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = Math.max(0, count);
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${decimals(value, unit === 0 || value >= 10 ? 0 : 1)} ${units[unit]}`;
}

// `1.2 k`, all of it at the pointer.
function amount(number) {
  if (number < 1000) return String(number);
  const [size, unit] = number < 1e6 ? [1000, "k"] : [1e6, "M"];
  return h("span", { title: grouped(number) }, `${decimals(number / size, number < 10 * size ? 1 : 0)} ${unit}`);
}

const grouped = number => String(number).replace(/\B(?=(\d{3})+$)/g, " ");

const titled = word => word.slice(0, 1).toUpperCase() + word.slice(1);
const sentence = text => titled(text) + (text.endsWith(".") ? "" : ".");

// A word for a shell. Nothing that a terminal acts on is in it: what is typed or pasted would be run.
function quoted(word) {
  const text = String(word);
  if (/^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(text)) return text;
  return "'" + safe(text).replaceAll("'", "'\\''") + "'";
}

// The given values of a document or a command line.
const given = values => Object.fromEntries(Object.entries(values).filter(([, value]) => value));
const options = values => Object.entries(given(values)).map(([name, value]) => ["--" + name, value]);

// The socket, where it is not the one that commands take by themselves.
const socketOption = () => (daemon.socket ? ` --socket ${quoted(daemon.socket)}` : "");

// A command line of the program, for the daemon that is looked at.
const command = (...words) =>
  ["waystation", ...words, options({ socket: daemon.socket })].flat(2).map(quoted).join(" ");

// The same call for what no option can say.
function curl(method, path, document) {
  const socket = daemon.socket || "/run/waystation/control.sock";
  // JSON has escapes of its own for what a terminal must not see.
  const text = document && JSON.stringify(document).replace(UNSAFE, mark =>
    "\\u" + mark.charCodeAt(0).toString(16).padStart(4, "0"));
  return ["curl", "--unix-socket", socket, ...(method === "POST" && text ? [] : ["-X", method]),
    "http://relay" + path, ...(text ? ["--json", text] : [])].map(quoted).join(" ");
}
