import RelayBase
import RelayClient
import Synchronization
import Testing

private let id = "01K9ZQ3V7N4T0C8R5B2M6XW1HD"

private func answer(_ body: String, status: String = "200 OK", fields: String = "") -> String {
    "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

private func kept(_ state: String, _ id: String = id) -> String {
    answer(
        #"{"id":"\#(id)","route":"a","state":"\#(state)","request":{"method":"POST","path":"/x"},"version":4}"#
    )
}

@Suite("Jobs the relay keeps", .timeLimit(.minutes(5)))
struct JobsTests {
    @Test("a job is handed over with its options, and known by its id", arguments: [true, false])
    func submit(isReplayed: Bool) async throws {
        let replayed = isReplayed ? "Waystation-Replayed: true\r\n" : ""
        let relay = try StubRelay(
            .answer(
                answer(
                    "{}",
                    status: isReplayed ? "200 OK" : "202 Accepted",
                    fields: "Waystation-Job: \(id)\r\n\(replayed)"
                )
            )
        )
        var options = SubmissionOptions()
        options.idempotencyKey = #"a "b" \c"#
        options.delay = .seconds(90)
        options.expiresAfter = .seconds(3 * 86_400)
        options.orderingKey = "customer 42"
        options.supersedeKey = "schlüssel"
        options.maxAttempts = 3
        options.fallback = false
        options.priority = 1
        options.labels = ["order": "8841", "a": "ü"]
        options.timeout = .milliseconds(2500)
        let job = try await relay.client
            .submit(route: "hooks", path: "x", body: Array("hi".utf8), options: options)
        #expect(job.id == id)
        #expect(job.isReplayed == isReplayed)
        let lines = relay.requests[0].split(separator: "\r\n").map(String.init)
        #expect(
            lines == [
                "POST /r/hooks/x HTTP/1.1", "Host: waystation", "Connection: close",
                "User-Agent: \(Version.libraryUserAgent)", "Prefer: respond-async",
                #"Idempotency-Key: "a \"b\" \\c""#, "Waystation-Timeout: 2s500ms",
                "Waystation-Max-Attempts: 3", "Waystation-Fallback: off", "Waystation-Delay: 1m30s",
                "Waystation-Expires-After: 3d", "Priority: u=1", "Waystation-Ordering-Key: customer 42",
                "Waystation-Supersede-Key: schlüssel", "Waystation-Label: a=ü",
                "Waystation-Label: order=8841", "Content-Length: 2", "hi",
            ]
        )
    }

    @Test("options that could not be told are refused before anything is sent", arguments: Wrong.allCases)
    func options(wrong: Wrong) async {
        let client = RelayClient(socketPath: "/tmp/waystation-no-such.sock")
        let error = await #expect(throws: RelayClientError.self) {
            try await client.submit(route: "a", options: wrong.options)
        }
        #expect(error?.code == .invalidRequest)
    }

    enum Wrong: CaseIterable {
        case emptyKey, longKey, keyWithControl, both, negative, past, long, endless, priority, label, labels,
            blankKey

        var options: SubmissionOptions {
            var options = SubmissionOptions()
            switch self {
            case .emptyKey: options.idempotencyKey = ""
            case .longKey: options.orderingKey = String(repeating: "k", count: 257)
            case .keyWithControl: options.supersedeKey = "a\r\nB: c"
            case .blankKey: options.orderingKey = " a"
            case .both:
                options.delay = .seconds(1)
                options.notBefore = WallTime(milliseconds: 0)
            case .negative: options.expiresAfter = .seconds(-1)
            case .past: options.delay = .seconds(-5)
            case .endless: options.timeout = .seconds(Int64.max)
            case .long: options.expiresAfter = .seconds(86_400 * 400)
            case .priority: options.priority = 8
            case .label: options.labels = ["a=b": "c"]
            case .labels: options.labels = Dictionary(uniqueKeysWithValues: (0..<17).map { ("l\($0)", "") })
            }
            return options
        }
    }

    @Test("a refusal has the relay's word and words, and nothing counts as accepted")
    func refusal() async throws {
        let problem = #"{"code":"queue_full","detail":"100000 jobs wait"}"#
        let relay = try StubRelay(
            .answer(answer(problem, status: "503 Service Unavailable", fields: "Waystation-Job: \(id)\r\n"))
        )
        let error = await #expect(throws: RelayClientError.self) {
            try await relay.client.submit(route: "a")
        }
        #expect(error?.code == .refused)
        #expect(error?.problem?.code == "queue_full")
        #expect(error?.problem?.status == 503)
        #expect(error?.problem?.job == id)
        #expect(error?.message == "the relay answered 503 queue_full: 100000 jobs wait")
    }

    @Test(
        "a refusal for a store that may still write, or an acceptance without a job, leaves open what became of it",
        arguments: [
            ("503 Service Unavailable", #"{"code":"queue_full"}"#, Sent.refused),
            ("503 Service Unavailable", #"{"code":"storage_stalled"}"#, .unknown),
            ("503 Service Unavailable", #"{"code":"storage_failed"}"#, .unknown),
            ("503 Service Unavailable", #"{"code":"storage_unavailable"}"#, .refused),
            ("504 Gateway Timeout", #"{"code":"acceptance_unknown"}"#, .unknown),
            ("202 Accepted", "{}", .unknown),
            ("two hundred", "", .unknown),
        ]
    )
    func leftOpen(status: String, body: String, sent: Sent) async throws {
        let relay = try StubRelay(.answer(answer(body, status: status)))
        let error = await #expect(throws: RelayClientError.self) {
            try await relay.client.submit(route: "a")
        }
        #expect(error?.sent == sent)
        #expect(error?.code == (body.contains("code") ? .refused : .invalidResponse))
    }

    @Test("a job's document is read as it stands, unknown members and all")
    func document() async throws {
        let text = """
            {"id":"\(id)","route":"hooks","state":"retrying","reason":"backoff","new":[{}],
             "request":{"method":"PUT","path":"/x","size":5},"created_at":"2026-11-21T05:17:40.302Z",
             "due_at":"2026-11-21T06:17:44.394+01:00","max_attempts":8,"attempt_count":2,"attempts":[
              {"number":1,"upstream":"u","address":"192.0.2.1:443","started_at":"2026-11-21T05:17:40.355Z",
               "duration_ms":1.5,"status":503,"kind":"http_status","sent":"answered","detail":"no","rule":"r",
               "next":"retry","wait_ms":2000}],
             "last_failure":{"kind":"http_status","status":503},"labels":["order=1"],
             "blocker":{"reason":"backoff","detail":"it waits","until":"2026-11-21T05:17:44.394Z"},
             "client":{"uid":1001,"unit":"shop.service"},"version":9}
            """
        let relay = try StubRelay(.answer(answer(text)))
        let job = try await relay.client.job(id.lowercased())
        #expect(relay.requests[0].hasPrefix("GET /v1/jobs/\(id) HTTP/1.1\r\n"))
        #expect(job.state == .retrying && !job.state.isOver && job.reason == "backoff")
        #expect(job.createdAt?.description == "2026-11-21T05:17:40.302Z")
        #expect(job.dueAt == job.blocker?.until)
        #expect(job.attemptCount == 2 && job.maxAttempts == 8 && job.version == 9)
        #expect(job.attempts[0].duration == .microseconds(1500) && job.attempts[0].wait == .seconds(2))
        #expect(job.attempts[0].failure?.sent == "answered" && job.lastFailure?.status == 503)
        #expect(job.client?.uid == 1001 && job.client?.unit == "shop.service" && job.labels == ["order=1"])
    }

    @Test("a part of a job without its first member says nothing, rather than zero")
    func parts() async throws {
        let text = """
            {"id":"\(id)","route":"a","state":"retrying","request":{},"client":{"unit":"shop.service"},
             "blocker":{"detail":"it waits"},"last_failure":{"status":500},"attempts":[{"number":1},{"number":2}]}
            """
        let relay = try StubRelay(.answer(answer(text)))
        let job = try await relay.client.job(id)
        #expect(job.client == nil && job.blocker == nil && job.lastFailure == nil)
        #expect(job.attemptCount == 2 && job.path.isEmpty)
    }

    @Test(
        "what is no job is an error, not a guess",
        arguments: ["", "[]", "{}", #"{"id":"x","state":"asleep"}"#, "{\"id\":\"x\","]
    )
    func noJob(body: String) async throws {
        let relay = try StubRelay(.answer(answer(body)))
        let error = await #expect(throws: RelayClientError.self) {
            try await relay.client.job(id)
        }
        #expect(error?.code == .invalidResponse)
    }

    @Test("an id that is not one does not reach the relay", arguments: ["", "01K9", "../status", id + "0"])
    func noID(text: String) async {
        let error = await #expect(throws: RelayClientError.self) {
            try await RelayClient(socketPath: "/tmp/waystation-no-such.sock").job(text)
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("a wait asks again until the job is over, also past a relay that hangs up or stops")
    func wait() async throws {
        let asked = Mutex(0)
        let relay = try StubRelay(
            .respond { _ in
                switch asked.withLock({ count in
                    count += 1
                    return count
                }) {
                case 1: .close(kept("queued"))
                case 2: .close("")
                case 3: .close(answer("{}", status: "503 Service Unavailable"))
                default: .close(kept("dead"))
                }
            }
        )
        let job = try await relay.client.wait(for: id, timeout: .seconds(30))
        #expect(job.state == .dead && job.state.isOver)
        #expect(relay.requests.count == 4)
        #expect(relay.requests.allSatisfy { $0.contains("\r\nPrefer: wait=") })
    }

    @Test("a job that is not over in time ends the wait, and so does one that is not there")
    func noEnd() async throws {
        let relay = try StubRelay(.answer(kept("held")))
        let late = await #expect(throws: RelayClientError.self) {
            try await relay.client.wait(for: id, timeout: .milliseconds(50))
        }
        #expect(late?.code == .timedOut)
        let none = try StubRelay(.answer(answer(#"{"code":"job_not_found"}"#, status: "404 Not Found")))
        let missing = await #expect(throws: RelayClientError.self) {
            try await none.client.wait(for: id, timeout: .seconds(30))
        }
        #expect(missing?.problem?.code == "job_not_found")
        let away = await #expect(throws: RelayClientError.self) {
            try await RelayClient(socketPath: "/tmp/waystation-no-such.sock").wait(
                for: id,
                timeout: .seconds(30)
            )
        }
        #expect(away?.code == .notReachable)
    }

    @Test("an answer of the upstream is passed on whatever its status, the relay's own is a refusal")
    func response() async throws {
        let found = try StubRelay(
            .answer(answer("gone", status: "410 Gone", fields: "Waystation-Source: upstream\r\n"))
        )
        #expect(try await found.client.response(of: id).text == "gone")
        #expect(found.requests[0].hasPrefix("GET /v1/jobs/\(id)/response HTTP/1.1"))
        let problem = #"{"code":"response_not_ready"}"#
        let early = try StubRelay(
            .answer(answer(problem, status: "409 Conflict", fields: "Waystation-Source: relay\r\n"))
        )
        let error = await #expect(throws: RelayClientError.self) {
            try await early.client.response(of: id)
        }
        #expect(error?.problem?.code == "response_not_ready")
    }

    @Test("whoever waits for a place and is cancelled leaves at once")
    func cancelledInLine() async throws {
        let relay = try StubRelay(.silence)
        let client = RelayClient(socketPath: relay.path, maxConcurrentRequests: 1)
        let first = Task { try await client.request(.get, "/") }
        let second = Task { try await client.request(.get, "/") }
        second.cancel()
        let error = await #expect(throws: RelayClientError.self) { try await second.value }
        #expect(error?.code == .cancelled)
        first.cancel()
        _ = await first.result
    }
}
