import Testing

@Suite("A test that hangs ends with its time")
struct TimesOfTestsTests {
    private static let tests = TidyTests.files("Tests").filter { $0.hasSuffix(".swift") }

    @Test("Whatever waits has a time limit")
    func limits() {
        let waiting = Self.tests.filter { path in
            let text = TidyTests.text(path)
            return text.contains("@Test") && text.contains(") async ")
        }
        #expect(waiting.count > 50)
        #expect(waiting.filter { !TidyTests.text($0).contains(".timeLimit(") } == [])
    }

    /// The limit cancels a test's task and then waits for it.
    @Test("A loop that waits heeds its cancellation")
    func cancellation() {
        for path in Self.tests where !path.hasSuffix("/TimesOfTestsTests.swift") {
            let lines = TidyTests.text(path).split(separator: "\n")
            let loops = lines.filter { $0.contains("await Task.yield()") }.filter { $0.contains("while ") }
            #expect(loops.filter { !$0.contains("Task.isCancelled") } == [], "\(path)")
        }
    }
}
