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

    @Test("No kind of the relay's own is made by a name, as those of programs and configurations are")
    func named() {
        for line in Self.lines where !line.contains("///") {
            #expect(!line.contains("FailureKind = \"") && !line.contains("FailureKind(\""), "\(line)")
        }
    }
}
