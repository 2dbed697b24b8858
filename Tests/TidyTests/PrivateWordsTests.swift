import Testing

@Suite("A word that only this tree would know is in no name, or in the glossary")
struct PrivateWordsTests {
    /// Each of them once had three to eight meanings.
    private static let words: Set = [
        "place", "turn", "lane", "hold", "room", "word", "sight", "rest", "patience", "leave",
    ]

    /// The words of the table that explains the tree's own.
    private static let glossary: [String] = {
        let lines = TidyTests.text(".github/contributing.md").split(separator: "\n")
        let table = lines.drop { $0 != "| word | meaning | type |" }.dropFirst(2).prefix {
            $0.hasPrefix("| ")
        }
        return table.map { String($0.dropFirst(2).prefix { $0 != "|" }.dropLast()) }
    }()

    @Test("The glossary has at most 25 words, each with one meaning")
    func rows() {
        #expect((20...25).contains(Self.glossary.count))
        #expect(Set(Self.glossary).count == Self.glossary.count)
    }

    @Test("No type and no member is named by such a word")
    func names() {
        var count = 0
        for path in TidyTests.files("Sources") where path.hasSuffix(".swift") {
            let names = DeclaredNames(TidyTests.text(path)).names
            count += names.count
            #expect(names.filter(Self.isPrivate) == [], "\(path)")
        }
        #expect(count > 10_000)
    }

    @Test(
        "Such a name is found",
        arguments: [
            ("struct A {\n    let restOfBody = 1\n}", true), ("enum A {\n    case go, leave(Int)\n}", true),
            ("enum A {\n    case go,\n        lanes\n}", true), ("private final class NoPlace {}", true),
            ("extension A {\n    static func isAtRest() {}\n}", true),
            ("extension A {\n    @inline(__always) var room: Int { 0 }\n}", true),
            ("struct A {\n    struct B {\n        var hasRoom: Bool { true }\n    }\n}", true),
            ("enum A { case rest }", true), ("typealias Sights = [Int]", true),
            ("func a() {\n    let room = 1\n}", false), ("struct A {\n    let replaced = 1\n}", false),
            ("struct A {\n    let holdTable = 1\n}", false), ("// let room = 1", false),
        ]
    )
    func control(source: String, isFound: Bool) {
        #expect(DeclaredNames(source).names.contains(where: Self.isPrivate) == isFound)
    }

    /// A plural is no other word.
    private static func isPrivate(_ name: String) -> Bool {
        var parts = [""]
        for character in name {
            if character.isUppercase { parts.append("") }
            parts[parts.count - 1] += character.lowercased()
        }
        return parts.contains { part in
            let word = part.hasSuffix("s") ? String(part.dropLast()) : part
            return words.contains(word) && !glossary.contains(word)
        }
    }
}
