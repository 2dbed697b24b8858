import Glibc
import RelayBase
import RelayConfig
import RelayPosix

/// The call of journalctl(1) that shows what the daemon has written of something.
struct JournalCall: Equatable {
    /// The words after the program's name.
    let words: [String]

    /// As a shell takes it.
    var commandLine: String { (["journalctl"] + words).map(shellWord).joined(separator: " ") }

    init(_ arguments: Arguments) throws(CommandFailure) {
        try arguments.limitOperands(to: 1)
        // A value is attached to its option: by itself it might be taken for another one.
        var words = ["-u", "waystationd"]
        for flag in ["follow", "catalog", "utc"] where arguments.has(flag) { words.append("--\(flag)") }
        for name in ["since", "until"] {
            if let text = arguments[name] { words.append("--\(name)=\(JournalCall.moment(text))") }
        }
        for name in ["lines", "priority", "output"] {
            if let text = arguments[name] { words.append("--\(name)=\(text)") }
        }
        if let word = arguments.operands.first { words.append(try JournalCall.match(word)) }
        self.words = words
    }

    /// A job's id or a route's name as the field of the records that have it.
    private static func match(_ word: String) throws(CommandFailure) -> String {
        if let id = try? jobID(word) { return "JOB_ID=\(id)" }
        guard ConfigurationReader.isName(word) else {
            throw .usage(
                "\"\(safe(word))\" is neither a job's id, 26 digits and letters, nor the name of a route,"
                    + " which has lower-case letters, digits, \".\", \"_\" and \"-\"",
                of: "logs"
            )
        }
        return "ROUTE=\(word)"
    }

    /// Spans and moments as the other commands take them, in journalctl's words; what is neither may be one of its own.
    private static func moment(_ text: String) -> String {
        if DurationText.parse(text) != nil { return "-\(text)" }
        guard let moment = UTCTime.milliseconds(parsing: text) else { return text }
        return "@\(moment / 1000)"
    }

    /// Becomes the program, so that pager, signals and exit status are its own.
    func run() throws(CommandFailure) -> Never {
        // This program ignores the signal for its own sake, and the next one would, too.
        signal(SIGPIPE, SIG_DFL)
        let list = CStrings(["journalctl"] + words)
        _ = unsafe execvp("journalctl", list.pointers)
        throw CommandFailure(
            .failed,
            "cannot run journalctl: \(errorText())",
            advice:
                "The journal is systemd's. Without it the daemon writes its records to standard error, as lines"
                + " of JSON with the same fields where the configuration says \"log\": {\"format\": \"json\"}."
        )
    }
}
