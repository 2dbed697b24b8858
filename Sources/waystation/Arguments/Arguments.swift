import RelayBase

/// A command's words, sorted into options and operands.
struct Arguments {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    let command: String

    /// Reads `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`; `--` ends the options and `-` is an operand.
    init(_ words: [String], of command: String, options: [OptionSpec]) throws(CommandFailure) {
        self.command = command
        var rest = words[...]
        var takesOptions = true
        while let word = rest.popFirst() {
            guard takesOptions, word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            if word == "--" {
                takesOptions = false
                continue
            }
            let (option, attached) = try Arguments.find(word, in: options, command)
            guard option.value != nil else {
                guard attached == nil else { throw .usage("--\(option.name) takes no value", of: command) }
                values[option.name, default: []].append("")
                continue
            }
            guard let value = attached ?? rest.popFirst() else {
                throw .usage("--\(option.name) needs a value: \(option.value ?? "")", of: command)
            }
            values[option.name, default: []].append(value)
        }
    }

    private static func find(
        _ word: String,
        in options: [OptionSpec],
        _ command: String
    ) throws(CommandFailure) -> (OptionSpec, attached: String?) {
        if word.hasPrefix("--") {
            let parts = word.dropFirst(2).split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let name = String(parts[0])
            if let option = options.first(where: { $0.name == name }) {
                return (option, parts.count == 2 ? String(parts[1]) : nil)
            }
            let near =
                nearestWord(to: name, among: options.map(\.name)).map { "; did you mean --\($0)?" } ?? ""
            throw .usage("there is no option --\(name)\(near)", of: command)
        }
        let letter = word[word.index(after: word.startIndex)]
        guard let option = options.first(where: { $0.short == letter }) else {
            throw .usage("there is no option -\(letter)", of: command)
        }
        let attached = word.dropFirst(2)
        return (option, attached.isEmpty ? nil : String(attached))
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// The option's last value.
    subscript(name: String) -> String? { values[name]?.last }

    /// Every value of a repeatable option, in order.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// Refuses more than so many operands.
    func limitOperands(to count: Int) throws(CommandFailure) {
        if operands.count > count {
            throw .usage("there is one word too many: \"\(operands[count])\"", of: command)
        }
    }

    /// Refuses options that mean nothing to `action`, one of the command's words.
    func allow(_ names: [String], in action: String) throws(CommandFailure) {
        let others = values.keys.filter { !names.contains($0) }.sorted()
        guard let other = others.first else { return }
        throw .usage("--\(other) says nothing to \(command) \(action)", of: command)
    }

    /// The last value of an option, as a duration above zero.
    func duration(_ name: String) throws(CommandFailure) -> Duration? {
        guard let text = self[name] else { return nil }
        guard let duration = DurationText.parse(text), duration > .zero else {
            throw .usage("--\(name) needs a duration with a unit, such as 500ms, 20s or 1h30m", of: command)
        }
        return duration
    }

    /// How results are to be printed.
    func format() throws(CommandFailure) -> OutputFormat {
        guard let text = self["output"] else { return .table }
        guard let format = OutputFormat(rawValue: text) else {
            throw .usage("-o takes \"table\" or \"json\", not \"\(text)\"", of: command)
        }
        return format
    }
}

/// How results are printed.
enum OutputFormat: String {
    /// For people.
    case table
    /// Exactly the API's object.
    case json
}

extension OptionSpec {
    static let output = OptionSpec(
        "output",
        "o",
        value: "table|json",
        "how to print; json is the API's own object"
    )
    static let control = OptionSpec(
        "socket",
        value: "PATH",
        "the daemon's control socket (WAYSTATION_CONTROL_SOCKET)"
    )
}
