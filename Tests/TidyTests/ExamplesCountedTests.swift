import Testing

/// The size of our examples beside that of other clients'.
@Suite("The counted examples")
struct ExamplesCountedTests {
    private struct Row {
        let name: String
        let there: Int
        let here: Int
    }

    private static let article = TidyTests.text("Sources/RelayKit/RelayKit.docc/ExamplesCounted.md")

    @Test("Each takes as many statements and declarations as its row says, and no more than theirs")
    func rows() throws {
        let rows = Self.rows(Self.article)
        #expect(rows.count > 15)
        let sections = Self.sections(Self.article)
        #expect(rows.map(\.name) == sections.map(\.name).filter { $0 != "How to read the table" })
        for row in rows {
            let section = try #require(sections.first { $0.name == row.name })
            let count = ArticlesTests.blocks(section.text).map(Self.count).reduce(0, +)
            #expect(count == row.here, "\(row.name)")
            #expect(count > 0 && row.here <= row.there, "\(row.name) takes more than theirs")
        }
    }

    @Test("A statement that begins a line is counted, one that goes on with another is not")
    func counting() {
        let text = """
            import A

            // Why.
            struct B: C {
                let d = [
                    1, 2,
                ]
                func e(
                    f: Int
                ) -> Int {
                    guard let g = h(i: "{(", j: k)
                        .l
                    else { return 0 }
                    return m.n { o in
                        o.p()
                    }
                }
            }
            """
        // struct, let, func, guard, return, o.p().
        #expect(Self.count(ArticlesTests.lines(text)) == 6)
        #expect(Self.count(["if a {", "    b()", "} else {", "    c()", "}"]) == 3)
    }

    private static func rows(_ text: String) -> [Row] {
        ArticlesTests.lines(text).compactMap { line in
            let cells = line.split(separator: "|").map { String($0).trimmed }
            guard line.hasPrefix("| "), cells.count == 4, let there = Int(cells[2]), let here = Int(cells[3])
            else { return nil }
            return Row(name: cells[0], there: there, here: here)
        }
    }

    private static func sections(_ text: String) -> [(name: String, text: String)] {
        text.split(separator: "\n## ").dropFirst().map { section in
            let end = section.firstIndex(of: "\n") ?? section.endIndex
            return (String(section[..<end]), String(section[end...]))
        }
    }

    /// Statements and declarations that begin a line.
    static func count(_ lines: [Substring]) -> Int {
        var open: [Character] = []
        var count = 0
        for line in lines {
            let code = withoutTexts(String(line)).trimmed
            if begins(code), open.last ?? "{" == "{" { count += 1 }
            for character in code {
                if "({[".contains(character) { open.append(character) }
                if ")}]".contains(character) { _ = open.popLast() }
            }
        }
        return count
    }

    private static func begins(_ code: String) -> Bool {
        guard let first = code.first, !")]}.?:,&|=".contains(first) else { return false }
        return !["import ", "->", "where ", "else", "catch"].contains { code.hasPrefix($0) }
    }

    /// A line without its comment and what stands between quotation marks.
    private static func withoutTexts(_ line: String) -> String {
        var code = ""
        var isText = false
        var isEscaped = false
        for character in line {
            if character == "\"", !isEscaped { isText.toggle() }
            isEscaped = character == "\\" && !isEscaped
            if !isText { code.append(character) }
            if code.hasSuffix("//") { return String(code.dropLast(2)) }
        }
        return code
    }
}
