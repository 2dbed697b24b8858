import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A job that fails hinders no other", .timeLimit(.minutes(3)))
struct SinglyTests {
    /// The server refuses rows of the table for which the condition holds.
    private static func refuse(
        _ nodes: Nodes,
        _ table: String,
        _ condition: String,
        _ state: String
    ) async throws {
        try await nodes.sql(
            """
            CREATE OR REPLACE FUNCTION SCHEMA.refuse() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RAISE ''refused by the test'' USING ERRCODE = ''\(state)''; END'
            """
        )
        try await nodes.sql(
            """
            CREATE TRIGGER refuse BEFORE INSERT ON SCHEMA.\(table) FOR EACH ROW WHEN (\(condition))
            EXECUTE FUNCTION SCHEMA.refuse()
            """
        )
    }

    @Test("Of jobs accepted together one alone is refused, and each is told its own", arguments: [nil, "o"])
    func accept(key: String?) async throws {
        let nodes = try await Nodes()
        let store = try await nodes.open("one")
        let jobs = (0..<9).map { number in
            NewJob.ofFleet { $0.record.orderingKey = key.map { "\($0)\(number)" } }
        }
        try await Self.refuse(nodes, "job_0", "NEW.id = '\(jobs[4].uuid)'", "23514")
        let answers = await store.enqueueEach(jobs, at: .present)
        for (index, answer) in answers.enumerated() where index != 4 {
            #expect(answer == .success(.accepted))
        }
        #expect(throws: StoreError.self) { try answers[4].get() }
        #expect(try await store.states().values.reduce(0, +) == 8)
        await store.close()
    }

    @Test("Of claims settled together one alone is refused", arguments: [nil, "o"])
    func settle(key: String?) async throws {
        let nodes = try await Nodes()
        let store = try await nodes.open("one")
        var claims: [Claim] = []
        for number in 0..<9 {
            let job = NewJob.ofFleet { $0.record.orderingKey = key.map { "\($0)\(number)" } }
            #expect(await store.answer(job) == .success(.accepted))
            claims.append(try await store.nextClaim())
        }
        try await Self.refuse(
            nodes,
            "change_0",
            "NEW.upstream IS NULL AND NEW.seq = \(claims[4].token.position)",
            "22001"
        )
        let answers = Notes<String>()
        for (index, claim) in claims.enumerated() {
            _ = store.settle(Settlement(claim.token, .succeeded), at: .present) { answer in
                if case .success(.applied(.succeeded, _)) = answer {
                    answers.add(["\(index)"])
                } else {
                    answers.add(["failed \(index)"])
                }
            }
        }
        await store.drained()
        #expect(answers.values.sorted() == ["0", "1", "2", "3", "5", "6", "7", "8", "failed 4"])
        #expect(try await store.facts().database?.putAside == 1)
        await store.close()
    }

