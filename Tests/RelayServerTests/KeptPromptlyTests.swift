import RelayEngine
import RelayJobs
import RelayPosix
import RelayTestSupport
import Synchronization
import Testing

@Suite("A request that is kept is answered without a task, and as with one", .timeLimit(.minutes(5)))
struct KeptPromptlyTests {
    /// A store whose words wait for the test.
    private final class Words: Sendable {
        private let untold = Mutex<[@Sendable () -> Void]>([])
        private let come = Semaphore()

        init(_ served: ServedLoop) {
            served.store.faults.tellThrough { [self] told in
                untold.withLock { $0.append(told) }
                come.signal()
            }
        }

        /// Returns when another word waits.
        func wait() { come.wait() }

        func tell() {
            let all = untold.withLock { untold in
                defer { untold = [] }
                return untold
            }
            for told in all { told() }
        }
    }

    private static let requests: [(line: String, fields: String, body: String)] = [
        ("POST /r/up/a", "Prefer: respond-async", "one"), ("PUT /r/up/b?c=d", "Waystation-Delay: 1h", ""),
        ("POST /r/up/a", "Prefer: respond-async\r\nIdempotency-Key: \"k\"", "two"),
        ("POST /r/up/a", "Prefer: respond-async\r\nIdempotency-Key: \"k\"", "two"),
        ("POST /r/up/a", "Prefer: respond-async\r\nIdempotency-Key: \"k\"", "three"),
        ("POST /r/up/a", "Prefer: respond-async\r\nWaystation-Timeout: 10s", "four"),
        ("GET /r/up/e", "Prefer: respond-async\r\nWaystation-Label: a=b\r\nPriority: u=1", ""),
    ]

    private static func text(
        _ request: (line: String, fields: String, body: String),
        _ last: Bool = false
    ) -> String {
        "\(request.line) HTTP/1.1\r\nHost: localhost\r\n\(request.fields)\r\n\(last ? "Connection: close\r\n" : "")"
            + "Content-Length: \(request.body.utf8.count)\r\n\r\n\(request.body)"
    }

    /// Jobs of every sort whose acceptance can be told at once, and some that are the same job twice.
    private static var varied: [String] {
        var texts: [String] = []
        let (preferences, dates) = (
            ["respond-async", "handling=lenient, Respond-Async;a=b", ""], ["0s", "1ms", "6d", ""]
        )
        for (index, line) in ["POST /r/up/a HTTP/1.1", "HEAD /r/up/?b=%22c HTTP/1.1", "PUT /r/up/d HTTP/1.0"]
            .enumerated()
        {
            for preference in preferences {
                for date in dates where preference.isEmpty != date.isEmpty || date == "6d" {
                    for rest in ["", "Idempotency-Key: \"\(index)\\\"\"\r\n", "Connection: close\r\n"] {
                        let prefer = preference.isEmpty ? "" : "Prefer: \(preference)\r\n"
                        let delay = date.isEmpty ? "" : "Waystation-Delay: \(date)\r\n"
                        texts.append("\(line)\r\nHost: localhost\r\n\(prefer)\(delay)\(rest)")
                    }
                }
            }
        }
        return texts.map { $0 + ($0.contains("close") ? "\r\n" : "Connection: close\r\n\r\n") }
    }

    @Test("So are those to jobs of every sort")
    func everySort() throws {
        let (prompt, ordinary) = (
            try answers(isPrompt: true, KeptPromptlyTests.varied),
            try answers(isPrompt: false, KeptPromptlyTests.varied)
        )
        #expect(prompt == ordinary && prompt.count == KeptPromptlyTests.varied.count)
        let statuses = Set(prompt.map { APIReply($0).status })
        #expect(statuses == ["200", "202"])
    }

    /// Answers to all of the requests, each on a connection of its own.
    private func answers(isPrompt: Bool, _ texts: [String]? = nil) throws -> [String] {
        let served = try ServedLoop()
        return try (texts ?? KeptPromptlyTests.requests.map { KeptPromptlyTests.text($0, true) }).map {
            text in
            // Work that is to follow an acceptance needs a task.
            if !isPrompt { served.store.faults.after(.enqueue) {} }
            let caller = try LoopbackCaller(served.address)
            caller.send(text)
            let lines = caller.read().split(separator: "\r\n").filter { !$0.hasPrefix("Date:") }
            return lines.joined(separator: "\n")
        }
    }

    @Test("The answers are the same to the byte")
    func same() throws {
        let (prompt, ordinary) = (try answers(isPrompt: true), try answers(isPrompt: false))
        #expect(prompt == ordinary)
        let statuses = prompt.map { APIReply($0).status }
        #expect(statuses == ["202", "202", "202", "200", "422", "202", "202"])
        #expect(
            prompt[0].contains("Location: /v1/jobs/0")
                && prompt[0].contains("Preference-Applied: respond-async")
        )
        #expect(prompt[6].contains("Connection: close") && prompt[6].hasSuffix("(end)"))
    }

    @Test("A caller that sends the next request meanwhile has both answers, in order")
    func pipelined() throws {
        let served = try ServedLoop()
        let words = Words(served)
        let caller = try LoopbackCaller(served.address)
        let (first, second) = (KeptPromptlyTests.requests[0], KeptPromptlyTests.requests[1])
        caller.send(KeptPromptlyTests.text(first) + KeptPromptlyTests.text(second, true))
        words.wait()
        words.tell()
        words.wait()
        words.tell()
        let text = caller.read()
        let states = text.split(separator: "\"state\":\"").dropFirst().map {
            String($0.prefix { $0 != "\"" })
        }
        #expect(states == ["queued", "scheduled"] && text.hasSuffix("(end)"), "\(text)")
    }

    @Test("A caller that hangs up meanwhile troubles nobody else, and its job is kept")
    func gone() async throws {
        let served = try ServedLoop()
        let words = Words(served)
        do {
            let caller = try LoopbackCaller(served.address)
            caller.send(KeptPromptlyTests.text(KeptPromptlyTests.requests[0]))
            words.wait()
        }
        // Answered in turn, so that the end of the other connection has been seen.
        #expect(try served.ask("GET", "/v1/nothing").status == "404")
        words.tell()
        let caller = try LoopbackCaller(served.address)
        caller.send(KeptPromptlyTests.text(KeptPromptlyTests.requests[2], true))
        words.wait()
        words.tell()
        #expect(APIReply(caller.read()).status == "202")
        let jobs = try await served.store.jobs(JobFilter(), order: .oldestFirst, limit: 9, after: nil).jobs
        #expect(jobs.map(\.state) == [.queued, .queued] && served.durable.inFlight == 0)
    }

    @Test("A caller whose job is on its way when the daemon stops has its answer, and then the end")
    func drained() throws {
        let served = try ServedLoop()
        let words = Words(served)
        let caller = try LoopbackCaller(served.address)
        caller.send(KeptPromptlyTests.text(KeptPromptlyTests.requests[0]))
        words.wait()
        served.drain()
        words.tell()
        let reply = APIReply(caller.read())
        #expect(reply.status == "202" && reply.has("Connection: close"), "\(reply.head)")
    }
}
