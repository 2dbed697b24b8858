import RelayBase

/// The program's exit status, by which a script knows how it went.
enum ExitCode: Int32 {
    case done = 0
    case failed = 1
    case usage = 2
    case notFound = 3
    /// The daemon cannot be reached.
    case notReachable = 4
    case notAllowed = 5
    /// The upstream failed (`send` without `--any`), or a job ended without success.
    case upstreamFailed = 6
    case timedOut = 7
    /// EX_IOERR of sysexits.h: the output could not be written in full.
    case unwritten = 74
    /// EX_CONFIG of sysexits.h.
    case invalidConfiguration = 78
}

/// Why a command did not do what was asked.
struct CommandFailure: Error {
    let code: ExitCode
    /// One line: what failed and where.
    let message: String
    /// The step that may help the user.
    var advice: String?

    init(_ code: ExitCode, _ message: String, advice: String? = nil) {
        self.code = code
        self.message = message
        self.advice = advice
    }

    var reason: (message: String, advice: String?) { (message, advice) }

    static func usage(_ message: String, of command: String) -> CommandFailure {
        CommandFailure(.usage, message, advice: "See: waystation help \(command)")
    }

    static func unknownCommand(_ name: String) -> CommandFailure {
        let names = Command.all.map(\.name)
        let near = nearestWord(to: name, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
        return CommandFailure(
            .usage,
            "there is no command \"\(name)\"\(near)",
            advice: "Commands: \(names.joined(separator: ", "))"
        )
    }
}
