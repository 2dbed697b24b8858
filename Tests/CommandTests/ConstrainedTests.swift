import RelayJSON
import Testing

@testable import waystation

@Suite("The command constrained")
struct ConstrainedTests {
    private func text(_ document: String) throws -> String {
        constrainedText(try JSONValue(parsing: Array(document.utf8))) { $0 }
    }

    @Test("tells the state, why, and what every source says")
    func sources() throws {
        let document = """
            {"constrained":true,"state":"auto","reason":"/run/a exists","sources":[
              {"file_exists":"/run/a","met":true},{"file_exists":"/run/longer","met":false},
              {"file_exists":"/x","met":false,"error":"Permission denied (EACCES)"},
              {"control":true,"met":false}]}
            """
        #expect(
            try text(document) == """
                The network counts as constrained: /run/a exists (auto)

                SOURCE            SAYS
                file /run/a       exists
                file /run/longer  does not exist
                file /x           cannot be looked at: Permission denied (EACCES)
                operators         auto

                """
        )
    }

    @Test("says so when nothing can tell")
    func nothing() throws {
        let document =
            #"{"constrained":false,"state":"auto","reason":"no source says otherwise","sources":[]}"#
        let lines = try text(document).split(separator: "\n")
        #expect(lines.first == "The network does not count as constrained: no source says otherwise (auto)")
        #expect(lines.last?.hasPrefix("Nothing tells:") == true)
    }

    @Test("text from elsewhere cannot act on the terminal")
    func escapes() throws {
        let document =
            #"{"constrained":true,"state":"\u001b[2J","reason":"\u001b[31m","sources":[{"file_exists":"/\u0007","met":true}]}"#
        #expect(try !text(document).unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }

    @Test(
        "a state that does not exist is wrong usage, before the daemon is asked",
        arguments: [["maybe"], ["ON"], [""], ["on", "off"], ["-o", "yaml"]]
    )
    func usage(words: [String]) throws {
        let command = try #require(Command.named("constrained"))
        let failure = #expect(throws: CommandFailure.self) {
            try command.run(words + ["--socket", "/nonexistent/control.sock"])
        }
        #expect(failure?.code == .usage)
    }

    @Test("a daemon that cannot be reached is told apart", arguments: [[], ["on"]])
    func unreachable(words: [String]) throws {
        let command = try #require(Command.named("constrained"))
        let failure = #expect(throws: CommandFailure.self) {
            try command.run(words + ["--socket", "/nonexistent/control.sock"])
        }
        #expect(failure?.code == .notReachable)
    }
}
