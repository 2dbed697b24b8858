import RelayBase
import RelayEngine
import RelayJSON
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayServer

@Suite("Jobs that arrive together are kept together, and decided on each by itself", .timeLimit(.minutes(5)))
struct JobArrayTests {
    private static func kept(_ members: String = "") -> String {
        "{\"route\":\"up\",\"mode\":\"async\"\(members)}"
    }

    private static func keyed(_ key: String, _ text: String) -> String {
        kept(",\"request\":{\"headers\":{\"Idempotency-Key\":\"\(key)\"},\"text\":\"\(text)\"}")
    }

    private func commits(_ served: ServedLoop) async throws -> UInt64 {
        try await served.store.facts().commits
    }

    @Test("An array is one commit, and its answer has the outcomes in the order of the jobs")
    func array() async throws {
        let served = try ServedLoop(role: .read)
        let jobs = (0..<200).map { JobArrayTests.kept(",\"id\":\"j-\($0)\"") }
        let reply = try served.ask("POST", "/v1/jobs", [], " \r\n[" + jobs.joined(separator: ",") + "]")
        #expect(reply.status == "200", "\(reply.body)")
        let told = reply.json["jobs"]?.elements ?? []
        #expect(told.map { $0["id"]?.text } == (0..<200).map { "j-\($0)" })
        for one in told {
            let id = try #require(one["job"]?.text)
            #expect(one["ok"] == .bool(true) && one["state"]?.text == "accepted")
            #expect(one["repeatable"] == .bool(false) && one["replayed"] == nil && one["line"] == nil)
            #expect(one["location"]?.text == "/v1/jobs/\(id)")
        }
        #expect(reply.json["refused"]?.integer == 0)
        #expect(try await commits(served) == 1)
        let last = try #require(told.last?["location"]?.text)
        #expect(try served.ask("GET", last).status == "200")
    }

