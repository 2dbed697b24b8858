/// Which tests carry which clauses, read from the tests' sources.
enum ClauseTags {
    /// Reads `@Test("sentence", .clauses("G1-01"))`.
    ///
    /// - Returns: each clause with the sentence of its test, or the test's name where it has no sentence.
    static func swift(_ text: String) -> [(id: String, test: String)] {
        var found: [(String, String)] = []
        for tail in pieces(of: text, after: ".clauses(").dropFirst() {
            let ids = literals(in: tail.text.prefix { $0 != ")" })
            let before = text[..<tail.start]
            guard let mark = before.lastRange(of: "@Test") else { continue }
            let sentence = literals(in: before[mark.upperBound...]).first
            let name = sentence ?? declared(after: text[tail.start...])
            found += ids.map { ($0, name) }
        }
        return found
    }

    /// Reads `# clauses: N-12, N-13` above `def test_name`.
    static func python(_ text: String, file: String) -> [(id: String, test: String)] {
        var found: [(String, String)] = []
        var ids: [String] = []
        for line in text.split(separator: "\n") {
            let code = String(line).trimmed
            if let list = code.after("# clauses:") {
                ids += list.split { $0 == "," || $0 == " " }.map(String.init)
            } else if let name = code.after("def ") ?? code.after("async def ") {
                let test = name.prefix { $0 != "(" }.split(separator: "_").dropFirst().joined(separator: " ")
                found += ids.map { ($0, "\(file): \(test)") }
                ids = []
            }
        }
        return found
    }

    /// The text behind each `mark`, and where it begins; the first piece is what stands before them all.
    private static func pieces(
        of text: String,
        after mark: String
    ) -> [(start: String.Index, text: Substring)] {
        var pieces = [(text.startIndex, text[...])]
        var rest = text[...]
        while let range = rest.firstRange(of: mark) {
            rest = rest[range.upperBound...]
            pieces.append((rest.startIndex, rest))
        }
        return pieces
    }

    /// The string literals of `code`, without their quotes.
    private static func literals(in code: Substring) -> [String] {
        var found: [String] = []
        var current: String?
        var isEscaped = false
        for character in code {
            if var literal = current {
                if character == "\"", !isEscaped {
                    found.append(literal)
                    current = nil
                    continue
                }
                if character != "\\" || isEscaped { literal.append(character) }
                isEscaped = character == "\\" && !isEscaped
                current = literal
            } else if character == "\"" {
                current = ""
            }
        }
        return found
    }

    private static func declared(after code: Substring) -> String {
        guard let range = code.firstRange(of: "func ") else { return "a test" }
        return String(code[range.upperBound...].prefix { $0 != "(" })
    }
}

extension Substring {
    /// The last place of `word`.
    func lastRange(of word: String) -> Range<Index>? {
        var last: Range<Index>?
        var rest = self
        while let range = rest.firstRange(of: word) {
            last = range
            rest = rest[range.upperBound...]
        }
        return last
    }
}
