import Testing

/// Kinds of failures by the sources; CommandTests compare the list of them with the rows of RelayInterface.
@Suite("Kinds of failures of the relay's own are declared, listed and told")
struct FailureKindsTests {
    private static let sources = TidyTests.files("Sources").filter { $0.hasSuffix(".swift") }
        .map(TidyTests.text).joined(separator: "\n")

    @Test("Every kind that is declared stands in the list of the known ones, and has a row")
    func declared() throws {
        let declared = Self.sources.split(separator: "\n").compactMap { line in
            line.contains(" = FailureKind(") && line.contains(" static let ")
                ? line.split(separator: " = FailureKind(")[0].split(separator: " ").last : nil
        }
        #expect(declared.count > 30)
        let known = try #require(Self.sources.split(separator: "static let known: [FailureKind] = [").last)
            .prefix { $0 != "]" }.split { !$0.isLetter && !$0.isNumber }
        #expect(Set(declared) == Set(known))
        for name in declared { #expect(Self.sources.contains(".\(name): \"\"\""), "\(name) has no row") }
    }

    @Test("No kind of the relay's own is made by a name, as those of programs and configurations are")
    func named() {
        for line in Self.sources.split(separator: "\n") where !line.contains("///") {
            #expect(!line.contains("FailureKind = \"") && !line.contains("FailureKind(\""), "\(line)")
        }
    }
}
