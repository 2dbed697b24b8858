// The dialog in which an action is confirmed, with the command that does the same.

// A command to be copied.
function copyable(text) {
  return h("span.command", h("code", text),
    h("button.small", {
      type: "button", "aria-label": "Copy the command", on: {
        click: async event => {
          const button = event.target;
          try {
            await navigator.clipboard.writeText(text);
            button.textContent = "Copied";
            tell("Copied the command");
          } catch {
            getSelection().selectAllChildren(button.previousSibling);
            button.textContent = "Selected";
          }
          setTimeout(() => { button.textContent = "Copy"; }, 2000);
        },
      },
    }, "Copy"));
}

const dialog = {
  opener: null, state: null,

  // `order` has title, text, fields, command(values), run(values, progress) and, where it is for many,
  // count(values, signal, isAgain), which gives {told, size}, and stop().
  open(order) {
    this.opener = document.activeElement;
    this.state = { order, values: {}, phase: order.count ? "counting" : "ready", told: "",
      stop: new AbortController() };
    for (const { name, value = "" } of order.fields || []) this.state.values[name] = value;
    byID("dialog").replaceChildren();
    this.draw();
    byID("dialog").showModal();
    if (order.count) this.count();
  },

  get isRunning() { return this.state?.phase === "running"; },

  // One for many ends with its present page, and its sum is shown before anything is closed.
  leave() {
    const { order } = this.state;
    if (this.isRunning && order.stop) order.stop().catch(error => tell(sentence(error.message)));
    else this.close();
  },

  close() {
    if (!this.state) return;
    this.state.stop.abort();
    this.state = null;
    byID("dialog").close();
    if (this.opener?.isConnected) this.opener.focus();
    else byID("main").focus();
  },

  // Shows what has become of the order.
  turn(news) {
    Object.assign(this.state, news);
    this.draw();
  },

  draw() {
    const { order, values, phase, told, isError } = this.state;
    const typed = ({ target: { name, type, checked, value } }) => {
      values[name] = type === "checkbox" ? (checked ? "yes" : "") : value.trim();
      this.draw();
    };
    const on = { input: typed, change: () => order.count && this.count() };
    const input = ({ name, options: words, isFlag, hint }) => words
      ? h("select", { name, on }, words.map(text =>
        h("option", { value: text, selected: text === values[name] }, text)))
      : isFlag ? h("input", { name, on, type: "checkbox" })
        : h("input", { name, on, type: "text", placeholder: hint, autocomplete: "off", spellcheck: "false" });
    const isBusy = phase === "counting" || this.isRunning;
    const body = h("form", { method: "dialog", on: { submit: () => this.run() } },
      h("h2", { id: "dialog-title" }, order.title),
      order.text && h("p", order.text),
      (order.fields || []).map(field => h(field.isFlag ? "label.flag" : "label", h("span", field.title), input(field))),
      h(isError ? "p.told bad" : "p.told", { role: "status" }, told),
      h("p.same", "The command that does the same:"),
      copyable(order.command(values)),
      h("div.buttons",
        h(order.isGrave ? "button.grave" : "button.main", { type: "submit", disabled: phase !== "ready" || !freshness.mayAct }, order.button(this.state)),
        h("button", { type: "button", on: { click: () => this.leave() } }, this.isRunning && order.stop ? "Stop"
          : phase === "done" ? "Close" : "Cancel"),
        isBusy && h("span.busy", phase === "counting" ? "counting jobs" : "at it")));
    morph(byID("dialog"), h("div", body));
  },

  async count() {
    const state = this.state;
    state.stop.abort();
    state.stop = new AbortController();
    const { signal } = state.stop;
    this.turn({ phase: "counting", told: "", isError: false, counted: null });
    try {
      const counted = await state.order.count(state.values, signal);
      if (!signal.aborted) this.turn({ phase: counted.size ? "ready" : "none", told: counted.told, counted });
    } catch (error) {
      if (!signal.aborted) this.turn({ phase: "none", told: sentence(error.message), isError: true });
    }
  },

  async run() {
    const state = this.state;
    if (state?.phase !== "ready" || !freshness.mayAct) return;
    const turn = news => this.state === state && this.turn(news);
    turn({ phase: "running", told: "", isError: false });
    const progress = news => turn({ told: news });
    const { order, values, counted, stop: { signal } } = state;
    const end = (phase, told, isError) => {
      tell(told);
      refresh.soon(true);
      turn({ phase, told, isError });
    };
    try {
      if (order.count) {
        // Nothing is done but what was agreed to.
        const now = await order.count(values, signal, true);
        if (now.size !== counted.size && !signal.aborted) {
          state.counted = now;
          return end("ready", `${now.size > counted.size ? "More" : "Fewer"} match than were counted, so nothing was done yet. ${now.told}`, true);
        }
      }
      const told = await order.run(values, progress);
      if (order.count) return end("done", told, false);
      end("done", told, false);
      if (this.state === state) this.close();
    } catch (error) {
      if (signal.aborted && !(error instanceof Refusal)) return;
      end(order.count ? "done" : "ready", sentence(error.message) + (error.isAway && error.advice
        ? ` ${error.advice}` : ""), true);
    }
  },
};

byID("dialog").addEventListener("cancel", event => {
  event.preventDefault();
  dialog.close();
});
// A browser closes it nevertheless when it is asked twice, and may tell of it when another is open already.
byID("dialog").addEventListener("close", () => {
  if (!byID("dialog").open) dialog.close();
});

// A button that opens an order, for who may give it.
function action(name, role, order) {
  return may(role) && h("button.small act", { type: "button", disabled: !freshness.mayAct, on: { click: () => dialog.open(order()) } }, name);
}
