/// An option a command understands.
struct OptionSpec: Sendable {
    /// The long name, without dashes.
    let name: String
    let short: Character?
    /// What stands for the value in the help text; nil for an option without one.
    let value: String?
    let summary: String

    init(_ name: String, _ short: Character? = nil, value: String? = nil, _ summary: String) {
        self.name = name
        self.short = short
        self.value = value
        self.summary = summary
    }

    /// The option's line of the help text.
    var helpLine: String {
        let spelled = (short.map { "-\($0), " } ?? "    ") + "--\(name)" + (value.map { " \($0)" } ?? "")
        let padding = String(repeating: " ", count: max(1, 28 - spelled.count))
        return "  \(spelled)\(padding)\(summary)\n"
    }
}
