// Jobs of a list that are chosen, one by one or several at once, and what is done to them.

// The boxes themselves hold what is chosen: those of jobs that leave the list go with them.
const boxes = () => [...document.querySelectorAll(".pick")];
const chosenOf = jobs => {
  const ids = new Set(boxes().filter(box => box.checked).map(({ value }) => value));
  return jobs.filter(job => ids.has(job.id));
};
const choosing = { last: null };

// All from the one that was chosen last to this one.
function chooseTo(box, isRange) {
  const all = boxes();
  const [from, to] = [all.findIndex(({ value }) => value === choosing.last), all.indexOf(box)].sort((a, b) => a - b);
  if (isRange && from >= 0) for (const one of all.slice(from, to + 1)) one.checked = box.checked;
  choosing.last = box.value;
  refresh.draw(refresh.view, refresh.kept);
}

function chooseAll(isChosen) {
  for (const box of boxes()) box.checked = isChosen;
  refresh.draw(refresh.view, refresh.kept);
}

// The arrows go from box to box, and with Shift they take the next one in.
function moveChoice(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = boxes()[boxes().indexOf(event.target) + step];
  if (!next) return;
  next.focus();
  if (!event.shiftKey) return;
  event.target.checked = next.checked = true;
  chooseTo(next);
}

const chooser = job => h("input.pick", { type: "checkbox", value: job.id, "aria-label": `Choose ${job.id}`,
  on: { click: event => chooseTo(event.target, event.shiftKey), keydown: moveChoice } });

// Only what does something to one of them.
function offers(key, title, states, filter, ...more) {
  const offered = Object.keys(DONE).filter(word => actsOn(word, states));
  return may("operate") && (offered.length > 0 || more.length > 0) && h("p.buttons#" + key, h("span", title),
    offered.map(word => bulkAction(word, filter, titled(word) + "…")), more);
}

function chosenJobs(jobs) {
  const chosen = chosenOf(jobs);
  const button = (name, act) => h("button.small#" + name, { type: "button", on: { click: act } }, name);
  const all = chosen.length < jobs.length && button(`Choose all ${jobs.length} here`, () => chooseAll(true));
  if (!chosen.length) return h("p.buttons#chosen", all);
  return offers("chosen", `${chosen.length} chosen:`, chosen.map(({ state }) => state), { ids: chosen.map(({ id }) => id) },
    all, button("Choose none", () => chooseAll(false)));
}
