extension Command {
    static let logs = Command(
        "logs",
        "[JOB|ROUTE] [OPTION...]",
        "Shows what the journal has of the daemon, a job or a route.",
        details: """
            JOB is a job's id, all of it, and ROUTE the name of a route; the daemon need not run. It becomes
            journalctl, which needs root or the group systemd-journal or adm, with pager and exit status.

              waystation logs -p warning -x      what went wrong, explained

            """,
        operands: [.asked([.jobs, .routes])],
        options: [
            OptionSpec("follow", "f", "wait for what comes"),
            OptionSpec("since", value: "SPAN|TIME", "from then on, such as 1h; also as journalctl has it"),
            OptionSpec("until", value: "SPAN|TIME", "until then"),
            OptionSpec("lines", "n", value: "N|all", "the latest so many"),
            OptionSpec(
                "priority",
                "p",
                value: "PRIORITY",
                "so severe at least, such as warning or err",
                completes: .words(["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"])
            ),
            OptionSpec("catalog", "x", "explain each record"),
            OptionSpec(
                "output",
                "o",
                value: "FORMAT",
                "how to print, as journalctl has it, such as json",
                completes: .words([
                    "short", "short-iso", "short-precise", "verbose", "cat", "json", "json-pretty", "export",
                ])
            ),
            .utc,
            OptionSpec("print", nil, "print the command for a shell and do not run it"),
        ]
    ) { arguments throws(CommandFailure) in
        let call = try JournalCall(arguments)
        guard arguments.has("print") else { try call.run() }
        Output.standard.write(call.commandLine + "\n")
        return .done
    }
}
