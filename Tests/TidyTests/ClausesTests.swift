import Glibc
import Testing

/// `RELAY_REGENERATE=1 swift test --filter ClausesTests` writes the table's last column anew.
@Suite("The table of clauses", .serialized)
struct ClausesTests {
    private static let path = "Sources/RelayKit/RelayKit.docc/Clauses.md"

    /// Every clause with the sentences of its tests.
    private static let tests: [String: [String]] = {
        var tests: [String: [String]] = [:]
        for path in TidyTests.files("Tests") where !path.hasPrefix("Tests/TidyTests/") {
            let name = path.split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
            let found =
                path.hasSuffix(".swift")
                ? ClauseTags.swift(TidyTests.text(path))
                : path.hasSuffix(".py") ? ClauseTags.python(TidyTests.text(path), file: String(name)) : []
            for (id, test) in found { tests[id, default: []].append(test) }
        }
        return tests
    }()

    /// The clauses there are, so that no row gets lost.
    private static let expected: Set<String> = {
        var ids: Set<String> = []
        for (family, numbers) in [
            ("G1", [1...17]), ("G2", [1...21]), ("G3", [1...21]), ("AX", [1...11]), ("UC", [1...25]),
            ("T", [1...8, 10...14, 20...22, 30...30, 40...66, 70...109, 120...127]), ("N", [1...21]),
            ("X", [1...18]),
        ] {
            for number in numbers.joined() { ids.insert("\(family)-\(number < 10 ? "0" : "")\(number)") }
        }
        return ids
    }()

    @Test("It names the tests that there are")
    func table() {
        let text = TidyTests.text(Self.path)
        let filled = ClauseTable(text).filled(with: Self.tests)
        if unsafe getenv("RELAY_REGENERATE") != nil { TidyTests.write(Self.path, filled) }
        let isFresh = TidyTests.text(Self.path) == filled
        #expect(isFresh, "\(Self.path) is stale; write it anew with RELAY_REGENERATE=1")
    }

    @Test("It has a row for every clause, and tests name no other")
    func rows() {
        let listed = ClauseTable(TidyTests.text(Self.path)).rows.flatMap(\.ids)
        #expect(Set(listed) == Self.expected && listed.count == Self.expected.count)
        #expect(Set(Self.tests.keys).subtracting(Self.expected) == [])
    }

    @Test("A clause without a test says why, and is on the list of those")
    func completeness() {
        let table = ClauseTable(TidyTests.text(Self.path))
        let missing = table.rows.flatMap { row in
            row.ids.filter { id in
                let isExcused = row.sentence.contains("differs: ") && table.untested.contains(id)
                return !isExcused && Self.tests[id] == nil
            }
        }
        #expect(missing == [], "these have no test")
        #expect(table.untested.filter { Self.tests[$0] != nil } == [], "these have tests")
    }

    @Test("A tag is found behind the sentence of its test")
    func tags() {
        let source = """
            @Suite("All")
            @Test(
                "A \\"good\\" one", .timeLimit(.minutes(5)),
                .clauses("N-01", "N-02"))
            @Test(.clauses("X-01")) func named() {}
            """
        let found = ClauseTags.swift(source).map { "\($0.id) \($0.test)" }
        #expect(found == ["N-01 A \"good\" one", "N-02 A \"good\" one", "X-01 named"])
        let python = "class A:\n    # clauses: N-12, N-13\n    def test_a_b(self):\n    def test_c(self):"
        #expect(
            ClauseTags.python(python, file: "f").map { "\($0.id) \($0.test)" } == [
                "N-12 f: a b", "N-13 f: a b",
            ]
        )
    }

    @Test("A filled table keeps everything but its last column")
    func filling() {
        let text = "# A\n| Clause | B | C |\n|---|---|---|\n| T-40–T-41 | Both. | old |\n| N-01 | One. | |"
        let filled = ClauseTable(text).filled(with: ["T-41": ["y", "x|z", "y"]])
        #expect(
            filled
                == "# A\n| Clause | B | C |\n|---|---|---|\n| T-40–T-41 | Both. | “x\\|z” “y” |\n| N-01 | One. | |"
        )
        #expect(ClauseTable(filled).filled(with: ["T-41": ["y", "x|z"]]) == filled)
    }
}
