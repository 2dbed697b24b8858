"use strict";

// Elements, made of data without ever reading markup, and put in place of those before them without disturbing what
// somebody is at.

const SVG = new Set(["svg", "rect", "line", "path", "circle", "polyline"]);
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
// Attributes that are shown or read out.
const SPOKEN = new Set(["title", "aria-label", "placeholder", "data-title"]);

// Text from elsewhere: what could reorder or hide the text around it is spelled out.
function safe(text) {
  return String(text).replace(UNSAFE, mark => "\\u{" + mark.codePointAt(0).toString(16) + "}");
}

const isNothing = value => value == null || value === false || value === "";

// h("tag.class#key", {title, on: {click}}, "text", node, [more]); what is nothing is left out, also the properties.
function h(kind, ...children) {
  const [, tag, look, key] = /^(\w+)(?:\.([^#]*))?(?:#(.*))?$/s.exec(kind);
  const node = SVG.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  if (look) node.setAttribute("class", look);
  node.key = key;
  const props = children[0]?.constructor === Object ? children.shift() : {};
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") Object.assign(node, { handlers: value, isLive: true });
    else if (value === "" || !isNothing(value)) node.setAttribute(name, value === true ? "" : SPOKEN.has(name) ? safe(value) : value);
  }
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(node, child);
    else if (!isNothing(child)) {
      node.append(child instanceof Node ? child : safe(child));
      if (child.isLive) node.isLive = true;
    }
  }
}

// Puts the children of `fresh` in the place of `parent`'s; those that stay what they were stay where they are.
function morph(parent, fresh) {
  const keyed = new Map();
  const kept = new Set([...fresh.childNodes].map(({ key }) => key));
  for (const child of [...parent.childNodes]) {
    if (child.key === undefined) continue;
    // Those that stay are not moved for the sake of those that go.
    if (kept.has(child.key)) keyed.set(child.key, child);
    else child.remove();
  }
  let at = parent.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const known = wanted.key === undefined ? (at && at.key === undefined ? at : null) : keyed.get(wanted.key);
    if (!known) {
      parent.insertBefore(wanted, at);
      continue;
    }
    // One that is moved loses the keyboard: the others go around it.
    while (known !== at && known.contains(document.activeElement) && at?.compareDocumentPosition(known) & 4) {
      const next = at.nextSibling;
      parent.append(at);
      at = next;
    }
    if (known === at) at = at.nextSibling;
    else parent.insertBefore(known, at);
    if (!wanted.isSame) become(known, wanted);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function become(node, wanted) {
  if (node.nodeName !== wanted.nodeName || node.key !== wanted.key) return node.replaceWith(wanted);
  if (node.nodeType === Node.TEXT_NODE) {
    if (node.data !== wanted.data) node.data = wanted.data;
    return;
  }
  // The browser compares sooner than a script, but for handlers.
  if (!node.isLive && !wanted.isLive && node.isEqualNode(wanted)) return;
  // A value that is typed or chosen is its user's, until another value was asked for.
  const isField = ["select", "input"].includes(node.localName);
  const isGiven = isField && node.getAttribute("value") !== wanted.getAttribute("value");
  const { value: chosen } = node;
  for (const { name } of [...node.attributes]) {
    // Somebody has opened it.
    if (!wanted.hasAttribute(name) && name !== "open") node.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  node.handlers = wanted.handlers;
  node.isLive = wanted.isLive;
  const { value } = wanted;
  morph(node, wanted);
  if (isField && node.type !== "checkbox") {
    const now = isGiven ? value : chosen;
    if (node.value !== now) node.value = now;
  }
}

// One listener for each kind of event, however many elements come and go.
for (const type of ["click", "submit", "change", "input", "keydown", "pointermove", "pointerout"]) {
  document.addEventListener(type, event => {
    for (let node = event.target; node instanceof Node; node = node.parentNode) {
      const handler = node.handlers?.[type];
      if (!handler) continue;
      if (type === "submit") event.preventDefault();
      handler(event);
      return;
    }
  });
}

const byID = id => document.getElementById(id);

// A text for screen readers, and for nobody else.
function tell(text) {
  byID("news").textContent = safe(text);
}

const section = (key, title, ...content) => h("section#" + key, h("h2", title), content);

const heading = (...content) => h("h1#h1", { tabindex: -1 }, content);

const link = (to, ...content) => h("a", { href: "#" + to }, ...content);
const jobURL = id => "/v1/jobs/" + encodeURIComponent(id);
const jobPath = id => "/job/" + encodeURIComponent(id);
const routePath = name => "/route/" + encodeURIComponent(name);
