import Glibc
import RelayConfig
import RelayJSON
import RelayPosix
import RelayRoute

extension Command {
    static let rehearse = Command(
        "rehearse",
        "FILE [--where FILTER] [--records FILE] [OPTION...]",
        "Takes jobs on record through the rules of another configuration.",
        details: """
            FILE is that configuration, which nobody puts in force. Each job that matches FILTER, in the words of
            waystation jobs --where, goes again from its first attempt through the machine of the daemon's program,
            and meets what the attempts on record say its upstream did at that moment: its own, those of other jobs
            of its route, and those of the last requests that had a failure. Without a state in FILTER those that
            are dead are meant; all means every job.

            It tells how many would have been delivered and when, how many would not, of how many that cannot be
            known, what it would have cost in attempts, and which rules never act. A moment is known within 10 s of an
            attempt of the same route, upstream and class of request, with none between that ended otherwise. It cannot
            be known of a failure that may be about the job's own request and of an answer whose content FILE judges.
            Where FILE has a breaker, a budget or another protection, all jobs on record of the route go together.
            Only jobs that are dead, held or expired are judged; others tell what upstreams did. Nothing at the daemon
            changes.

            --records takes documents of jobs from a file, as --save has written them or jobs show prints them with
            -o json, and asks no daemon. Exit status: 0 rehearsed, 3 no job matches, 78 FILE is not valid.

            """,
        operands: [.file],
        options: [
            OptionSpec("where", value: "FILTER", "which jobs; state=dead"),
            OptionSpec(
                "records",
                value: "FILE",
                "documents of jobs in place of the daemon's; - is standard input"
            ),
            OptionSpec("save", value: "FILE", "writes what was read of the daemon there, a job in each line"),
            .output, .utc, .control,
        ]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 1)
        let format = try arguments.format()
        guard let file = arguments.operands.first else {
            throw .usage("which configuration? rehearse FILE", of: "rehearse")
        }
        let bytes = try FileBytes.read(path: file)
        guard let configuration = readable(bytes, file) else { return .invalidConfiguration }
        let moments = Moments(isUTC: arguments.has("utc"))
        let clause = try meant(arguments, moments.now)
        let records: JobRecords
        if let path = arguments["records"] {
            try arguments.allow(["where", "records", "output", "utc"], in: "--records")
            records = try JobRecords(
                parsing: path == "-"
                    ? FileBytes.read(descriptor: STDIN_FILENO, "standard input", limit: recordLimit)
                    : FileBytes.read(path: path, limit: recordLimit),
                from: path
            )
        } else {
            let daemon = DaemonAccess.reading(arguments)
            var reader = RecordReader(daemon)
            records = try reader.read(clause)
            daemon.noteOwnJobs()
            if let path = arguments["save"] { try FileBytes.write(records.lines, path: path) }
        }
        guard records.jobs.contains(where: { clause.matches($0) && $0.isLost }) else {
            throw CommandFailure(
                .notFound,
                "no job on record that is dead, held or expired matches \(clause.text)"
            )
        }
        let rehearsal = try Rehearsal(records, clause.matches, configuration) {
            (lines) throws(CommandFailure) in try DaemonProgram.rehearse(lines, bytes)
        }
        switch format {
        case .json: Output.standard.write(rehearsal.document(file: file) + [UInt8(ascii: "\n")])
        case .table:
            let text = RehearsalText(rehearsal: rehearsal, file: file, moments: moments)
            Output.standard.write(text.text(for: .standard))
        }
        return .done
    }
}

/// Bytes of a file with documents of jobs: 128 MiB.
private let recordLimit = 128 << 20

/// Which jobs are rehearsed: those that are dead, unless something else is said of states.
private func meant(_ arguments: Arguments, _ now: Int64) throws(CommandFailure) -> WhereClause {
    let clauses = arguments.all("where")
    guard clauses != ["all"] else { return try WhereClause(clauses, now: now) }
    let pairs = clauses.flatMap { $0.split(separator: ",") }
    let namesState = pairs.contains { $0.hasPrefix("state=") }
    return try WhereClause(namesState ? clauses : clauses + ["state=dead"], now: now)
}

/// The configuration; nil after its mistakes were told.
private func readable(_ bytes: [UInt8], _ file: String) -> Configuration? {
    let result = ConfigurationReader.read(
        bytes,
        file: file,
        accounts: AccountResolver(user: Accounts.user, group: Accounts.group, zoneFile: ZoneFiles.read),
        wallSeconds: Int64(time(nil))
    )
    let isRefused = result.diagnostics.contains { $0.severity == .error }
    guard let configuration = result.configuration, !isRefused else {
        Output.error.write(Diagnostic.render(result.diagnostics))
        return nil
    }
    return configuration
}
