// How old is what is shown, whether anything answers, and what may be done meanwhile.

// Nothing is shown as good for longer than ten seconds after it was asked for; it is looked at twice a second.
const FRESH = 9500;

// Waits that grow with each failure, and vary, so that not all pages come back at once.
const grown = failures => Math.min(15000, 1000 * 2 ** failures) * (0.8 + Math.random() * 0.4);

const freshness = {
  // When what is shown was asked for, and what keeps it from being asked for: {title, more, advice}.
  askedAt: null, trouble: null, since: null, isAway: false, couldAct: true,

  get isStale() {
    return Boolean(this.trouble && !this.trouble.isAnswered) || this.askedAt !== null && Date.now() - this.askedAt > FRESH;
  },

  get mayAct() { return !this.isStale && !this.trouble; },

  // A view was read that was asked for then.
  was(askedAt, found) {
    if (this.isAway) {
      tell("The daemon is back");
      daemon.isKnown = false;
    }
    this.isAway = false;
    this.askedAt = askedAt;
    this.turn(troubleWith(found));
  },

  failed(error) {
    this.isAway = true;
    this.turn({ title: error.isAway ? AWAY[error.code] || "The daemon is away" : "Not read anew",
      more: sentence(error.message), advice: error.advice && sentence(error.advice) });
  },

  // The time is that of the first look that found it so.
  turn(trouble) {
    if (trouble?.title !== this.trouble?.title) this.since = trouble?.since ? new Date(trouble.since) : new Date();
    this.trouble = trouble;
    this.show();
  },

  show() {
    const { trouble, since, isStale, mayAct } = this;
    document.body.classList.toggle("stale", isStale);
    for (const button of document.querySelectorAll("button.act")) button.disabled = !mayAct;
    if (mayAct !== this.couldAct && dialog.state) dialog.draw();
    this.couldAct = mayAct;
    morph(byID("away"), h("div", trouble && [
      h("p", h("strong", `${trouble.title} since ${time(since)}: `), trouble.more),
      h("p", trouble.advice && trouble.advice + " ", !trouble.isAnswered && this.askedAt
        && `What is below was read at ${time(new Date(this.askedAt))}. `, "Nothing can be done from here meanwhile.")]));
    glance.show();
    const place = byID("live");
    const text = this.text();
    if (place.textContent !== text) place.textContent = text;
    place.className = "live " + (isStale ? "away" : live.state === "live" ? "on" : live.state);
  },

  text() {
    const old = this.askedAt && Date.now() - this.askedAt;
    if (this.isStale) return joined("; ", old ? `Read ${span(old)} ago` : "Not read", refresh.isReading ? "asking" : `next try in ${coming(refresh.due)}`);
    const silence = performance.now() - refresh.last;
    if (refresh.isReading && silence > 3000) return `Waiting for an answer, ${span(silence)}`;
    return { live: "Live", connecting: "Connecting", off: "Paused while hidden",
      away: `Not connected; next try in ${coming(live.next)}` }[live.state];
  },
};

const coming = at => span(at - performance.now() + 999);

const AWAY = { unreachable: "The page's command has ended", no_answer: "The daemon does not answer" };

// A daemon that answers, and can do nothing of what would be asked of it.
const HALTS = { draining: "The daemon is stopping", store_stalled: "The job store does not answer", store_gone: "The job store does not answer",
  store_unavailable: "The job store is away" };

function troubleWith({ troubles: found }) {
  const halt = found?.troubles.find(({ kind }) => kind in HALTS);
  return halt ? { title: HALTS[halt.kind], isAnswered: true, since: halt.since, more: halt.relay } : null;
}
