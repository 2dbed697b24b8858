// The words of the interface, and what they mean.

// A word of the interface as a badge; what it means shows at the pointer, and stands in words where it matters.
const LOOKS = {
  good: "ok serving succeeded valid closed",
  bad: "failing dead open full stalled gone refused expired reload_failed",
  still: "paused route_closed held",
  warn: "degraded busy probing retrying forced_open forced_closed would_be_open unconfigured draining refreshing cancelled",
};
const lookOf = word => Object.keys(LOOKS).find(look => LOOKS[look].split(" ").includes(word)) || "plain";
const badge = (kind, word) => word
  ? h("span.badge " + lookOf(word), { title: meaning(kind, word)?.text }, spaced(word)) : "–";

// The meanings of words and their remedies, as `waystation explain` says them.
function glossary(pairs, route) {
  const rows = pairs.map(([kind, word]) => [kind + word, word, meaning(kind, word, route)]).filter(([,, known]) => known)
    .map(([key, word, { text, remedy }]) => h("div.meaning#" + key, h("dt", word),
      h("dd", text, remedy && h("span.remedy", ` Do: ${remedy}`))));
  return rows.length && section("words", "What the words mean", h("dl.glossary", rows));
}
