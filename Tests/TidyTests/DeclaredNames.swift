/// Finds the types and members that a source declares, by its lines alone: the tree is formatted, so a type's members
/// stand four columns further in than the type.
struct DeclaredNames {
    private(set) var names: [String] = []

    private static let types: Set<Substring> = [
        "struct", "class", "enum", "protocol", "actor", "extension",
    ]
    private static let members: Set<Substring> = ["func", "var", "let", "typealias", "associatedtype"]

    init(_ text: String) {
        var columns: [Int] = []
        var isInCases = false
        for line in text.split(separator: "\n") {
            let column = line.prefix { $0 == " " }.count
            let code = PublicDeclarations.withoutAttributes(line.dropFirst(column))
            if code.isEmpty || code.hasPrefix("//") { continue }
            if isInCases {
                isInCases = readCases(code)
                continue
            }
            while let last = columns.last, column <= last { columns.removeLast() }
            guard column == columns.last.map({ $0 + 4 }) ?? 0 else { continue }
            let isType = read(code)
            if isType { columns.append(column) }
            if code.hasPrefix("case ") || code.hasPrefix("indirect case ") { isInCases = code.hasSuffix(",") }
            // The braces of a single line hold members too.
            if isType, code.hasSuffix("}"), let brace = code.firstIndex(of: "{") {
                _ = read(code[code.index(after: brace)...].drop { $0 == " " })
            }
        }
    }

    /// Reads the declaration at the beginning of a line.
    ///
    /// - Returns: whether it is that of a type, or extends one.
    private mutating func read(_ code: Substring) -> Bool {
        guard code.first?.isLetter == true else { return false }
        let words = code.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        for (word, next) in zip(words, words.dropFirst()) {
            if word == "case" {
                _ = readCases(code[next.startIndex...])
                return false
            }
            if word == "init" || word == "subscript" { return false }
            let isMember = Self.members.contains(word)
            guard isMember || Self.types.contains(word) && !Self.members.contains(next) else { continue }
            if word != "extension" { names.append(String(next)) }
            return !isMember
        }
        return false
    }

    /// Reads the names of cases with commas between them.
    ///
    /// - Returns: whether more follow on the next line.
    private mutating func readCases(_ code: Substring) -> Bool {
        var (depth, begins) = (0, true)
        for index in code.indices {
            switch code[index] {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "," where depth == 0: begins = true
            case let character where begins && (character.isLetter || character == "_"):
                names.append(String(code[index...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
                begins = false
            default: break
            }
        }
        return begins
    }
}
