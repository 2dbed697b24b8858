import Glibc
import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("A damaged store never gives other bytes than were stored", .timeLimit(.minutes(10)))
struct DamageTests {
    private static let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)

    /// STORE_FLIPS=1000 looks at as many places as the promise names.
    private static let flips = unsafe getenv("STORE_FLIPS").flatMap { Int(unsafe String(cString: $0)) } ?? 60

    @Test(
        "With any one byte wrong it is refused, or says so for the job, or gives exactly what was stored",
        arguments: ["jobs.db", "jobs.db-wal"]
    )
    func flips(file: String) async throws {
        let original = try await Original(hasLog: file == "jobs.db-wal")
        var random = SplitMix64(seed: 77)
        let length = try #require(original.files[file]?.count)
        var tally = (refused: 0, told: 0, exact: 0)
        for flip in 0..<Self.flips {
            // Headers are small and matter most.
            let place = Int.random(in: 0..<(flip % 10 == 0 ? min(200, length) : length), using: &random)
            let mask = UInt8.random(in: 1...255, using: &random)
            let verdict = try await original.verdict(damaging: file) { $0[place] ^= mask }
            switch verdict {
            case .refused: tally.refused += 1
            case .told: tally.told += 1
            case .exact: tally.exact += 1
            case .wrong(let what): Issue.record("byte \(place) of \(file) ^ \(mask): \(what)")
            }
        }
        #expect(tally.refused > 0 && (tally.exact > 0 || file != "jobs.db"))
    }

    @Test("A log that was cut short is refused or gives what it has, exactly")
    func truncation() async throws {
        let original = try await Original(hasLog: true)
        let length = try #require(original.files["jobs.db-wal"]?.count)
        for step in 0..<40 {
            let verdict = try await original.verdict(damaging: "jobs.db-wal", mayLose: true) {
                $0.removeLast(length * step / 40)
            }
            if case .wrong(let what) = verdict { Issue.record("cut by \(step)/40: \(what)") }
        }
    }

    @Test("A start begins the log anew, so that remains of an interrupted write are never taken for commits")
    func newLog() async throws {
        let original = try await Original(hasLog: true)
        let scratch = TemporaryFolder()
        for (name, bytes) in original.files { Files.write(scratch.path + "/" + name, bytes) }
        let before = try #require(original.files["jobs.db-wal"])
        var options = StoreOptions(directory: scratch.path)
        options.ballast = 0
        let store = try await SQLiteJobStore.open(options, at: Self.now)
        let after = Files.read(scratch.path + "/jobs.db-wal")
        // The salt of a generation stands in the log's header and in each of its frames.
        #expect(after.count > 32 && after.count < before.count && after[16..<24] != before[16..<24])
        for (id, bytes) in original.bodies { #expect(try await store.body(of: id) == .bytes(bytes)) }
        await store.close()
    }

    @Test(
        "A log that was cut off while it was begun anew, its header but for the last byte, has lost nothing",
        arguments: [true, false]
    )
    func begunAnew(isNext: Bool) async throws {
        let original = try await Original(hasLog: true)
        let scratch = TemporaryFolder()
        for (name, bytes) in original.files { Files.write(scratch.path + "/" + name, bytes) }
        let database = try Database(scratch.path + "/jobs.db", readOnly: false)
        // The log is opened with the first read.
        try database.execute("SELECT count(*) FROM job")
        #expect(try database.checkpoint())
        var files = original.files
        files["jobs.db"] = Files.read(scratch.path + "/jobs.db")
        var log = Files.read(scratch.path + "/jobs.db-wal")
        // The generation's number and first salt count up, and the checksum is another.
        log[15] &+= 1
        let salt = log[16..<20].reduce(0 as UInt32) { $0 << 8 | UInt32($1) } &+ (isNext ? 1 : 2)
        for place in 0..<4 { log[16 + place] = UInt8(truncatingIfNeeded: salt >> (24 - 8 * UInt32(place))) }
        let isBig = log[3] & 1 == 1
        var sum = (first: UInt32(0), second: UInt32(0))
        for start in stride(from: 0, to: 24, by: 8) {
            func word(_ at: Int) -> UInt32 {
                let bytes = isBig ? Array(log[at..<at + 4]) : log[at..<at + 4].reversed()
                return bytes.reduce(0) { $0 << 8 | UInt32($1) }
            }
            sum.first &+= word(start) &+ sum.second
            sum.second &+= word(start + 4) &+ sum.first
        }
        for place in 0..<4 {
            log[24 + place] = UInt8(truncatingIfNeeded: sum.first >> (24 - 8 * UInt32(place)))
            log[28 + place] = UInt8(truncatingIfNeeded: sum.second >> (24 - 8 * UInt32(place)))
        }
        log[31] ^= 1
        files["jobs.db-wal"] = log
        let cut = TemporaryFolder()
        for (name, bytes) in files where name != "jobs.db-shm" { Files.write(cut.path + "/" + name, bytes) }
        var options = StoreOptions(directory: cut.path)
        options.ballast = 0
        guard isNext else {
            await #expect(throws: StoreError.self) { try await SQLiteJobStore.open(options, at: Self.now) }
            return
        }
        let store = try await SQLiteJobStore.open(options, at: Self.now)
        for (id, bytes) in original.bodies { #expect(try await store.body(of: id) == .bytes(bytes)) }
        await store.close()
    }

    private enum Verdict {
        case refused
        /// At least one job's record was called damaged.
        case told
        case exact
        case wrong(String)
    }

    /// A store with some of everything, as files.
    private struct Original {
        var files: [String: [UInt8]] = [:]
        var bodies: [JobID: [UInt8]] = [:]
        var states: [JobID: JobState] = [:]

        init(hasLog: Bool) async throws {
            let scratch = TemporaryFolder()
            var options = StoreOptions(directory: scratch.path)
            options.ballast = 0
            let store = try await SQLiteJobStore.open(options, at: now)
            for number in 1...60 as ClosedRange<UInt64> {
                let id = JobID(milliseconds: now.wall, random: (0, number))
                var record = JobRecord(
                    id: id,
                    route: number % 2 == 0 ? "a" : "b",
                    method: .post,
                    target: "t/\(number)"
                )
                record.fields.append("Content-Type", "application/json")
                // The others are plain ones, and some of those have succeeded.
                if number % 5 < 2 { record.labels = ["n=\(number % 5)"] }
                if number % 3 == 0 { record.orderingKey = "k\(number % 2)" }
                let bytes = (0..<Int(number) * 20).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(number)) }
                var job = NewJob(record, body: .bytes(bytes))
                if number % 4 == 0 { job.due = .after(.seconds(100)) }
                job.idempotency = NewJob.Idempotency(
                    user: 0,
                    key: "\(number)",
                    fingerprint: [1],
                    window: .seconds(9_999)
                )
                _ = try await store.enqueue([job], at: now)
                bodies[id] = bytes
            }
            for claim in try await store.claim("a", limit: 10, at: now).claims {
                let answer = StoredAnswer(status: 500, fields: HeaderFields(), body: .bytes([1, 2, 3]))
                _ = try await store.settle(
                    [Settlement(claim.token, .dead(.exhausted), answer: answer)],
                    at: now
                )
            }
            for claim in try await store.claim("b", limit: 8, at: now).claims {
                let attempt = Attempt(number: 1, upstream: "eu", beganAt: now.wall)
                let answer = StoredAnswer(status: 200, fields: HeaderFields(), body: .bytes([1, 2, 3]))
                _ = try await store.settle(
                    [Settlement(claim.token, .succeeded, attempts: [attempt], answer: answer)],
                    at: now
                )
            }
            // Damage in the very last transaction looks like a write that was cut off, which nobody was told about.
            _ = try await store.sweep(Retention(), limit: 10, at: now)
            if !hasLog { await store.close() }
            for name in TemporaryFolder.names(scratch.path) where name.hasPrefix("jobs.db") || name == "lock"
            {
                if name != "jobs.db-shm" { files[name] = Files.read(scratch.path + "/" + name) }
            }
            for id in bodies.keys { states[id] = try? await store.job(id)?.state }
            if hasLog { await store.close() }
            if !hasLog { try await readStates() }
        }

        private mutating func readStates() async throws {
            let scratch = TemporaryFolder()
            for (name, bytes) in files { Files.write(scratch.path + "/" + name, bytes) }
            let store = try await SQLiteJobStore.open(
                StoreOptions(directory: scratch.path),
                at: now
            )
            for id in bodies.keys { states[id] = try await store.job(id)?.state }
            await store.close()
        }

        /// The verdict on a store of these files with one of them damaged.
        func verdict(
            damaging name: String,
            mayLose: Bool = false,
            _ damage: (inout [UInt8]) -> Void
        ) async throws -> Verdict {
            let scratch = TemporaryFolder()
            var damaged = files
            damage(&damaged[name, default: []])
            for (name, bytes) in damaged { Files.write(scratch.path + "/" + name, bytes) }
            var options = StoreOptions(directory: scratch.path)
            options.ballast = 0
            let store: SQLiteJobStore
            do throws(StoreError) {
                store = try await SQLiteJobStore.open(options, at: now)
            } catch {
                let isKept = Files.read(scratch.path + "/" + name) == damaged[name]
                return isKept ? .refused : .wrong("refused, but the file was changed: \(error)")
            }
            let verdict = await look(store, mayLose: mayLose)
            await store.close()
            return verdict
        }

        private func look(_ store: SQLiteJobStore, mayLose: Bool) async -> Verdict {
            var told = 0
            for (id, bytes) in bodies {
                do throws(StoreError) {
                    guard let job = try await store.job(id) else {
                        if mayLose { continue }
                        return .wrong("\(id) is lost")
                    }
                    guard job.record.id == id, job.state == states[id] || mayLose else {
                        return .wrong("\(id) is \(job.state)")
                    }
                    guard try await store.body(of: id) == .bytes(bytes) else {
                        return .wrong("\(id) has another body")
                    }
                    if job.hasAnswer, try await store.answer(of: id)?.body != .bytes([1, 2, 3]) {
                        return .wrong("\(id) has another answer")
                    }
                } catch { told += 1 }
            }
            for route in ["a", "b"] {
                do throws(StoreError) {
                    for claim in try await store.claim(route, limit: 100, at: now).claims {
                        guard claim.body == bodies[claim.token.id].map({ .bytes($0) }) else {
                            return .wrong("\(claim.token.id) is claimed with another body")
                        }
                    }
                } catch { told += 1 }
            }
            return told > 0 ? .told : .exact
        }
    }
}
