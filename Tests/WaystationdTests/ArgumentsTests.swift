import Testing

@testable import waystationd

@Suite("The daemon's command line")
struct ArgumentsTests {
    @Test("Without a command it serves, with the loops and the file that are named")
    func serve() throws {
        let plain = try Arguments([])
        #expect(plain.command == .serve && plain.file == nil && plain.loops == nil)
        let chosen = try Arguments(["--config", "a.json", "--loops", "3"])
        #expect(chosen.command == .serve && chosen.file == "a.json" && chosen.loops == 3)
    }

    @Test("A check takes its file as a word, and says how it is told")
    func check() throws {
        let check = try Arguments(["--check", "a.json", "-o", "json", "--strict"])
        #expect(check.command == .check && check.file == "a.json" && check.isJSON && check.isStrict)
        let online = try Arguments(["--check", "a.json", "--online", "--timeout", "1m30s"])
        #expect(online.isOnline && online.timeout == .seconds(90))
        #expect(!check.isOnline && check.timeout == nil)
        #expect(try Arguments(["--effective", "a.json"]).file == "a.json")
        #expect(try !Arguments(["--check", "-o", "text"]).isJSON)
    }

    @Test(
        "An argument that cannot be meant is refused in words that name it",
        arguments: [
            (["--config"], "--config needs a file"), (["-c"], "-c needs a file"),
            (["--loops", "0"], "--loops needs a number from 1 to 256"),
            (["--loops", "257"], "--loops needs a number from 1 to 256"),
            (["--loops"], "--loops needs a number from 1 to 256"),
            (["--check", "-o", "xml"], "-o is json or text"),
            (["--what-if"], "--what-if needs an order, as waystation what-if writes it"),
            (["--verbose"], "there is no option \"--verbose\""),
            (["a.json"], "there is one word too many: \"a.json\"; a configuration is named by --config FILE"),
            (["--check", "a", "b"], "there is one word too many: \"b\""),
            (["--schema", "a"], "there is one word too many: \"a\""),
            (["--strict"], "--strict says nothing without --check"),
            (["--online"], "--online says nothing without --check"),
            (["--check", "--timeout", "5s"], "--timeout says nothing without --online"),
            (
                ["--check", "--online", "--timeout", "5"],
                "--timeout needs a duration with a unit, such as 500ms or 20s"
            ),
            (
                ["--check", "--online", "--timeout", "0s"],
                "--timeout needs a duration with a unit, such as 500ms or 20s"
            ),
            (["--effective", "-o", "json"], "-o json says nothing without --check"),
        ]
    )
    func refused(words: [String], message: String) {
        let error = #expect(throws: Arguments.UsageError.self) { try Arguments(words) }
        #expect(error?.message == message)
    }

    @Test("The help names every option")
    func help() {
        for option in [
            "--config", "--loops", "--check", "--strict", "--online", "--timeout", "-o json", "--effective",
            "--what-if",
            "--schema", "--manual",
            "--version", "--help",
        ] {
            #expect(Arguments.help.contains(option), "\(option)")
        }
    }
}