    @Test(
        "A claim passes over a row that cannot be read, and the job is over as damaged",
        arguments: [nil, "o"]
    )
    func claim(key: String?) async throws {
        let nodes = try await Nodes()
        let told = Notes<String>()
        var events = JobStoreEvents()
        events.notice = { told.add([$0]) }
        let store = try await nodes.open("one", events: events)
        let jobs = (0..<3).map { _ in NewJob.ofFleet { $0.record.orderingKey = key } }
        for job in jobs { #expect(await store.answer(job) == .success(.accepted)) }
        try await nodes.sql("UPDATE SCHEMA.job SET record = '\\x00' WHERE id = '\(jobs[0].uuid)'")
        for job in jobs[1...] {
            let claim = try await store.nextClaim()
            #expect(claim.token.id == job.id)
            #expect(try await store.settle([Settlement(claim.token, .succeeded)], at: .present)[0] != .stale)
        }
        let states = try await store.states()
        #expect(states[.dead] == 1 && states[.succeeded] == 2 && states.count == 2)
        #expect(told.values.count { $0.contains(text: "\(jobs[0].id)") } == 1)
        #expect(try await store.facts().corruptRecords > 0)
        #expect(try await store.facts().database?.putAside == 1)
        await store.close()
    }

    @Test("A damaged row costs no other of its line its turn, and its user no place")
    func damaged() async throws {
        let nodes = try await Nodes()
        let store = try await nodes.open("one")
        let jobs = (0..<2).map { _ in NewJob.ofFleet { $0.record.submitter = .init(user: 1_000, unit: nil) } }
        for job in jobs { #expect(await store.answer(job) == .success(.accepted)) }
        try await nodes.sql("UPDATE SCHEMA.job SET record = '\\x00' WHERE id = '\(jobs[0].uuid)'")
        let claims = try await store.claim("hooks", limit: 1, upstream: "eu", at: .present).claims
        #expect(claims.map(\.token.id) == [jobs[1].id])
        #expect(try await store.unfinishedByUser() == [1_000: 1])
        #expect(try await store.states() == [.dead: 1, .running: 1])
        await store.close()
    }

    @Test("A takeover ends whose page is full of rows that cannot be read, and takes the others")
    func takeOver() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        let jobs = (0..<600).map { _ in NewJob.ofFleet() }
        #expect(await one.enqueueEach(jobs, at: .present).allSatisfy { $0 == .success(.accepted) })
        var claimed = 0
        while claimed < 600 {
            claimed += try await one.claim("hooks", limit: 600, upstream: "eu", at: .present).claims.count
        }
        await one.breakOff()
        try await nodes.sql("UPDATE SCHEMA.job SET record = '\\x00' WHERE seq <= 550")
        let back = try await nodes.open("one")
        let states = try await back.states()
        #expect(states[.dead] == 550 && states[.retrying] == 50 && states.count == 2)
        await back.close()
    }

    @Test("A settlement that comes too late changes nothing but the account of its attempt")
    func late() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        let jobs = (0..<2).map { _ in NewJob.ofFleet { $0.record.orderingKey = "o" } }
        for job in jobs { #expect(await one.answer(job) == .success(.accepted)) }
        let lost = try await one.nextClaim()
        await one.breakOff()
        let back = try await nodes.open("one")
        let again = try await back.nextClaim()
        #expect(again.token.id == jobs[0].id)
        let before = try await back.job(jobs[0].id)
        var attempt = Attempt(number: 1, upstream: "eu", beganAt: 5)
        attempt.status = .ok
        for _ in 0..<2 {
            let settlement = Settlement(lost.token, .succeeded, attempts: [attempt])
            #expect(try await back.settle([settlement], at: .present) == [.stale])
        }
        #expect(try await back.job(jobs[0].id)?.version == before?.version)
        let attempts = try await back.attempts(of: jobs[0].id, after: 0, limit: 9)
        #expect(attempts.map(\.number) == [1] && attempts[0].status == .ok)
        #expect(attempts[0].failure?.kind == .interrupted && attempts[0].failure?.sent == .answered)
        // The key is still the one's that runs.
        #expect(try await back.claim("hooks", limit: 9, upstream: "eu", at: .present).claims.isEmpty)
        attempt.number = 2
        #expect(
            try await back.settle([Settlement(again.token, .succeeded, attempts: [attempt])], at: .present)
                == [.applied(.succeeded)]
        )
        #expect(try await back.attempts(of: jobs[0].id, after: 0, limit: 9).map(\.number) == [1, 2])
        #expect(try await back.nextClaim().token.id == jobs[1].id)
        await back.close()
    }

    @Test("A job that the server refuses to claim is put aside, and those that are claimed with it are given")
    func unclaimable() async throws {
        let nodes = try await Nodes()
        let told = Notes<String>()
        var events = JobStoreEvents()
        events.notice = { told.add([$0]) }
        let store = try await nodes.open("one", events: events)
        let jobs = (0..<9).map { _ in NewJob.ofFleet() }
        for job in jobs { #expect(await store.answer(job) == .success(.accepted)) }
        // The number after it is none.
        try await nodes.sql(
            """
            UPDATE SCHEMA.ready SET n = 2147483647 WHERE seq = (SELECT seq FROM SCHEMA.job WHERE id = '\(jobs[4].uuid)')
            """
        )
        let claims = try await store.claim("hooks", limit: 9, upstream: "eu", at: .present).claims
        #expect(Set(claims.map(\.token.id)) == Set(jobs.map(\.id)).subtracting([jobs[4].id]))
        let aside = try await store.job(jobs[4].id)
        #expect(aside?.state == .dead && aside?.end == .corrupt)
        #expect(told.values.contains { $0.contains(text: "\(jobs[4].id)") })
        #expect(try await store.states() == [.running: 8, .dead: 1])
        #expect(try await store.facts().database?.putAside == 1)
        await store.close()
    }

    @Test("A claim gives bodies that are more than one batch together")
    func bodies() async throws {
        let nodes = try await Nodes()
        let store = try await nodes.open("one")
        let jobs = (0..<7).map { number in
            NewJob.ofFleet { $0.body = .bytes([UInt8](repeating: UInt8(number), count: 400_000)) }
        }
        for job in jobs { #expect(await store.answer(job) == .success(.accepted)) }
        let claims = try await store.claim("hooks", limit: 9, upstream: "eu", at: .present).claims
        let bodies = Dictionary(uniqueKeysWithValues: claims.map { ($0.token.id, $0.body) })
        #expect(bodies == Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, $0.body) }))
        await store.close()
    }
}
