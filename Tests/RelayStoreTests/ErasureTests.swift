import RelayBase
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("Content that is erased is gone from the files", .timeLimit(.minutes(5)))
struct ErasureTests {
    private static let canary = Array("CANARY-7f3a91".utf8)

    private func job(_ bench: SQLiteBench, dropsContent: Bool = false) -> NewJob {
        bench.newJob { job in
            job.record.target = "orders/7?token=CANARY-7f3a91"
            job.record.fields.append("Authorization", "Bearer CANARY-7f3a91")
            job.record.fields.append("Cookie", "session=CANARY-7f3a91")
            job.record.trace.baggage = "user=CANARY-7f3a91"
            job.body = .bytes(Array(repeating: Self.canary, count: 700).flatMap { $0 })
            job.dropsContent = dropsContent
        }
    }

    private func isInFiles(_ bench: SQLiteBench) -> Bool {
        ["jobs.db", "jobs.db-wal"].contains { name in
            let bytes = Files.read(bench.scratch.path + "/" + name)
            guard bytes.count >= Self.canary.count else { return false }
            return (0...(bytes.count - Self.canary.count)).contains {
                bytes[$0] == Self.canary[0] && bytes[$0..<$0 + Self.canary.count].elementsEqual(Self.canary)
            }
        }
    }

    enum Way: CaseIterable {
        case settled, expunged, dropped, cancelled, expired
    }

    @Test(
        "Fields, query and body of a request are in no file any more, whichever way they went",
        arguments: Way.allCases
    )
    func erased(way: Way) async throws {
        let bench = try await SQLiteBench(eraseDelay: .zero)
        var new = job(bench, dropsContent: way == .cancelled || way == .expired)
        if way == .expired { new.expiresAfter = .milliseconds(5) }
        #expect(try await bench.store.enqueue([new], at: bench.now) == [.accepted])
        let id = new.record.id
        #expect(isInFiles(bench))
        switch way {
        case .settled:
            var settlement = Settlement(try await bench.claim()[0].token, .succeeded)
            settlement.dropsBody = true
            _ = try await bench.store.settle([settlement], at: bench.now)
        case .expunged:
            var fields = HeaderFields()
            fields.append("Set-Cookie", "session=CANARY-7f3a91")
            let answer = StoredAnswer(status: 200, fields: fields, body: .bytes(Self.canary))
            try await bench.settle(try await bench.claim()[0], .succeeded, answer: answer)
            try await bench.apply(.expunge, id)
        case .dropped: try await bench.apply(.drop, id)
        case .cancelled: try await bench.apply(.cancel, id)
        case .expired:
            try await bench.advance(by: 10)
            _ = try await bench.store.sweep(Retention(), limit: 10, at: bench.now)
        }
        // The log is emptied behind the next thing that is done.
        for _ in 0..<3 { _ = try await bench.store.settle([], at: bench.now) }
        #expect(!isInFiles(bench))
        guard way != .dropped else { return }
        let kept = try await bench.job(id)
        #expect(!kept.hasBody && kept.record.fields.entries.isEmpty && kept.record.target == "orders/7")
    }

    @Test("The upstream's words are gone with the content of a job")
    func unquoted() async throws {
        let bench = try await SQLiteBench(eraseDelay: .zero)
        let id = try await bench.accept(body: "body")
        var attempts: [Attempt] = []
        for number in 1...2 {
            var attempt = Attempt(number: number, upstream: "eu", beganAt: 5, duration: .seconds(1))
            attempt.failure = Failure(.apiError, sent: .answered, "an error document", status: 422)
            attempt.failure?.apiCode = "taken"
            attempt.failure?.apiTitle = "CANARY-7f3a91 is taken"
            attempts.append(attempt)
        }
        let token = try await bench.claim()[0].token
        let settlement = Settlement(token, .dead(.rejected), attempts: attempts, failureKind: .apiError)
        _ = try await bench.store.settle([settlement], at: bench.now)
        for _ in 0..<3 { _ = try await bench.store.settle([], at: bench.now) }
        #expect(isInFiles(bench))
        try await bench.apply(.expunge, id)
        for _ in 0..<3 { _ = try await bench.store.settle([], at: bench.now) }
        #expect(!isInFiles(bench))
    }

