import Testing

@testable import waystation

@Suite("Where a command finds the daemon")
struct DaemonSocketsTests {
    private func sockets(_ words: [String] = []) throws -> DaemonSockets {
        DaemonSockets(try Arguments(words, of: "explain", options: [.control]))
    }

    @Test(
        "A question that both sockets answer goes to the jobs socket when the control socket is closed or is not there",
        arguments: [
            (DaemonSockets.Reach.open, DaemonSockets.Reach.open, false), (.open, .missing, false),
            (.closed, .open, true), (.closed, .closed, true), (.closed, .missing, false),
            (.missing, .open, true),
            (.missing, .closed, false), (.missing, .missing, false),
        ]
    )
    func fallback(control: DaemonSockets.Reach, jobs: DaemonSockets.Reach, isOwnJobs: Bool) throws {
        let sockets = try sockets()
        let found = sockets.reading { $0 == sockets.control ? control : jobs }
        #expect(found.isOwnJobs == isOwnJobs)
        #expect(found.path == (isOwnJobs ? sockets.jobs : sockets.control))
    }

    @Test("A socket that is named is the only one", arguments: [DaemonSockets.Reach.closed, .missing])
    func named(reach: DaemonSockets.Reach) throws {
        let found = try sockets(["--socket", "/a b/c.sock"]).reading { _ in reach }
        #expect(found.path == "/a b/c.sock" && !found.isOwnJobs)
    }

    @Test("A command that is advised finds the same daemon, and is allowed to the user that asks")
    func advice() throws {
        #expect(try sockets(["--socket", "/tmp/c.sock"]).option == " --socket /tmp/c.sock")
        #expect(try sockets(["--socket", "/it's"]).optionOfJobs == #" --socket '/it'\''s'"#)
        #expect(try sockets().option == "")
        let advice = Advice(isOwnJobs: true, option: " --socket /s")
        #expect(advice("pause a") == "sudo waystation pause a --socket /s")
        #expect(advice("explain J", isOwn: true) == "waystation explain J --socket /s")
        #expect(advice.journal("J") == "sudo waystation logs J")
        #expect(Advice()("pause a") == "waystation pause a")
    }

    @Test(
        "Options that say the same to every command may stand before it",
        arguments: [
            (["--socket", "S", "status"], "status", ["--socket", "S"]),
            (["--socket=S", "-ojson", "jobs", "ls"], "jobs", ["--socket=S", "-ojson", "ls"]),
            (["-o", "json", "--utc", "explain", "X"], "explain", ["-o", "json", "--utc", "X"]),
            (["-o", "json"], "status", ["-o", "json"]), (["--socket", "S"], "status", ["--socket", "S"]),
            (["--limit", "5", "jobs"], "status", ["--limit", "5", "jobs"]), ([], "status", []),
            (["jobs", "--socket", "S"], "jobs", ["--socket", "S"]), (["--version"], "--version", []),
            (["--socket", "S", "send", "a"], "send", ["--socket", "S", "a"]),
        ]
    )
    func words(words: [String], name: String, rest: [String]) throws {
        let found = try CommandWords.split(words)
        #expect(found.name == name && found.rest == rest, "\(found)")
    }

    @Test(
        "An option that means another thing to send has to stand behind it",
        arguments: [["-o", "x"], ["--output=x"]]
    )
    func send(before: [String]) {
        let failure = #expect(throws: CommandFailure.self) { try CommandWords.split(before + ["send", "a"]) }
        #expect(failure?.code == .usage)
    }
}
