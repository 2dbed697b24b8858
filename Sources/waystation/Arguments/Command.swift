/// One of the program's commands.
struct Command: Sendable {
    let name: String
    /// The words that follow the name.
    let usage: String
    let summary: String
    /// More of the help text; ends with a line break.
    let details: String
    let options: [OptionSpec]
    /// The words that are offered for each operand, for shells that complete it.
    let operands: [Completes]
    private let action: @Sendable (Arguments) throws(CommandFailure) -> ExitCode

    init(
        _ name: String,
        _ usage: String,
        _ summary: String,
        details: String = "",
        operands: [Completes] = [],
        options: [OptionSpec] = [],
        action: @escaping @Sendable (Arguments) throws(CommandFailure) -> ExitCode
    ) {
        self.name = name
        self.usage = usage
        self.summary = summary
        self.details = details
        self.operands = operands
        self.options = options
        self.action = action
    }

    static var all: [Command] {
        [
            .status, .send, .jobs, .runs, .dead, .explain, .cat, .shape, .events, .logs, .routes, .pause,
            .resume,
            .breaker, .limits, .metrics, .`init`, .check, .whatIf, .rehearse, .reload, .constrained, .ui,
            .mcp, .demo,
            .completion, .help, .version,
            .store(),
        ]
    }

    /// The command of that name; the options `--help` and `--version` count as names.
    static func named(_ name: String) -> Command? {
        let plain =
            switch name {
            case "--help", "-h": "help"
            case "--version", "-V": "version"
            default: name
            }
        return all.first { $0.name == plain }
    }

    func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        try action(Arguments(words, of: name, options: options))
    }

    var help: String {
        var text = "usage: waystation \(name)\(usage.isEmpty ? "" : " " + usage)\n\n\(summary)\n"
        if !details.isEmpty { text += "\n\(details)" }
        if !options.isEmpty {
            let width = options.map(\.spelled.count).max() ?? 0
            text += "\nOptions:\n" + options.map { $0.helpLine(width: width) }.joined()
        }
        return text
    }
}
