import Testing

@Suite("Kinds of failures of the relay's own are named as their rows")
struct FailureKindsTests {
    private static let lines = TidyTests.files("Sources").filter { $0.hasSuffix(".swift") }
        .map(TidyTests.text).joined(separator: "\n").split(separator: "\n")

    @Test("Every kind that programs can name has the name of its row")
    func declared() {
        let declared = Self.lines.filter { $0.contains(" = FailureKind(.") && $0.contains(" static let ") }
        #expect(declared.count > 30)
        for line in declared {
            let parts = line.split(separator: " = FailureKind(.")
            #expect(parts[0].split(separator: " ").last == parts[1].dropLast(), "\(line)")
        }
    }

    /// Those of the daemon's, which no program's service has.
    private static let daemons: Set<String> = ["clientGone", "httpRequestError", "interrupted"]

    @Test(
        "Every kind of a program's failures has a word of its own in a rule's matcher, or one that says why not"
    )
    func words() {
        func named(_ part: String, _ word: String) -> Set<String> {
            let lines = Self.lines.filter { $0.contains(part) }.compactMap {
                $0.split(separator: word).dropFirst().first
            }
            return Set(lines.map { String($0.prefix { $0.isLetter }) })
        }
        let kinds = named("    public static let ", " static let ").intersection(
            named(" = FailureKind(.", " static let ")
        )
        #expect(kinds.count > 30)
        let words = named(" = FailureMatcher.Token.kind(", " static let ")
        let refused = named(": FailureMatcher.Token { .kind(.", " static var ")
        #expect(kinds.subtracting(words).subtracting(refused) == Self.daemons)
    }

    @Test("No kind of the relay's own is made by a name, as those of programs and configurations are")
    func named() {
        for line in Self.lines where !line.contains("///") {
            #expect(!line.contains("FailureKind = \"") && !line.contains("FailureKind(\""), "\(line)")
        }
    }
}
