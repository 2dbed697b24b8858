import Testing

@Suite("A test that hangs ends with its time")
struct TimesOfTestsTests {
    private static let tests = TidyTests.files("Tests").filter { $0.hasSuffix(".swift") }

    @Test("A test that waits has a time limit")
    func limits() {
        let waiting = Self.tests.filter { path in
            let text = TidyTests.text(path)
            return text.contains("@Test") && text.contains(") async ")
        }
        #expect(waiting.count > 50)
        #expect(waiting.filter { !TidyTests.text($0).contains(".timeLimit(") } == [])
    }

    /// The calls that wait by the machine's clock, or for others to have had their turn by now.
    private static let luck = [
        "Task.yield", "Task.sleep", "usleep(", "nanosleep(", "ContinuousClock", "SuspendingClock",
    ]

    private static func luck(in text: String) -> [String] { luck.filter { text.contains($0) } }

    @Test("No test waits by the clock or by luck: it awaits the event, or runs until nothing can go on")
    func events() {
        let tests = Self.tests.filter { path in
            let room = path.split(separator: "/")[1]
            return room.hasSuffix("Tests") || room == "RelayTestSupport"
        }
        #expect(tests.count > 150)
        let own = "Tests/TidyTests/TimesOfTestsTests.swift"
        #expect(tests.filter { $0 != own && !Self.luck(in: TidyTests.text($0)).isEmpty } == [])
    }

    @Test("Such a wait would be found: the control", arguments: luck)
    func found(word: String) {
        #expect(Self.luck(in: "        while !isDone { try await \(word) }") == [word])
    }
}
