import RelayBase
import RelayJSON

extension Command {
    static let runs = Command(
        "runs",
        "[ls|show|watch|stop] [NUMBER] [OPTION...]",
        "Lists actions on all jobs that match, shows how far they are, and stops them.",
        details: """
              runs [ls]         lists those that go on, and the last 20 that are over, newest first
              runs show NUMBER  shows one
              runs watch NUMBER waits for its end: status 1 when it was stopped or failed
              runs stop NUMBER  ends it; what it has done stays

            A run is what waystation jobs ACTION --where begins. The daemon goes through the jobs that matched
            then, at the rate that was asked for, also after a restart.

            """,
        operands: [.words(["ls", "show", "watch", "stop"])],
        options: OptionSpec.list
    ) { arguments throws(CommandFailure) in
        let style = try ListStyle(arguments)
        let daemon = DaemonAccess.control(arguments)
        let word = arguments.operands.first ?? "ls"
        if word == "ls" {
            try arguments.limitOperands(to: 1)
            try list(daemon, style)
            return .done
        }
        guard ["show", "watch", "stop"].contains(word) else {
            throw .usage("\"\(safe(word))\" is nothing runs can do: ls, show, watch, stop", of: "runs")
        }
        try arguments.limitOperands(to: 2)
        guard arguments.operands.count == 2, let number = Int64(arguments.operands[1]), number > 0 else {
            throw .usage("which run? runs \(word) NUMBER", of: "runs")
        }
        let path = "/v1/runs/\(number)"
        let run: RunDocument
        if word == "stop" {
            run = RunDocument(try DaemonAccess.parse(try daemon.change(.post, path + "/stop")))
        } else {
            run = RunDocument(try daemon.document(.get, path).1)
        }
        if word == "watch" {
            let end = try RunWatch(daemon, isQuiet: arguments.has("quiet")).follow(run)
            let isJSON = style.format == .json || style.format == .ndjson
            return end.tellEnd(isJSON: isJSON, isQuiet: style.format == .name)
        }
        switch style.format {
        case .json, .ndjson: Output.standard.write(run.json.line)
        case .name: Output.standard.write("\(run.number)\n")
        case .table where word == "stop":
            Output.standard.write("run \(run.number) \(run.state): \(run.progress) jobs changed\n")
        case .table: Output.standard.write(run.sheet(style.moments))
        }
        return .done
    }
}

private func list(_ daemon: DaemonAccess, _ style: ListStyle) throws(CommandFailure) {
    let (bytes, document) = try daemon.document(.get, "/v1/runs")
    let runs = (document["runs"]?.elements ?? []).map(RunDocument.init)
    switch style.format {
    case .table:
        if runs.isEmpty { return Output.error.write("There are no runs.\n") }
        var table = TextTable(RunDocument.columns)
        for run in runs { table.add(run.cells(style.moments)) }
        Output.standard.write(style.text(of: table))
    case .json: Output.standard.write(bytes + [UInt8(ascii: "\n")])
    case .ndjson: for run in runs { Output.standard.write(run.json.line) }
    case .name: for run in runs { Output.standard.write("\(run.number)\n") }
    }
}
