import RelayBase
import RelayEngine
import RelayJSON
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayServer

@Suite("A job on disk can be looked at, replayed and acted on", .timeLimit(.minutes(5)))
struct KeptJobTests {
    private static func id(_ number: UInt64) -> JobID {
        JobID(milliseconds: 1_800_000_000_000, random: (0, number))
    }

    /// Puts a job into the store as if a caller had handed it over.
    @discardableResult
    private func keep(
        _ number: UInt64,
        in served: ServedLoop,
        _ change: (inout NewJob) -> Void = { _ in }
    ) async throws -> JobID {
        var fields = HeaderFields()
        fields.append("X-Secret", "hush")
        var record = JobRecord(
            id: KeptJobTests.id(number),
            route: "up",
            method: .post,
            target: "orders?token=hush",
            fields: fields
        )
        record.submitter = JobRecord.Submitter(user: 1_000, unit: "shop.service")
        var job = NewJob(record, body: .bytes(Array(#"{"n":1}"#.utf8)))
        change(&job)
        let acceptance = try await served.store.enqueue([job], at: JobMoment(served.time))
        #expect(acceptance == [.accepted])
        return record.id
    }

    /// Has the oldest due job sent, with what came of it.
    private func settle(
        _ served: ServedLoop,
        _ ending: Settlement.Ending,
        _ answer: StoredAnswer?,
        kind: FailureKind? = nil
    ) async throws {
        let now = JobMoment(served.time)
        let claims = try await served.store.claim("up", limit: 1, at: now).claims
        let claim = try #require(claims.first)
        var attempt = Attempt(
            number: 1,
            upstream: "u",
            beganAt: now.wall + 5,
            duration: .milliseconds(12)
        )
        attempt.status = answer?.status
        if let kind {
            attempt.failure = Failure(kind, sent: .answered, "the upstream said no", status: answer?.status)
            attempt.rule = "again"
            attempt.next = .retry(after: .zero)
        }
        let settlement = Settlement(
            claim.token,
            ending,
            attempts: [attempt],
            answer: answer,
            failureKind: kind
        )
        _ = try await served.store.settle([settlement], at: now)
    }

    private func answer(_ status: Status, _ body: [UInt8]) -> StoredAnswer {
        var fields = HeaderFields()
        fields.append("X-Own", "1")
        fields.append("Content-Type", "text/plain")
        fields.append("Connection", "close, x-hop")
        fields.append("X-Hop", "1")
        fields.append("Waystation-Outcome", "forged")
        return StoredAnswer(status: status, fields: fields, body: .bytes(body))
    }

    @Test("A user of another machine of a fleet is another user, and is told of with its daemon")
    func otherMachine() async throws {
        let served = try ServedLoop(role: .read)
        let (west, east) = (NodeName("west"), NodeName("east"))
        let other = try await keep(7, in: served) { $0.record.submitter?.node = west }
        let client = try served.ask("GET", "/v1/jobs/\(other)").json["client"]
        #expect(client?["uid"]?.integer == 1_000 && client?["node"]?.text == "west")
        let own = try await keep(8, in: served) { $0.record.submitter?.node = east }
        let jobs = [
            try #require(try await served.store.job(other)), try #require(try await served.store.job(own)),
        ]
        func access(_ node: NodeName, _ role: Role = .submit) -> JobAccess {
            JobAccess(role: role, user: 1_000, node: node)
        }
        #expect(jobs.map { access(east).mayCancel($0) } == [false, true])
        #expect(jobs.map { access(.none).mayCancel($0) } == [true, true])
        #expect(access(east, .operate).mayCancel(jobs[0]))
        #expect(!access(east).sees(1_000, on: west) && access(east).sees(1_000, on: east))
        var filter = JobFilter()
        try access(east).narrow(&filter)
        let listed = try await served.store.jobs(filter, order: .oldestFirst, limit: 9, after: nil).jobs
        #expect(listed.map(\.record.id) == [own])
    }

    @Test("Its document says what it is and why it waits, and nothing of its fields or its query")
    func document() async throws {
        let served = try ServedLoop(role: .read)
        let id = try await keep(1, in: served) { job in
            job.record.labels = ["order=7"]
            job.record.orderingKey = "customer-1"
            job.record.idempotencyKey = "k"
            job.record.priority = 1
            job.due = .after(.seconds(60))
            job.expiresAfter = .seconds(3_600)
        }
        let reply = try served.ask("GET", "/v1/jobs/\(id)")
        #expect(reply.status == "200" && reply.has("ETag: \"v1\""), "\(reply.head)")
        #expect(!reply.body.contains("hush"))
        let json = reply.json
        #expect(json["id"]?.text == id.description)
        #expect(json["state"]?.text == "scheduled" && json["reason"]?.text == "not_before")
        #expect(json["created_at"]?.text == "2027-01-15T08:00:00.000Z")
        #expect(json["due_at"]?.text == "2027-01-15T08:01:00.000Z")
        #expect(json["expires_at"]?.text == "2027-01-15T09:00:00.000Z")
        #expect(json[["request", "path"]]?.text == "/orders" && json[["request", "size"]]?.integer == 7)
        #expect(json[["client", "uid"]]?.integer == 1_000)
        #expect(json[["client", "unit"]]?.text == "shop.service")
        #expect(json["labels"]?.elements.compactMap(\.text) == ["order=7"])
        #expect(json["ordering_key"]?.text == "customer-1" && json["priority"]?.integer == 1)
        #expect(json["keyed"] == .bool(true) && json["attempts"] == .array([]))
        #expect(json[["blocker", "reason"]]?.text == "not_before")
        #expect(json[["blocker", "until"]]?.text == "2027-01-15T08:01:00.000Z")
    }

    @Test("Its document says what was done to it, by whom and when")
    func actions() async throws {
        let served = try ServedLoop(role: .read)
        let id = try await keep(1, in: served)
        let now = JobMoment(served.time)
        #expect(try served.ask("GET", "/v1/jobs/\(id)").json["actions"] == nil)
        let deeds: [(JobAction, ActionOrigin)] = [
            (.hold, .user(7, isBulk: false)), (.release, .user(nil, isBulk: true)),
        ]
        for (action, origin) in deeds {
            let filter = JobFilter(ids: [id])
            let store = served.store
            _ = try await store.apply(
                action,
                to: filter,
                limit: 1,
                by: origin,
                at: now
            )
        }
        _ = try await served.store.claim("up", limit: 1, at: now)
        _ = try await served.store.apply(
            .cancel,
            to: JobFilter(ids: [id]),
            limit: 1,
            by: .user(0, isBulk: false),
            at: now
        )
        let told = try served.ask("GET", "/v1/jobs/\(id)").json["actions"]
        let expected = """
            [{"action":"hold","at":"2027-01-15T08:00:00.000Z","uid":7},
             {"action":"release","at":"2027-01-15T08:00:00.000Z","bulk":true},
             {"action":"cancel","at":"2027-01-15T08:00:00.000Z","uid":0,"asked":true}]
            """
        #expect(try told == JSONValue(parsing: Array(expected.utf8)))
    }

    @Test("Its bodies come with the document for who asks, and raw by themselves")
    func bodies() async throws {
        let served = try ServedLoop(role: .read)
        let id = try await keep(1, in: served)
        try await settle(served, .succeeded, answer(201, Array("done".utf8)))
        let json = try served.ask("GET", "/v1/jobs/\(id)?include=body").json
        #expect(json[["request", "body", "json", "n"]]?.integer == 1)
        let fields = json[["request", "headers"]]?.elements.map { $0.elements.compactMap(\.text) }
        #expect(fields == [["X-Secret", "hush"]])
        #expect(json[["response", "status"]]?.integer == 201)
        #expect(json[["response", "body", "text"]]?.text == "done")
        #expect(json["outcome"]?.text == "success" && json["status"]?.integer == 201)
        for (path, body) in [("request/body", #"{"n":1}"#), ("response/body", "done")] {
            let raw = try served.ask("GET", "/v1/jobs/\(id)/\(path)")
            #expect(raw.status == "200" && raw.body == body)
            #expect(raw.has("Content-Type: application/octet-stream"))
            #expect(raw.has("X-Content-Type-Options: nosniff"))
            let head = try served.ask("HEAD", "/v1/jobs/\(id)/\(path)")
            #expect(head.has("Content-Length: \(body.utf8.count)") && head.body.isEmpty)
        }
    }

    @Test("A body too long for a document is named with its place")
    func longBody() async throws {
        let served = try ServedLoop(role: .read)
        let id = try await keep(1, in: served) { $0.body = .bytes(Array(repeating: 0x61, count: 65_537)) }
        let body = try served.ask("GET", "/v1/jobs/\(id)?include=body").json[["request", "body"]]
        #expect(body?["size"]?.integer == 65_537)
        #expect(body?["href"]?.text == "/v1/jobs/\(id)/request/body")
    }

    @Test("Its answer is the upstream's: status, fields and body, and none of the connection's fields")
    func replay() async throws {
        let served = try ServedLoop(role: .read)
        let id = try await keep(1, in: served)
        let early = try served.ask("GET", "/v1/jobs/\(id)/response")
        #expect(early.status == "409" && early.body.contains("response_not_ready"))
        #expect(early.has("Location: /v1/jobs/\(id)"))
        try await settle(served, .succeeded, answer(201, Array("done".utf8)))
        let reply = try served.ask("GET", "/v1/jobs/\(id)/response")
        #expect(reply.status == "201" && reply.body == "done", "\(reply.head)")
        #expect(reply.has("X-Own: 1") && reply.has("Content-Type: text/plain"))
        #expect(!reply.has("X-Hop: 1") && !reply.head.contains("forged"))
        #expect(reply.has("Waystation-Job: \(id)") && reply.has("Waystation-Source: upstream"))
        #expect(reply.has("Waystation-Attempts: 1") && reply.has("Server-Timing: attempt-1;dur=12.000"))
        let head = try served.ask("HEAD", "/v1/jobs/\(id)/response")
        #expect(head.status == "201" && head.body.isEmpty)
    }

    @Test("A job that is over without an answer has none")
    func noAnswer() async throws {
        let served = try ServedLoop(role: .operate)
        let id = try await keep(1, in: served)
        #expect(try served.ask("POST", "/v1/jobs/\(id)/cancel").json["state"]?.text == "cancelled")
        for path in ["response", "response/body"] {
            let reply = try served.ask("GET", "/v1/jobs/\(id)/\(path)")
            #expect(reply.status == "404" && reply.body.contains("no answer of an upstream"), "\(reply.body)")
        }
    }

    @Test("Bodies that were expunged are gone, and the rest stays")
    func expunged() async throws {
        let served = try ServedLoop(role: .operate)
        let id = try await keep(1, in: served)
        let early = try served.ask("DELETE", "/v1/jobs/\(id)/content")
        #expect(early.status == "409" && early.body.contains("queued"))
        try await settle(served, .dead(.exhausted), answer(500, Array("no".utf8)), kind: "http_status")
        let offered = try served.ask("GET", "/v1/jobs/\(id)").json["links"]
        #expect(offered?["response"] != nil && offered?["request_body"] != nil)
        #expect(try served.ask("DELETE", "/v1/jobs/\(id)/content").status == "200")
        for path in ["response", "response/body", "request/body"] {
            let reply = try served.ask("GET", "/v1/jobs/\(id)/\(path)")
            #expect(reply.status == "410" && reply.body.contains("body_expired"), "\(reply.body)")
        }
        let json = try served.ask("GET", "/v1/jobs/\(id)").json
        #expect(json["state"]?.text == "dead" && json["end"]?.text == "exhausted")
        #expect(json[["last_failure", "kind"]]?.text == "http_status")
        #expect(json[["links", "response"]] == nil && json[["links", "request_body"]] == nil)
        let retried = try served.ask("POST", "/v1/jobs/\(id)/retry")
        #expect(retried.status == "410", "\(retried.body)")
    }

    @Test("Its attempts are listed in parts")
    func attempts() async throws {
        let served = try ServedLoop(role: .read)
        let id = try await keep(1, in: served)
        for _ in 0..<3 {
            try await settle(served, .retry(after: .zero, .backoff), answer(503, []), kind: "http_status")
        }
        let first = try served.ask("GET", "/v1/jobs/\(id)/attempts?limit=2")
        #expect(first.json["attempts"]?.elements.compactMap { $0["number"]?.integer } == [1, 2])
        #expect(first.json["next"]?.integer == 2)
        #expect(first.has("Link: </v1/jobs/\(id)/attempts?limit=2&after=2>; rel=\"next\""), "\(first.head)")
        let rest = try served.ask("GET", "/v1/jobs/\(id)/attempts?after=2")
        let last = try #require(rest.json["attempts"]?.elements.first)
        #expect(last["number"]?.integer == 3 && rest.json["next"] == .null)
        #expect(last["status"]?.integer == 503 && last["kind"]?.text == "http_status")
        #expect(last["rule"]?.text == "again" && last["next"]?.text == "retry")
        #expect(last["started_at"]?.text == "2027-01-15T08:00:00.005Z")
    }

    @Test("A version that is known is not sent again, and an order for another version is refused")
    func versions() async throws {
        let served = try ServedLoop(role: .operate)
        let id = try await keep(1, in: served)
        let known = try served.ask("GET", "/v1/jobs/\(id)", ["If-None-Match: W/\"v9\", \"v1\""])
        #expect(known.status == "304" && known.has("ETag: \"v1\"") && known.body.isEmpty)
        #expect(try served.ask("GET", "/v1/jobs/\(id)", ["If-None-Match: \"v2\""]).status == "200")
        let stale = try served.ask("POST", "/v1/jobs/\(id)/hold", ["If-Match: \"v7\""])
        #expect(stale.status == "412" && stale.body.contains("precondition_failed"))
        let held = try served.ask("POST", "/v1/jobs/\(id)/hold", ["If-Match: \"v1\""])
        #expect(held.status == "200" && held.json["state"]?.text == "held", "\(held.body)")
        #expect(held.has("ETag: \"v\(held.json["version"]?.integer ?? 0)\""))
        let again = try served.ask("POST", "/v1/jobs/\(id)/hold")
        #expect(again.status == "409" && again.body.contains("held"), "\(again.body)")
        let released = try served.ask("POST", "/v1/jobs/\(id)/release")
        #expect(released.json["state"]?.text == "queued")
        let dropped = try served.ask("DELETE", "/v1/jobs/\(id)")
        #expect(dropped.status == "204" && dropped.body.isEmpty && !dropped.head.contains("Content-Length"))
        #expect(try served.ask("GET", "/v1/jobs/\(id)").status == "404")
    }

    @Test("The list goes by filters and cursors, newest first")
    func list() async throws {
        let served = try ServedLoop(role: .operate)
        for number in 1...5 as ClosedRange<UInt64> {
            try await keep(number, in: served) { job in
                if number.isMultiple(of: 2) { job.record.labels = ["kind=a b&c"] }
            }
        }
        func numbers(_ reply: APIReply) -> [String?]? {
            reply.json["jobs"]?.elements.map { $0["id"]?.text.map { String($0.suffix(1)) } }
        }
        let first = try served.ask("GET", "/v1/jobs?limit=2&state=queued,held")
        #expect(numbers(first) == ["5", "4"])
        let next = try #require(first.json["next"]?.text)
        #expect(first.has("Link: </v1/jobs?limit=2&state=queued%2Cheld&cursor=\(next)>; rel=\"next\""))
        let second = try served.ask("GET", "/v1/jobs?limit=2&state=queued,held&cursor=\(next)")
        #expect(numbers(second) == ["3", "2"])
        #expect(numbers(try served.ask("GET", "/v1/jobs?order=oldest&limit=1")) == ["1"])
        let labelled = try served.ask("GET", "/v1/jobs?label=kind%3Da+b%26c")
        #expect(numbers(labelled) == ["4", "2"] && labelled.json["next"] == .null)
        #expect(numbers(try served.ask("GET", "/v1/jobs?state=dead")) == [])
        #expect(numbers(try served.ask("GET", "/v1/jobs?created_before=2027-01-15T08:00:00Z")) == [])
        #expect(
            numbers(try served.ask("GET", "/v1/jobs?created_after=2027-01-15T09:00:00.000%2B01:00&limit=1"))
                == ["5"]
        )
    }

    @Test("A bulk action counts first, and acts only when it is told to")
    func bulk() async throws {
        let served = try ServedLoop(role: .operate)
        for number in 1...3 as ClosedRange<UInt64> { try await keep(number, in: served) }
        let all = #"{"action":"cancel","filter":{"route":"up"}}"#
        let dry = try served.ask("POST", "/v1/jobs/actions", [], all)
        #expect(dry.json["matched"]?.integer == 3 && dry.json["changed"]?.integer == 3, "\(dry.body)")
        #expect(dry.json["dry_run"] == .bool(true))
        let some = try served.ask(
            "POST",
            "/v1/jobs/actions",
            [],
            #"{"action":"cancel","filter":{"state":["queued"]},"dry_run":false,"limit":2}"#
        )
        #expect(some.json["changed"]?.integer == 2 && some.json["next"]?.text != nil, "\(some.body)")
        let retried = try served.ask(
            "POST",
            "/v1/jobs/actions",
            [],
            #"{"action":"retry","filter":{"state":["cancelled"]},"dry_run":false,"rate":"1/m"}"#
        )
        #expect(retried.json["changed"]?.integer == 2 && retried.json["next"] == .null, "\(retried.body)")
        let due = try served.ask("GET", "/v1/jobs?order=oldest").json["jobs"]?.elements
            .compactMap { $0["due_at"]?.text }
        #expect(due?.prefix(2) == ["2027-01-15T08:00:00.000Z", "2027-01-15T08:01:00.000Z"])
    }

    @Test("The shape tells how long jobs have waited, the routes how many there are")
    func shape() async throws {
        let served = try ServedLoop(role: .operate)
        try await keep(1, in: served)
        served.time.advance(by: .seconds(150))
        try await keep(2, in: served)
        let shape = try served.ask("GET", "/v1/shape").json
        #expect(shape["bucket_ms"]?.elements.first?.integer == 60_000)
        let row = try #require(shape["rows"]?.elements.first)
        #expect(row["key"]?.text == "up" && row["total"]?.integer == 2)
        #expect(row["counts"]?.elements.compactMap(\.integer) == [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
        let states = try served.ask("GET", "/v1/shape?by=state").json["rows"]?.elements
        #expect(states?.first?["key"]?.text == "queued")
        let route = try served.ask("GET", "/v1/routes/up").json
        #expect(route["name"]?.text == "up" && route[["jobs", "queued"]]?.integer == 2)
        #expect(route["oldest_job_at"]?.text == "2027-01-15T08:00:00.000Z")
        let all = try served.ask("GET", "/v1/routes").json["routes"]?.elements
        #expect(all?.count == 1 && all?.first == route)
    }
}
