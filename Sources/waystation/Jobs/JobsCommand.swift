import RelayBase
import RelayInterface
import RelayJSON

extension Command {
    static let jobs = Command(
        "jobs",
        "[ls|show|watch|retry|cancel|hold|release|drop|expunge] [ID...] [OPTION...]",
        "Lists the jobs the daemon keeps, shows them, and acts on them.",
        details: """
              jobs [ls]          lists jobs, newest first; the options up to --limit choose which
              jobs show ID       shows one job
              jobs watch ID      prints its changes until it is over: status 6 when it ended without success,
                                 7 when --timeout came first
              jobs retry ID...   makes a waiting job due now, and gives one that is dead, cancelled or expired
                                 another life
              jobs cancel ID...  ends what waits, and asks what is with its upstream to end
              jobs hold ID...    puts a waiting job aside until it is released
              jobs release ID... lets a held job go on
              jobs drop ID...    removes a job that is not running, with everything about it
              jobs expunge ID... removes what a job that is over was sent and answered; its record stays

            The last six take --where FILTER in place of ids: name=value pairs with commas between them, of
            route, state, reason, end, kind, status and upstream (of the last failure), label, since and before, or
            the word all. The jobs that match are counted first; a terminal is asked, and elsewhere nothing is changed
            without --yes. Jobs that come while it is asked are not meant, and where another number matches by
            then nothing is done. A list takes the same FILTER, and shows what an action would be for.

              waystation jobs retry --where route=partner-hooks,state=dead,status=503 --rate 50/s

            The daemon does it as a run, which goes on by itself: also when the command is interrupted, and after a
            restart. The command waits for its end and tells how far it is; waystation runs shows and stops it.

            A retry --where leaves jobs alone that may have been carried out (in_doubt), however they
            ended, and says how many; ask the upstream, then say --unknown or name the jobs. A job whose
            place a newer one took (superseded) would be sent after that one: a retry takes --superseded for it,
            named or not.

            """,
        operands: [
            .words(["ls", "show", "watch"] + JobActionWord.allCases.map(\.rawValue)),
            .asked([.jobs], repeats: true),
        ],
        options: [
            OptionSpec("route", value: "NAME", "of this route", completes: .asked([.routes])),
            OptionSpec(
                "state",
                value: "STATE",
                "in this state; several with commas between them",
                completes: .words(of: .state)
            ),
            OptionSpec(
                "reason",
                value: "REASON",
                "waiting for this, such as backoff",
                completes: .words(of: .reason)
            ),
            OptionSpec(
                "end",
                value: "END",
                "over for this reason, such as exhausted",
                completes: .words(of: .end)
            ),
            OptionSpec(
                "failed-by",
                value: "KIND",
                "whose last failure is of this kind",
                completes: .words(of: .failure)
            ),
            OptionSpec("status", value: "STATUS", "whose last failure was an answer of this status"),
            OptionSpec("label", value: "NAME=VALUE", "with this label", completes: .asked([.labels])),
            OptionSpec("node", value: "NAME", "that this daemon of a fleet accepted, or has under way"),
            OptionSpec("since", value: "SPAN|TIME", "accepted since then, such as 1h"),
            OptionSpec("limit", value: "N|all", "how many are listed; 50"),
            OptionSpec("timeout", value: "DURATION", "how long to watch"),
            OptionSpec("where", value: "FILTER", "every job that matches, to list it or to act on it"),
            OptionSpec("rate", value: "N/s", "how many retried jobs become due in a second; also N/m, N/h"),
            OptionSpec("unknown", nil, "retry also what may have been carried out"),
            OptionSpec("superseded", nil, "retry also what a newer job took the place of"),
            OptionSpec("reason", value: "TEXT", "what others are told of an action on all that match"),
            OptionSpec("detach", nil, "begin such an action, and do not wait for its end"),
            OptionSpec("dry-run", "n", "count only"),
            OptionSpec("yes", "y", "do not ask"),
        ] + OptionSpec.list
    ) { arguments throws(CommandFailure) in
        let word = arguments.operands.first ?? "ls"
        let rest = Array(arguments.operands.dropFirst())
        switch word {
        case "ls": return try list(arguments, rest)
        case "show": return try show(arguments, rest)
        case "watch": return try watch(arguments, rest)
        default:
            guard let action = JobActionWord(rawValue: word) else { throw unknown(word) }
            return try JobActionOrder(action, arguments, rest).run()
        }
    }
}

private func unknown(_ word: String) -> CommandFailure {
    let words = ["ls", "show", "watch"] + JobActionWord.allCases.map(\.rawValue)
    let meant =
        (try? jobID(word)) == nil
        ? nearestWord(to: word, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
        : "; did you mean: waystation jobs show \(safe(word))?"
    return .usage(
        "\"\(safe(word))\" is nothing jobs can do\(meant.isEmpty ? ": \(words.joined(separator: ", "))" : meant)",
        of: "jobs"
    )
}

private func list(_ arguments: Arguments, _ rest: [String]) throws(CommandFailure) -> ExitCode {
    guard rest.isEmpty else { throw .usage("there is one word too many: \"\(safe(rest[0]))\"", of: "jobs") }
    try arguments.allow(
        [
            "where", "route", "state", "reason", "end", "failed-by", "status", "label", "node", "since",
            "limit",
            "output",
            "no-headers", "quiet", "utc", "socket",
        ],
        in: "ls"
    )
    let style = try ListStyle(arguments)
    try JobList(style: style).print(try JobQuery(arguments, now: style.moments.now), of: .reading(arguments))
    return .done
}

/// The one id that follows the word.
private func onlyID(_ rest: [String], _ word: String) throws(CommandFailure) -> String {
    guard let first = rest.first else { throw .usage("which job? jobs \(word) ID", of: "jobs") }
    guard rest.count == 1 else {
        throw .usage("there is one word too many: \"\(safe(rest[1]))\"", of: "jobs")
    }
    return try jobID(first, of: "jobs")
}

private func show(_ arguments: Arguments, _ rest: [String]) throws(CommandFailure) -> ExitCode {
    try arguments.allow(["output", "quiet", "utc", "socket"], in: "show")
    let style = try ListStyle(arguments)
    let id = try onlyID(rest, "show")
    let daemon = DaemonAccess.reading(arguments)
    let (bytes, job) = try daemon.document(.get, "/v1/jobs/\(id)")
    switch style.format {
    case .table:
        let explain = daemon.advice("explain \(id)", isOwn: true)
        Output.standard.write(JobSheet(job, style.moments, explain: explain).text)
    case .json, .ndjson: Output.standard.write(bytes + [UInt8(ascii: "\n")])
    case .name: Output.standard.write("\(JobDocument(job).id)\n")
    }
    return .done
}

private func watch(_ arguments: Arguments, _ rest: [String]) throws(CommandFailure) -> ExitCode {
    try arguments.allow(["timeout", "output", "quiet", "utc", "socket"], in: "watch")
    let style = try ListStyle(arguments)
    let id = try onlyID(rest, "watch")
    let timeout = try arguments.duration("timeout")
    var news = JobNews(isUTC: arguments.has("utc"))
    var last: JSONValue?
    let daemon = DaemonAccess.reading(arguments, timeout: .seconds(JobWatch.question + 30))
    let code = try JobWatch(daemon, id, timeout: timeout) { job in
        last = job
        switch style.format {
        case .table: Output.standard.write(news.lines(of: job, now: Moments.wallMilliseconds()))
        case .ndjson: Output.standard.write(job.line)
        case .json, .name: break
        }
    }.run()
    if style.format == .json, let last { Output.standard.write(last.line) }
    return code
}
