// The last hour of a route, drawn.

// A picture; without words for it, one that says what stands in words beside it.
const drawing = (look, width, height, label, nodes) => h("svg." + look, { viewBox: `0 0 ${width} ${height}`, width,
  height, preserveAspectRatio: "none", ...(label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }) }, nodes);
const rect = (look, x, y, width, height) => h("rect." + look, { x, y, width, height });
const line = (look, x1, y1, x2, y2) => h("line." + look, { x1, y1, x2, y2 });

// How wide a minute is, and an hour.
const STEP = 3;
const HOUR = 60 * STEP;

const placeOf = ({ all }, index) => HOUR + (index - all.length) * STEP;
const pointer = (hour, at, height) => at === null ? null : line("pointed", placeOf(hour, at) + 1, 0, placeOf(hour, at) + 1, height);

// A bar for each minute: all of them, the stand-ins and, at the bottom and with a mark below, the failures.
function bars(hour, height, most, at = null) {
  const y = part => height - Math.round(part / most * height);
  // One path for all bars of a sort: sixty minutes weigh no more than one.
  const paths = { all: "", helped: "", stripe: "", failed: "" };
  hour.all.forEach((count, index) => {
    if (!count) return;
    const x = placeOf(hour, index);
    const box = (look, top, tall) => { paths[look] += `M${x} ${top}h${STEP - 1}v${tall}h${1 - STEP}z`; };
    const bar = (look, from, to) => {
      const tall = Math.max(1, Math.round((to - from) / most * height));
      box(look, y(from) - tall, tall);
    };
    const failed = Math.min(count, hour.failed[index] || 0);
    const helped = Math.min(count - failed, hour.helped[index] || 0);
    bar("all", 0, count);
    if (helped) {
      bar("helped", failed, failed + helped);
      // Striped, since a colour alone says nothing to some.
      paths.stripe += `M${x + 1} ${Math.max(0, Math.min(y(failed) - 3, y(failed + helped)))}V${y(failed)}`;
    }
    if (failed) {
      bar("failed", 0, failed);
      box("failed", height + 1, 2);
    }
  });
  const nodes = Object.entries(paths).map(([look, d]) => d && h("path." + look, { d }));
  return drawing("bars", HOUR, height + 3, hour.label || `Last hour: ${hourText(hour)}`, [line("base", 0, height + 0.5, HOUR, height + 0.5), nodes,
    pointer(hour, at, height)]);
}

// A scale of powers for the times of an hour: where it begins, and how far it goes.
function powers({ p50, p99 }) {
  const known = [...p50, ...p99].filter(value => value !== null);
  const [low, high] = [Math.log10(Math.max(0.1, Math.min(...known))), Math.log10(Math.max(1, ...known))];
  return known.length ? [low, Math.max(0.5, high - low)] : null;
}

// Half and nearly all of the times, minute by minute.
function times(hour, height, [low, wide], at) {
  const { p50, p99, p50now, p99now } = hour;
  const y = value => 2 + (height - 4) * (1 - (Math.log10(Math.max(0.1, value)) - low) / wide);
  const curve = (look, list) => {
    // A minute without a figure is a gap.
    const runs = [[]];
    list.forEach((value, index) => {
      if (value === null) runs.push([]);
      else runs.at(-1).push([placeOf(hour, index) + 1, decimals(y(value), 1)]);
    });
    return runs.filter(run => run.length).map(run => run.length === 1
      ? h("circle." + look, { cx: run[0][0], cy: run[0][1], r: 1.5 }) : h("polyline." + look, { points: run.join(" ") }));
  };
  return drawing("bars", HOUR, height,
    `Times of the last hour: half within ${took(p50now || 0)}, 99 of 100 within ${took(p99now || 0)} lately`,
    [curve("p99", p99), curve("p50", p50), pointer(hour, at, height)]);
}

// The minute that is looked at.
const pointed = { key: null, at: null };

const minuteText = (hour, index) => time(new Date(hour.began + index * hour.interval)).slice(0, 5);

// A picture with a line at each moment at which something was done or turned.
function marked({ marks = [], all, began, interval }, picture) {
  const height = picture.viewBox.baseVal.height;
  for (const [moment] of marks) {
    const x = decimals(Math.max(0, HOUR + ((parsed(moment) - began) / interval - all.length) * STEP), 1);
    picture.append(line("mark", x, 0, x, height));
  }
  return picture;
}