    @Test("A field that was removed before the job was accepted is in no file")
    func removed() async throws {
        let bench = try await SQLiteBench()
        let new = bench.newJob { job in
            job.record.fields.append("Authorization", "Bearer CANARY-7f3a91")
            job.record.fields.append("X-Last", "last")
            job.record.fields.remove(.authorization)
        }
        #expect(try await bench.store.enqueue([new], at: bench.now) == [.accepted])
        #expect(!isInFiles(bench))
        let kept = try await bench.job(new.record.id).record.fields
        #expect(kept.pairs.map(\.value) == new.record.fields.pairs.map(\.value))
    }

    @Test("Rows that a page has given to another leave nothing behind", arguments: [true, false])
    func moved(isBare: Bool) async throws {
        let scratch = TemporaryFolder()
        let database = try Database(scratch.path + "/moved.db", readOnly: false)
        try database.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        // The control: what SQLite itself promises.
        if isBare { try database.eraseTraces() } else { try database.execute("PRAGMA secure_delete = ON") }
        try database.execute("CREATE TABLE payload(seq INTEGER PRIMARY KEY, record BLOB, body BLOB)")
        var random = SplitMix64(seed: 1)
        var live: [Int] = []
        var last = 0
        for round in 0..<2_000 {
            try database.execute("BEGIN")
            for _ in 0..<20 {
                last += 1
                let text = String(
                    repeating: "CANARY-\(1_000_000 + last)-",
                    count: [1, 1, 3][random.below(3)]
                )
                let body = [10, 100, 1_000][random.below(3)]
                try database.execute("INSERT INTO payload VALUES(\(last), '\(text)', zeroblob(\(body)))")
                live.append(last)
            }
            for _ in 0..<(live.count > 200 ? 20 : 5) {
                let seq = live.remove(at: random.below(live.count))
                if random.below(3) == 0 {
                    try database.execute("DELETE FROM payload WHERE seq = \(seq)")
                } else {
                    try database.execute("UPDATE payload SET record = 'none', body = NULL WHERE seq = \(seq)")
                }
            }
            try database.execute("COMMIT")
            if round % 50 == 0 { #expect(try database.emptyLog()) }
        }
        #expect(try database.emptyLog())
        let bytes = Files.read(scratch.path + "/moved.db")
        var found: Set<Int> = []
        let word = Array("CANARY-".utf8)
        var index = 0
        while index + word.count + 7 <= bytes.count {
            if bytes[index] == word[0], bytes[index..<index + word.count].elementsEqual(word) {
                let digits = bytes[(index + word.count)..<(index + word.count + 7)]
                if let number = Int(String(decoding: digits, as: UTF8.self)) {
                    found.insert(number - 1_000_000)
                }
                index += word.count
            }
            index += 1
        }
        let traces = found.subtracting(live)
        #expect(traces.isEmpty == isBare, "\(traces.count) of \(last) are still there")
    }

    @Test(
        "A file in a mode with other pages is refused before anything is written into it",
        arguments: ["FULL", "INCREMENTAL"]
    )
    func otherMode(mode: String) throws {
        let scratch = TemporaryFolder()
        let path = scratch.path + "/mode.db"
        try Database(path, readOnly: false).execute(
            "PRAGMA auto_vacuum = \(mode); CREATE TABLE job(id INTEGER)"
        )
        let database = try Database(path, readOnly: false)
        #expect {
            try database.eraseTraces()
        } throws: { "\($0)".contains("PRAGMA auto_vacuum = NONE; VACUUM") }
    }
}
