// How old is what is shown, and whether anything answers.

function showLive() {
  const place = byID("live");
  const seconds = Math.max(0, Math.ceil((live.next - Date.now()) / 1000));
  // A stream that is open says nothing of a daemon that has stopped: what is read does.
  const silence = performance.now() - refresh.last;
  const isLate = refresh.isReading && silence > 3000;
  const isUnread = live.state === "live" && (isLate || goneSince);
  const text = isUnread ? goneSince ? `No answer since ${time(goneSince)}`
    : `Waiting for an answer, ${Math.floor(silence / 1000)}s` : {
    live: "Live", connecting: "Connecting", off: "Paused while hidden",
    away: `Not connected, next try in ${seconds}s`,
  }[live.state];
  if (place.textContent !== text) place.textContent = text;
  place.className = "live " + (isUnread ? "away" : live.state === "live" ? "on" : live.state);
}

let goneSince = null;

// Says that the daemon is away, and since when; what is shown stays, and says of when it is.
function away(error) {
  document.body.classList.toggle("stale", Boolean(error));
  if (!error) {
    if (goneSince) {
      tell("The daemon is back");
      daemon.isKnown = false;
    }
    goneSince = null;
    showLive();
    byID("away").replaceChildren();
    return;
  }
  goneSince = goneSince || new Date();
  morph(byID("away"), h("div",
    h("p", h("strong", error.isAway ? `The daemon is away since ${time(goneSince)}: `
      : `Not read anew since ${time(goneSince)}: `), sentence(error.message)),
    h("p", error.advice ? sentence(error.advice) + " " : "", refresh.readAt
      ? `What is below was read at ${time(refresh.readAt)}. ` : "", "The page goes on by itself.")));
  showLive();
}