// A picture of an hour with its axes; pointer and arrow keys choose a minute, whose values it tells.
function chart(key, name, hour, ticks, picture, told, rest) {
  const last = hour.all.length - 1;
  const at = pointed.key === key ? Math.min(pointed.at, last) : null;
  const turn = (event, index) => {
    Object.assign(pointed, index === null ? { key: null } : { key, at: Math.min(last, Math.max(0, index)) });
    morph(event.target.closest("figure"), chart(key, name, hour, ticks, picture, told, rest));
  };
  const keys = { ArrowLeft: (at ?? last + 1) - 1, ArrowRight: (at ?? last - 1) + 1, Home: 0, End: last, Escape: null };
  const on = {
    keydown: event => {
      if (!(event.key in keys)) return;
      event.preventDefault();
      turn(event, keys[event.key]);
    },
    pointermove: event => {
      const box = event.target.closest("figure").querySelector("svg").getBoundingClientRect();
      if (event.clientX >= box.left && event.clientX <= box.right) {
        turn(event, Math.floor((event.clientX - box.left) / box.width * HOUR / STEP) - (HOUR / STEP - 1 - last));
      }
    },
    pointerout: event => event.target.closest("figure").contains(event.relatedTarget) || turn(event, null),
  };
  const clock = [59, 39, 19, 0].map(ago => h("span", minuteText(hour, last - ago)));
  return h("figure#" + key, { tabindex: 0, role: "group", "aria-label": `${name}; arrow keys tell of each minute`, on },
    h("div.plot", h("div.ticks", { "aria-hidden": "true" }, ticks.map(text => h("span", text))), marked(hour, picture(at)),
      h("div.clock", { "aria-hidden": "true" }, clock)),
    h("figcaption", { "aria-live": at === null ? "off" : "polite" }, at === null ? rest : `${minuteText(hour, at)}: ${hour.all[at] === null ? "not known" : told(at)}`));
}

// A round number that is no less.
function roundUp(number) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, number)));
  return [1, 2, 4, 5, 10].map(step => step * power).find(one => one >= number);
}

function rateChart(hour) {
  const most = Math.max(2, roundUp(Math.max(...hour.all)));
  return chart("rate", `${titled(hour.what)}s a minute`, hour, [`${most}/min`, most / 2, "0"], at => bars(hour, 80, most, at),
    at => joined(", ", plural(hour.all[at], hour.what), `${hour.failed[at] || 0} failed`, hour.helped[at] > 0 && `${hour.helped[at]} by a stand-in`,
      causesText(hour.causes, counts => counts[at])),
    [hourText(hour), hour.rate !== null && `; ${plural(rateText(hour.rate), hour.what)} now`]);
}

// The most requests of each minute that were with the upstream, and that waited.
function queueChart(hour) {
  const { queued, inFlight } = hour;
  const all = queued.map((count, index) => count === null ? null : count + inFlight[index]);
  if (!sum(queued)) return null;
  const most = Math.max(2, roundUp(Math.max(...all)));
  const told = at => `at most ${inFlight[at]} under way, ${queued[at]} waited for a permit`;
  const one = { ...hour, all, failed: [], helped: queued, label: "The most requests under way and waiting, by the minute" };
  return chart("queue", "Requests under way and waiting", one, [plural(most, "request"), most / 2, "0"], at => bars(one, 80, most, at), told,
    "The most at once: under way, and striped those that waited for a permit");
}

function timesChart(hour) {
  const scale = powers(hour);
  if (!scale) return null;
  const [low, wide] = scale;
  return chart("times", `Times of its ${hour.what}s`, hour, [1, 0.5, 0].map(part => took(10 ** (low + part * wide))),
    at => times(hour, 80, scale, at),
    at => hour.p50[at] === null ? "no answer" : `half within ${took(hour.p50[at])}, 99 of 100 within ${took(hour.p99[at] ?? hour.p50[at])}`,
    hour.p50now === null ? "No times lately" : `Lately half within ${took(hour.p50now)}, 99 of 100 within ${took(hour.p99now ?? hour.p50now)} (lower and upper line)`);
}

// A share of a limit.
function meter(used, limit) {
  const share = limit ? Math.min(1, used / limit) : 0;
  return drawing(share > 0.8 ? "meter high" : "meter", 40, 6, null,
    [rect("rest", 0, 0, 40, 6), rect("used", 0, 0, decimals(40 * share, 1), 6)]);
}
