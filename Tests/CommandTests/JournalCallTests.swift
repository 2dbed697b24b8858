import Testing

@testable import waystation

@Suite("waystation logs")
struct JournalCallTests {
    private static let job = "01K9ZQ3V7N4T0C8R5B2M6XW1HD"

    private func call(_ words: [String]) throws -> JournalCall {
        try JournalCall(Arguments(words, of: "logs", options: Command.logs.options))
    }

    @Test(
        "what is asked for becomes a call of journalctl",
        arguments: [
            ([], []), ([job], ["JOB_ID=\(job)"]), (["01k9zq3v7n4t0c8r5b2m6xw1hd"], ["JOB_ID=\(job)"]),
            (["billing"], ["ROUTE=billing"]), (["-f", "a.b_c-9"], ["--follow", "ROUTE=a.b_c-9"]),
            // One short of an id, and so the name of a route.
            (["01k9zq3v7n4t0c8r5b2m6xw1h"], ["ROUTE=01k9zq3v7n4t0c8r5b2m6xw1h"]),
            (["--since", "1h30m", "--until=5m"], ["--since=-1h30m", "--until=-5m"]),
            (["--since", "2027-01-31T08:00:00Z"], ["--since=@1801382400"]),
            (["--since", "yesterday"], ["--since=yesterday"]), (["--since", "-1h"], ["--since=-1h"]),
            (["-n", "20", "-p", "warning", "-x"], ["--catalog", "--lines=20", "--priority=warning"]),
            (["-ojson", "--utc"], ["--utc", "--output=json"]),
            (["-n", "--vacuum-size=1"], ["--lines=--vacuum-size=1"]),
        ]
    )
    func words(words: [String], rest: [String]) throws {
        #expect(try call(words).words == ["-u", "waystationd"] + rest)
    }

    @Test(
        "what can be neither a job nor a route is refused",
        arguments: [
            ["Billing"], [""], ["--", "-f"], ["--", "--file=/x"], ["-"], ["a b"], ["a$(id)"], ["a\n"],
            ["JOB_ID=1"], ["/usr/bin/true"], ["+"], ["ü"], ["01K9ZQ3V7N4T0C8R5B2M6XW1H"], ["a/b"],
            [String(repeating: "a", count: 65)],
        ]
    )
    func refused(words: [String]) throws {
        let failure = #expect(throws: CommandFailure.self) { try call(words) }
        #expect(failure?.code == .usage)
        #expect(failure?.message.contains("neither a job's id") == true)
    }

    @Test("a second word and an option that is not there are refused", arguments: [["a", "b"], ["--boot"]])
    func usage(words: [String]) throws {
        #expect(#expect(throws: CommandFailure.self) { try call(words) }?.code == .usage)
    }

    @Test("what is printed is one line that a shell reads as the same words")
    func printed() throws {
        #expect(try call([Self.job]).commandLine == "journalctl -u waystationd JOB_ID=\(Self.job)")
        #expect(
            try call(["--since", "2 days ago"]).commandLine
                == "journalctl -u waystationd '--since=2 days ago'"
        )
    }

    @Test(
        "a word is quoted for a shell where it has to be",
        arguments: [
            ("a-b_c/d.e=1,2:3@x+y", "a-b_c/d.e=1,2:3@x+y"), ("", "''"), ("a b", "'a b'"),
            ("$(id)`x`", "'$(id)`x`'"),
            ("it's", #"'it'\''s'"#), ("*", "'*'"), ("~", "'~'"), ("ü", "'ü'"), ("a\nb", #"$'a\012b'"#),
            ("\u{1B}[2J'\\", #"$'\033\1332J\047\134'"#), ("x\u{202E}y", #"$'x\342\200\256y'"#),
        ]
    )
    func quoted(text: String, word: String) { #expect(shellWord(text) == word) }
}
