import RelayJSON

extension Command {
    static let dead = Command(
        "dead",
        "[--by kind|route|upstream] [--route NAME] [OPTION...]",
        "Shows the jobs that were given up, grouped by what they died of.",
        details: """
            Each group has its count, its oldest and newest job and one to look at; then come the commands that
            explain, retry and drop it.

            """,
        options: [
            OptionSpec("by", value: "kind|route|upstream", "what a group has in common; kind"),
            OptionSpec("route", value: "NAME", "of this route only", completes: .asked([.routes])),
        ] + OptionSpec.list
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        let style = try ListStyle(arguments)
        guard let by = DeadGroups.Key(rawValue: arguments["by"] ?? "kind") else {
            throw .usage("--by takes kind, route or upstream", of: "dead")
        }
        var groups = DeadGroups(by: by)
        let progress = Progress("reading dead jobs")
        defer { progress.end() }
        let daemon = DaemonAccess.reading(arguments)
        var pages = JobPages(daemon, JobQuery(state: "dead", route: arguments["route"]))
        var count = 0
        while let page = try pages.page() {
            for job in page { groups.add(job) }
            count += page.count
            progress.update("reading dead jobs: \(count)")
        }
        progress.end()
        switch style.format {
        case .table:
            Output.standard.write(groups.text(style, route: arguments["route"], daemon.advice))
            daemon.noteOwnJobs()
        case .json: Output.standard.write(groups.document.line)
        case .ndjson:
            for group in groups.sorted { Output.standard.write(groups.document(group).line) }
        case .name:
            for group in groups.sorted { Output.standard.write(group.title + "\n") }
        }
        return .done
    }
}