    @Test("The same key twice in an array is one job, and another body under it is refused")
    func keys() async throws {
        let served = try ServedLoop()
        let jobs = [("a", "1"), ("a", "1"), ("a", "2"), ("b", "2")].map(JobArrayTests.keyed)
        let told = try served.ask("POST", "/v1/jobs", [], "[\(jobs.joined(separator: ","))]").json["jobs"]?
            .elements
        let (first, again, other, last) = try #require(
            told.flatMap { $0.count == 4 ? ($0[0], $0[1], $0[2], $0[3]) : nil }
        )
        #expect(first["replayed"] == nil && again["replayed"] == .bool(true))
        #expect(again["job"] == first["job"] && again["ok"] == .bool(true))
        #expect(other[["error", "code"]]?.text == "idempotency_key_reused")
        #expect(other[["error", "job"]] == first["job"])
        #expect(last["ok"] == .bool(true) && last["job"] != first["job"])
        #expect(try await commits(served) == 1)
    }

    private static let refusals: [(job: String, code: String, pointer: String?)] = [
        (#"{"route":"up","id":"x"}"#, "invalid_job", "/mode"),
        (#"{"route":"up","id":"x","mode":"sync"}"#, "invalid_job", "/mode"),
        (#"{"route":"upp","id":"x","mode":"async"}"#, "route_not_found", nil),
        (kept(#","id":"x","rout":1"#), "invalid_job", "/rout"),
        (kept(#","id":"x","options":{"delay":"300d"}"#), "invalid_job", "/options/delay"),
        (kept(#","id":"x","request":{"method":"TRACE"}"#), "not_implemented", nil),
        (kept(#","id":"x","request":{"headers":{"Idempotency-Key":""}}"#), "bad_header", nil),
    ]

    @Test("A job that is refused touches none beside it", arguments: refusals)
    func refused(job: String, code: String, pointer: String?) async throws {
        let served = try ServedLoop()
        let fine = JobArrayTests.kept()
        let reply = try served.ask("POST", "/v1/jobs", [], "[\(fine),\(job),\(fine)]")
        let told = reply.json["jobs"]?.elements ?? []
        #expect(told.map { $0["ok"] } == [.bool(true), .bool(false), .bool(true)], "\(reply.body)")
        #expect(reply.json["refused"]?.integer == 1)
        let middle = try #require(told.dropFirst().first)
        #expect(middle["id"]?.text == "x" && middle[["error", "code"]]?.text == code, "\(reply.body)")
        #expect(middle[["error", "errors"]]?.elements.first?["pointer"]?.text == pointer)
        #expect(try await commits(served) == 1)
    }

    struct BadArray: Sendable, CustomTestStringConvertible {
        var document: String
        var field: String?
        var status = "422"
        var word: String

        /// Some have a megabyte.
        var testDescription: String {
            "\(document.prefix(40)), \(document.utf8.count) bytes, \(field ?? "no field")"
        }
    }

    private static let arrays = [
        BadArray(document: "[]", word: "1 to 1000 jobs"),
        BadArray(document: " [ ] ", word: "1 to 1000 jobs"),
        BadArray(
            document: "[" + Array(repeating: "0", count: 1_001).joined(separator: ",") + "]",
            word: "1 to 1000 jobs"
        ),
        BadArray(document: "[\(kept())", word: "is not JSON"),
        BadArray(document: "[\(kept())] x", word: "is not JSON"),
        BadArray(document: "[\(kept()),]", word: "is not JSON"),
        BadArray(document: String(repeating: "[", count: 10_000), word: "is not JSON"),
        BadArray(
            document: "[\(kept())]",
            field: "Idempotency-Key: k",
            status: "400",
            word: "idempotency-key belongs into each job"
        ),
        BadArray(
            document: "[\(kept())]",
            field: "Waystation-Delay: 1s",
            status: "400",
            word: "waystation-delay belongs into each job"
        ),
        BadArray(
            document: "[\(kept())]",
            field: "Content-Type: text/plain",
            status: "415",
            word: "application/json"
        ),
        BadArray(
            document: "[" + String(repeating: " ", count: 1_048_576) + "]",
            status: "413",
            word: "1048576"
        ),
    ]

    @Test(
        "A fault of the array as a whole is a problem, and nothing of the array is kept",
        arguments: arrays
    )
    func whole(array: BadArray) async throws {
        let served = try ServedLoop()
        let reply = try served.ask("POST", "/v1/jobs", array.field.map { [$0] } ?? [], array.document)
        #expect(reply.status == array.status && reply.body.contains(array.word), "\(reply.body.prefix(300))")
        #expect(try await commits(served) == 0)
    }

    @Test("A caller that prefers an answer later says so for all jobs of the array")
    func prefer() throws {
        let served = try ServedLoop()
        let array = #"[{"route":"up"},{"route":"up","mode":"sync"}]"#
        let reply = try served.ask("POST", "/v1/jobs", ["Prefer: respond-async, wait=5"], array)
        #expect(
            reply.json["jobs"]?.elements.map { $0["ok"] } == [.bool(true), .bool(false)],
            "\(reply.body)"
        )
        #expect(reply.has("Preference-Applied: respond-async"))
    }

    @Test("The first of them have the room there is, and a key that is known needs none")
    func room() async throws {
        let served = try ServedLoop()
        var settings = DurableJobs.Settings()
        settings.maxQueued = 3
        served.durable.configured(settings)
        let known = try served.ask("POST", "/v1/jobs", [], "[\(JobArrayTests.keyed("k", "1"))]")
        #expect(known.json["refused"]?.integer == 0)
        let jobs = [
            JobArrayTests.kept(), JobArrayTests.kept(), JobArrayTests.kept(), JobArrayTests.keyed("k", "1"),
            JobArrayTests.keyed("k", "2"),
        ]
        let told = try served.ask("POST", "/v1/jobs", [], "[\(jobs.joined(separator: ","))]").json["jobs"]?
            .elements
        let codes = told?.map { $0[["error", "code"]]?.text ?? ($0["replayed"] == nil ? "new" : "known") }
        #expect(codes == ["new", "new", "queue_full", "known", "idempotency_key_reused"])
        let more = try served.ask("POST", "/v1/jobs", [], "[\(JobArrayTests.kept())]")
        #expect(more.json["refused"]?.integer == 1)
    }

    @Test("A store without room refuses each of them, but for a key that is known")
    func fullStore() async throws {
        let served = try ServedLoop()
        _ = try served.ask("POST", "/v1/jobs", [], "[\(JobArrayTests.keyed("k", "1"))]")
        served.store.faults.failAcceptance(StoreError(.full, "the disk is full"))
        let jobs = [JobArrayTests.kept(), JobArrayTests.keyed("k", "1"), JobArrayTests.kept()]
        let told = try served.ask("POST", "/v1/jobs", [], "[\(jobs.joined(separator: ","))]").json["jobs"]?
            .elements
        let codes = told?.map { $0[["error", "code"]]?.text ?? ($0["replayed"] == nil ? "new" : "known") }
        #expect(codes == ["storage_full", "known", "storage_full"])
        #expect(served.durable.acceptance.refusals == 2)
        served.store.faults.failAcceptance(nil)
        #expect(
            try await served.store.jobs(JobFilter(), order: .oldestFirst, limit: 9, after: nil).jobs.count
                == 1
        )
    }

    @Test("A store whose confirmation is lost names each job that may be kept, alone and in an array")
    func unknown() throws {
        let served = try ServedLoop()
        served.store.faults.failAcceptance(StoreError(.unknown, "the database's answer was lost"))
        let array = "[\(JobArrayTests.kept()),\(JobArrayTests.keyed("k", "1"))]"
        let told = try served.ask("POST", "/v1/jobs", [], array).json["jobs"]?.elements ?? []
        #expect(told.map { $0[["error", "code"]]?.text } == ["acceptance_unknown", "acceptance_unknown"])
        let named = told.compactMap { $0[["error", "job"]]?.text }
        #expect(Set(named).count == 2)
        let alone = try served.ask("POST", "/v1/jobs", [], JobArrayTests.kept())
        let job = try #require(alone.json["job"]?.text)
        #expect(alone.status == "504" && alone.json["code"]?.text == "acceptance_unknown")
        #expect(alone.has("Waystation-Job: \(job)") && alone.has("Location: /v1/jobs/\(job)"))
        #expect(!alone.has("Retry-After: 5") && alone.json["retry_after_ms"] == nil)
        served.store.faults.failAcceptance(nil)
        #expect(try served.ask("GET", "/v1/jobs/\(job)").status == "404")
    }

    @Test("A store that is away refuses jobs and readers for a while, with the reason")
    func away() throws {
        let served = try ServedLoop(role: .read)
        let error = StoreError(.unavailable, "the database does not answer")
        served.store.faults.failAcceptance(error)
        served.store.faults.failLooks(error)
        let id = JobID(milliseconds: 1, random: (2, 3)).description
        for reply in [
            try served.ask("POST", "/v1/jobs", [], JobArrayTests.kept()), try served.ask("GET", "/v1/jobs"),
            try served.ask("GET", "/v1/jobs/\(id)"), try served.ask("GET", "/v1/jobs/\(id)/attempts"),
        ] {
            #expect(reply.status == "503" && reply.has("Retry-After: 5"), "\(reply.body)")
            #expect(reply.json["code"]?.text == "storage_unavailable")
            #expect(reply.json["detail"]?.text == "the database does not answer")
        }
    }

    @Test(
        "Lines of a stream that arrive together are one commit, in whatever chunks they come",
        arguments: [
            ("", 1, 8), ("?max_in_flight=64", 1, 40), ("?max_in_flight=64", 3, 40),
            ("?max_in_flight=8", 1, 40),
        ]
    )
    func stream(query: String, piece: Int, count: Int) async throws {
        let served = try ServedLoop()
        let caller = try LoopbackCaller(served.address)
        var text =
            "POST /v1/stream\(query) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        let lines = (0..<count).map { JobArrayTests.kept(",\"id\":\"\($0)\"") + "\n" }
        for start in stride(from: 0, to: count, by: piece) {
            let chunk = lines[start..<min(start + piece, count)].joined()
            text += String(chunk.utf8.count, radix: 16) + "\r\n\(chunk)\r\n"
        }
        caller.send(text + "0\r\n\r\n")
        let answer = caller.read()
        #expect(answer.components(of: "\"state\":\"accepted\"") == count, "\(answer)")
        let most = query.contains("64") ? 64 : 8
        #expect(try await commits(served) == UInt64((count + most - 1) / most))
    }

    @Test("A line that is refused, or answered at once, splits no commit")
    func mixedStream() async throws {
        let served = try ServedLoop()
        let lines = [
            JobArrayTests.kept(), "garbage", JobArrayTests.kept(), #"{"route":"upp"}"#, JobArrayTests.kept(),
        ]
        let reply = try served.ask("POST", "/v1/stream?order=input", [], lines.joined(separator: "\n"))
        #expect(reply.body.components(of: "\"state\":\"accepted\"") == 3, "\(reply.body)")
        #expect(reply.body.components(of: "\"ok\":false") == 2, "\(reply.body)")
        #expect(try await commits(served) == 1)
    }
}

extension String {
    /// How often `text` stands in it.
    fileprivate func components(of text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
