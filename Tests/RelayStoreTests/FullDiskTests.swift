import Glibc
import RelayBase
import RelayJobs
import RelayStore
import RelayTestSupport
import Testing

@Suite("A full disk stops acceptance and nothing else", .timeLimit(.minutes(5)))
struct FullDiskTests {
    @Test(
        "Jobs are refused, those it has are claimed and settled, and it accepts again when there is room",
        .enabled(if: geteuid() == 0)
    )
    func full() async throws {
        let disk = SmallDisk(megabytes: 12)
        guard disk.isMounted else { return }
        let path = disk.scratch.path
        var now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)
        var options = StoreOptions(directory: path)
        options.ballast = 2 << 20
        options.checkpointPages = 100
        options.spaceInterval = .milliseconds(1)
        let log = Notes<String>()
        options.events.notice = { log.add([$0]) }
        options.events.relief = options.events.notice
        options.events.fatal = { log.add(["fatal: \($0)"]) }
        let store = try await SQLiteJobStore.open(options, at: now)

        var accepted: [JobID] = []
        var refusal: StoreError?
        var number: UInt64 = 0
        while refusal == nil, number < 5_000 {
            number += 1
            let id = JobID(milliseconds: now.wall, random: (0, number))
            let record = JobRecord(id: id, route: "r", method: .post, target: "t")
            let body = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 20_000)
            do throws(StoreError) {
                _ = try await store.enqueue([NewJob(record, body: .bytes(body))], at: now)
                accepted.append(id)
            } catch { refusal = error }
        }
        #expect(refusal?.code == .full && accepted.count > 50)
        #expect(log.values.first?.contains("no job is accepted") == true)

        // Settling needs room of its own: the ballast.
        var settled = 0
        while case let claims = try await store.claim("r", limit: 20, at: now).claims,
            !claims.isEmpty
        {
            for claim in claims {
                #expect(
                    claim.body
                        == .bytes(
                            [UInt8](repeating: UInt8(truncatingIfNeeded: claim.token.id.low), count: 20_000)
                        )
                )
            }
            let answers = try await store.settle(claims.map { Settlement($0.token, .succeeded) }, at: now)
            settled += answers.count { $0 == .applied(.succeeded) }
        }
        #expect(settled == accepted.count)

        // Room returns with retention; the store finds out by itself.
        var retention = Retention()
        retention.succeeded = .zero
        var isAccepted = false
        for _ in 0..<100 where !isAccepted {
            now.steady += 100
            now.wall += 100
            number += 1
            _ = try await store.sweep(retention, limit: 100, at: now)
            let record = JobRecord(
                id: JobID(milliseconds: now.wall, random: (0, number)),
                route: "r",
                method: .post,
                target: "t"
            )
            isAccepted = (try? await store.enqueue([NewJob(record)], at: now)) == [.accepted]
        }
        #expect(isAccepted)
        await store.close()
        let again = try await SQLiteJobStore.open(options, at: now)
        #expect(try await again.claim("r", limit: 10, at: now).claims.count == 1)
        await again.close()
        #expect(log.values.allSatisfy { !$0.hasPrefix("fatal") })
    }

    @Test("Its disk is told of, and what others write to it", .enabled(if: geteuid() == 0))
    func disk() async throws {
        let disk = SmallDisk(megabytes: 12)
        guard disk.isMounted else { return }
        let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)
        var options = StoreOptions(directory: disk.scratch.path)
        options.spaceInterval = .milliseconds(1)
        let store = try await SQLiteJobStore.open(options, at: now)
        // The sweep that the daemon makes each second, of a store that nobody asks for anything.
        func sweep() async throws -> DiskSpace {
            _ = try await store.sweep(Retention(), limit: 100, at: now)
            return try #require(store.standing.disk)
        }
        var before = try await sweep()
        #expect(before.size == 12 << 20)
        #expect(before.available > 8 << 20 && before.available < 12 << 20)
        let filler = unsafe open(disk.scratch.path + "/filler", O_WRONLY | O_CREAT, 0o600)
        defer { close(filler) }
        #expect(posix_fallocate(filler, 0, 8 << 20) == 0)
        let wanted = before.available - 8 << 20
        for _ in 0..<1_000 where before.available > wanted { before = try await sweep() }
        #expect(before.available <= wanted && !store.standing.isFull)
        await store.close()
    }

    @Test(
        "An answer that finds no room leaves no file behind, however often it is tried",
        .enabled(if: geteuid() == 0)
    )
    func answers() async throws {
        let disk = SmallDisk(megabytes: 12)
        guard disk.isMounted else { return }
        let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)
        var options = StoreOptions(directory: disk.scratch.path)
        options.ballast = 1 << 20
        let store = try await SQLiteJobStore.open(options, at: now)
        let records = (1...2).map { number in
            JobRecord(
                id: JobID(milliseconds: now.wall, random: (0, number)),
                route: "r",
                method: .put,
                target: "t"
            )
        }
        _ = try await store.enqueue(records.map { NewJob($0) }, at: now)
        let claims = try await store.claim("r", limit: 2, at: now).claims
        let answers = [2 << 20, 20 << 20].map { size in
            StoredAnswer(
                status: 200,
                fields: HeaderFields(),
                body: .bytes([UInt8](repeating: 1, count: size))
            )
        }
        let settlements = zip(claims, answers).map { Settlement($0.token, .succeeded, answer: $1) }
        for _ in 0..<8 {
            await #expect { _ = try await store.settle(settlements, at: now) } throws: {
                ($0 as? StoreError)?.code == .full
            }
        }
        // Files go behind the back of whoever waits for the settlement, before the next one is made.
        let kept = try await store.settle([settlements[0]], at: now)
        #expect(kept == [.applied(.succeeded)])
        #expect(TemporaryFolder.names(disk.scratch.path + "/bodies").count == 1)
        await store.close()
    }

    @Test(
        "An operator's action erases no more at once than the log has room for, and goes on where it ended",
        arguments: [JobAction.drop, .expunge]
    )
    func actions(action: JobAction) async throws {
        let scratch = TemporaryFolder()
        let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)
        var options = StoreOptions(directory: scratch.path)
        options.ballast = 1 << 20
        let store = try await SQLiteJobStore.open(options, at: now)
        let jobs = (1...40 as ClosedRange<UInt64>).map { number in
            let id = JobID(milliseconds: now.wall, random: (0, number))
            let record = JobRecord(id: id, route: "r", method: .put, target: "t")
            return NewJob(record, body: .bytes([UInt8](repeating: 1, count: 20_000)))
        }
        _ = try await store.enqueue(jobs, at: now)
        func apply(_ action: JobAction, after cursor: JobCursor?) async throws -> ActionReport {
            try await store.apply(
                action,
                to: JobFilter(),
                limit: 500,
                after: cursor,
                at: now
            )
        }
        _ = try await apply(.cancel, after: nil)
        var changed: [Int] = []
        var cursor: JobCursor?
        repeat {
            let report = try await apply(action, after: cursor)
            changed.append(report.changed)
            cursor = report.next
        } while cursor != nil
        // A quarter of the ballast.
        #expect(changed == [14, 14, 12])
        await store.close()
    }
}
