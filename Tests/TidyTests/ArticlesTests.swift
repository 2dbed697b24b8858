import Testing

/// The documentation's examples are code that is compiled and run.
@Suite("The articles' examples")
struct ArticlesTests {
    private static let catalogs = [
        "RelayClient", "RelayClientFoundation", "RelayDoors", "RelayFoundation", "RelayKit", "RelaySockets",
        "RelayTesting",
    ].flatMap { TidyTests.files("Sources/\($0)/\($0).docc") }.filter { $0.hasSuffix(".md") }
    /// The folders of sources that articles show, and nothing else but tests of them.
    private static let shown = [
        "Tests/DocumentationTests", "Tests/RelayClientTests/Servers", "Tests/RelayDoorsTests/Glue",
    ].flatMap { TidyTests.files($0) }

    @Test("Every one stands, line for line, in a source that is compiled")
    func examples() {
        let sources =
            (Self.shown + TidyTests.files("Tests/RelayFoundationTests")
            + TidyTests.files("Tests/Consumer/Sources") + ["Tests/Consumer/Package.swift"])
            .filter { $0.hasSuffix(".swift") }
            .map { Self.lines(TidyTests.text($0)) }
        var count = 0
        for path in Self.catalogs {
            // `Tests/newcomers` builds and runs the program of a first page as a file of its own.
            let program = Self.isFirst(path) ? 1 : 0
            for block in Self.blocks(TidyTests.text(path)).dropFirst(program) {
                count += 1
                #expect(
                    sources.contains { Self.contains($0, block) },
                    "\(path): no test source holds the example that begins with \(block.first ?? "")"
                )
            }
        }
        #expect(count > 20)
    }

    @Test("Their sources have no line that no article shows: nothing helps them that a reader cannot see")
    func nothingElse() {
        let blocks = Self.catalogs.flatMap { Self.blocks(TidyTests.text($0)) }
        let sources = Self.shown.filter { path in
            path.hasSuffix(".swift") && !path.hasSuffix("Tests.swift")
        }
        #expect(sources.count > 4)
        for path in sources {
            #expect(Self.unseen(Self.lines(TidyTests.text(path)), blocks) == [], "\(path)")
        }
    }

    @Test("README and the first page of each product say that no licence is chosen, and begin with ten lines")
    func firstPages() {
        let first = Self.catalogs.filter(Self.isFirst)
        #expect(first.count == 7)
        let newcomers = TidyTests.text("Tests/newcomers")
        for path in first {
            let program = Self.blocks(TidyTests.text(path)).first ?? []
            #expect((1...10).contains(ExamplesCountedTests.count(program)), "\(path)")
            #expect(newcomers.contains("\"\(path.split(separator: "/")[1])\""), "\(path)")
        }
        for path in first + ["README.md"] {
            #expect(TidyTests.text(path).contains("No licence has been chosen yet"), "\(path)")
        }
    }

    @Test("A line that no article shows is found")
    func unseen() {
        let source = Self.lines("import A\n\n// Why.\n\nstruct B {\n    let c = 1\n}\n\nprivate let d = 2\n")
        let blocks: [[Substring]] = [["struct B {", "    let c = 1", "}"], ["let e = 3"]]
        #expect(Self.unseen(source, blocks) == ["private let d = 2"])
        #expect(Self.unseen(source, blocks + [["private let d = 2"]]) == [])
        #expect(Self.unseen(source, [["let c = 1"]]) == ["struct B {", "}", "private let d = 2"])
    }

    @Test("One that was changed by a line is not found")
    func changed() {
        let source = Self.lines("enum A {\n    func a() {\n        b()\n    }\n\n    let c = 1\n}\n")
        #expect(Self.contains(source, ["func a() {", "    b()", "}", "", "let c = 1"]))
        #expect(!Self.contains(source, ["func a() {", "    c()", "}"]))
        #expect(!Self.contains(source, ["func a() {", "b()", "}"]))
        #expect(!Self.contains(source, ["let c = 1", "}", "let d = 2"]))
        #expect(!Self.contains(source, []))
    }

    @Test("Blocks of Swift are read from an article, others are not")
    func reading() {
        let text = "a\n```swift\nlet a = 1\n\nlet b = 2\n```\n```\nc\n```\n```swift\nd\n```"
        #expect(Self.blocks(text) == [["let a = 1", "", "let b = 2"], ["d"]])
    }

    /// Whether it is the first page of its product.
    private static func isFirst(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        return parts.last == parts[1] + ".md"
    }

    static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    static func blocks(_ text: String) -> [[Substring]] {
        var blocks: [[Substring]] = []
        var open: [Substring]?
        for line in lines(text) {
            if let block = open {
                if line == "```" {
                    blocks.append(block)
                    open = nil
                } else {
                    open = block + [line]
                }
            } else if line == "```swift" {
                open = []
            }
        }
        return blocks
    }

    /// Whether `block` stands in `source`.
    private static func contains(_ source: [Substring], _ block: [Substring]) -> Bool {
        !places(source, block).isEmpty
    }

    /// Where `block` stands in `source`, all of it further in by the same number of columns.
    private static func places(_ source: [Substring], _ block: [Substring]) -> [Range<Int>] {
        guard let first = block.first, !first.isEmpty, source.count >= block.count else { return [] }
        return (0...source.count - block.count).filter { start in
            guard source[start].hasSuffix(first) else { return false }
            let margin = source[start].dropLast(first.count)
            guard margin.allSatisfy({ $0 == " " }) else { return false }
            return zip(source[start...], block).allSatisfy { line, wanted in
                wanted.isEmpty ? line.isEmpty : line == margin + wanted
            }
        }.map { $0..<$0 + block.count }
    }

    /// Lines of `source` that stand in no block, but for imports and comments of the whole file.
    private static func unseen(_ source: [Substring], _ blocks: [[Substring]]) -> [Substring] {
        let seen = Set(blocks.flatMap { places(source, $0) }.joined())
        return source.indices.filter { !seen.contains($0) }.map { source[$0] }.filter { line in
            !line.isEmpty && !line.hasPrefix("import ") && !line.hasPrefix("// ")
        }
    }
}
