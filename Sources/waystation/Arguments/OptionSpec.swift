/// An option a command understands.
struct OptionSpec: Sendable {
    /// The long name, without dashes.
    let name: String
    let short: Character?
    /// The word that stands for the value in the help text; nil for an option without one.
    let value: String?
    let summary: String
    /// The values that are offered, for shells that complete it.
    let completes: Completes

    init(
        _ name: String,
        _ short: Character? = nil,
        value: String? = nil,
        _ summary: String,
        completes: Completes? = nil
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.summary = summary
        self.completes = completes ?? value.map(Completes.init(placeholder:)) ?? .nothing
    }

    /// As it is typed: `-o, --output table|json`.
    var spelled: String {
        (short.map { "-\($0), " } ?? "    ") + "--\(name)" + (value.map { " \($0)" } ?? "")
    }

    /// The option's line of the help text, what it does in a column of its own.
    func helpLine(width: Int) -> String {
        let padding = String(repeating: " ", count: max(0, width - spelled.count))
        return "  \(spelled)\(padding)  \(summary)\n"
    }
}
