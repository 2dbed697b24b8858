import RelayJSON
import Testing

@testable import waystation

private let id = "01K9ZQ3V7N4T0C8R5B2M6XW1HD"

@Suite("The commands for jobs")
struct JobsCommandTests {
    @Test(
        "what cannot be meant is wrong usage, before the daemon is asked",
        arguments: [
            ["jobs", "rerty"], ["jobs", id], ["jobs", "ls", "x"], ["jobs", "show"], ["jobs", "show", id, id],
            ["jobs", "show", "01K9ZQ3V"], ["jobs", "show", id, "--rate", "5/s"], ["jobs", "watch"],
            ["jobs", "watch", id, "--timeout", "5"], ["jobs", "retry"],
            ["jobs", "retry", id, "--where", "all"],
            ["jobs", "retry", "--where", ""], ["jobs", "retry", "--where", "state"],
            ["jobs", "retry", "--where", "rote=a"], ["jobs", "retry", "--where", "route=a,route=b"],
            ["jobs", "retry", "--where", "all", "--rate", "0/s"], ["jobs", "hold", id, "--rate", "5/s"],
            ["jobs", "--limit", "0"], ["jobs", "--label", "x"], ["jobs", "--since", "yesterday"],
            ["jobs", "-o", "yaml"], ["dead", "--by", "age"], ["shape", "--by", "kind"], ["cat"],
            ["routes", "--history"],
            ["cat", id, "--headers"], ["events", "--job", "x"], ["events", "--after", "x"], ["pause"],
            ["pause", "a", "b"], ["breaker", "a"], ["breaker", "a", "open", "b"],
            ["pause", "a", "--for", "10"], ["send", "a", "--async", "-i"],
            ["send", "a", "--wait", "10m"], ["send", "a", "--priority", "8"], ["send", "a", "--label", "x"],
            ["send", "a", "--not-before", "soon"], ["send", "a", "--key", "ü"],
            ["send", "a", "https://b.example/c"], ["send", "a", "b c"], ["jobs", "--status", "20"],
            ["jobs", "retry", "--where", "status=ok"], ["jobs", "--where", "rote=a"],
            ["jobs", "--where", "state=dead", "--route", "a"],
        ]
    )
    func usage(words: [String]) throws {
        let command = try #require(Command.named(words[0]))
        let failure = #expect(throws: CommandFailure.self) {
            try command.run(Array(words.dropFirst()) + ["--socket", "/nonexistent/control.sock"])
        }
        #expect(failure?.code == .usage)
    }

    @Test(
        "a daemon that cannot be reached is told apart",
        arguments: [
            ["jobs"], ["jobs", "ls", "--limit", "all"], ["jobs", "--where", "route=a,state=dead"],
            ["jobs", "show", id.lowercased()],
            ["jobs", "watch", id],
            ["jobs", "drop", id], ["jobs", "retry", "--where", "all", "--yes"], ["dead"], ["shape"],
            ["cat", id],
            ["events"], ["events", "-f"], ["pause", "a"], ["resume", "a"], ["breaker", "a", "auto"],
            ["routes"], ["routes", "a"], ["routes", "a", "--history"],
            ["send", "a", "--async"], ["explain", id],
        ]
    )
    func unreachable(words: [String]) throws {
        let command = try #require(Command.named(words[0]))
        let failure = #expect(throws: CommandFailure.self) {
            try command.run(Array(words.dropFirst()) + ["--socket", "/nonexistent/control.sock"])
        }
        #expect(failure?.code == .notReachable)
    }

    @Test("a filter becomes the API's, with every state that was named")
    func filter() throws {
        let clause = try WhereClause(
            ["route=a,state=dead", "state=expired|cancelled,kind=http_status,since=1h"],
            now: 7_200_000
        )
        #expect(
            String(decoding: JSONValue.object(clause.filter).encoded(), as: UTF8.self)
                == #"{"route":"a","failure_kind":"http_status","created_after":"1970-01-01T01:00:00.000Z","#
                + #""state":["dead","expired","cancelled"]}"#
        )
        #expect(try WhereClause(["all"], now: 0).filter.isEmpty)
    }

    @Test("a label's value may have an equals sign")
    func label() throws {
        let clause = try WhereClause(["label=a=b=c"], now: 0)
        #expect(clause.filter.first?.value == .string("a=b=c"))
    }

    @Test("a query names its parameters, encoded, and asks for no more than a page")
    func query() throws {
        let options = try #require(Command.named("jobs")).options
        let words = [
            "--route", "a b", "--state", "dead", "--state", "held", "--label", "k=v&x", "--limit", "900",
        ]
        let arguments = try Arguments(words, of: "jobs", options: options)
        let query = try JobQuery(arguments, now: 0)
        #expect(
            query.target(count: 900, cursor: "c1z")
                == "/v1/jobs?route=a%20b&state=dead%2Cheld&label=k%3Dv%26x&limit=500&cursor=c1z"
        )
    }

    @Test("a list takes the filter of the actions")
    func listed() throws {
        let options = try #require(Command.named("jobs")).options
        let words = ["--where", "route=a b,state=dead|held,status=503,kind=http_status,before=1h"]
        let query = try JobQuery(try Arguments(words, of: "jobs", options: options), now: 7_200_000)
        #expect(
            query.target(count: 50, cursor: nil)
                == "/v1/jobs?route=a%20b&status=503&failure_kind=http_status&created_before="
                + "1970-01-01T01%3A00%3A00.000Z&state=dead%2Cheld&limit=50"
        )
        #expect(query.kind == "http_status")
    }

    @Test("a rate is jobs a second", arguments: [("50/s", 50.0), ("90/m", 1.5), ("36/h", 0.01)])
    func rate(text: String, perSecond: Double) throws {
        #expect(try JobRate(text).perSecond == perSecond)
    }
}
