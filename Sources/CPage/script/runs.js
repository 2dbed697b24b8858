// The runs: actions on every job that matches, which the daemon carries on, as each viewer sees them.

const runURL = ({ number }) => `/v1/runs/${number}`;

const runs = {
  found: [],

  async read(signal) { ({ runs: this.found } = await read("/v1/runs", signal)); },

  // While one goes on it is looked at each second, whatever the view does.
  again() {
    const isOn = this.found.some(({ state }) => state === "running");
    if (isOn && freshness.mayAct && !document.hidden) this.read().then(() => this.show(), () => {});
  },

  // Those that go on, and what came of the others for a minute.
  show() {
    const shown = this.found.filter(run => run.state === "running" || clock.now() - parsed(run.ended_at) < 60000);
    morph(byID("runs"), h("div", shown.map(run => {
      const { number, action: word, filter, total, matched, rate, reason, by, started_at: began, state } = run;
      const isOn = state === "running";
      const name = `Run ${number}: ${word} jobs with ${words(filter)}`;
      return h("p.run " + state + "#" + number, h("strong", name), isOn && total > 0 && h("progress", { max: total, value: Math.min(matched, total), "aria-label": name }),
        isOn ? ` ${joined(" of ", grouped(matched), total && grouped(total))}${came(run, word)}${rate ? ` at ${rate}` : ""}. `
          : ` ${titled(state)}${run.ended_by ? ` by ${userText(run.ended_by)}` : ""}: ${sentence(joined("; ", run.detail, counted(run, word)))} `,
        "Begun ", when(began, age(began)), ` ago by ${userText(by)}${reason ? `: ${reason}` : ""}. `, isOn && stopAction(run));
    })));
  },
};

function stopAction(run) {
  return action("Stop…", "operate", () => ({
    title: `Stop run ${run.number}`,
    text: "It ends with its present page; what it has done stays.",
    command: () => command("runs", "stop", run.number),
    button: () => "Stop",
    run: async () => {
      const { state, changed } = await ask("POST", runURL(run) + "/stop");
      return `Run ${run.number} is ${state}: ${plural(changed, "job")} ${DONE[run.action] || "changed"}`;
    },
  }));
}
