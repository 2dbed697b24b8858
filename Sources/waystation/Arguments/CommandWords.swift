/// Finds the command among the words of a command line.
enum CommandWords {
    /// Options that say the same to every command that knows them, and so may stand before it.
    static let common = [OptionSpec.control, .listOutput, .quietList, .noHeaders, .utc]

    /// The command's name, and its words with the options that stood before it; options alone are those of the status.
    static func split(_ words: [String]) throws(CommandFailure) -> (name: String, rest: [String]) {
        var before: [String] = []
        var rest = words[...]
        while let word = rest.first, word.hasPrefix("-"), Command.named(word) == nil {
            guard let option = common.first(where: { $0.isSpelled(by: word) }) else {
                return ("status", words)
            }
            before.append(rest.removeFirst())
            if option.value != nil, !option.isWhole(word), let value = rest.popFirst() {
                before.append(value)
            }
        }
        guard let name = rest.popFirst() else { return ("status", words) }
        // To these, -o is a file.
        if ["send", "init"].contains(name),
            let word = before.first(where: { $0.hasPrefix("-o") || $0.hasPrefix("--output") })
        {
            throw .usage("\(safe(word)) before \(name) may mean two things; write it after \(name)", of: name)
        }
        return (name, before + Array(rest))
    }
}

extension OptionSpec {
    /// Whether a word is this option, with or without a value attached.
    func isSpelled(by word: String) -> Bool {
        if word == "--\(name)" || word.hasPrefix("--\(name)=") { return true }
        guard let short, !word.hasPrefix("--") else { return false }
        return word.dropFirst().first == short
    }

    /// Whether a word that is this option brings its value along.
    fileprivate func isWhole(_ word: String) -> Bool {
        word.hasPrefix("--") ? word.contains("=") : word.utf8.count > 2
    }
}
