import Glibc
import RelayBase
import RelayJobs
import RelayTestSupport
import Synchronization
import Testing

@testable import RelayStore

@Suite("A store whose files were taken away acknowledges nothing till they are back", .timeLimit(.minutes(5)))
struct GoneTests {
    private let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)

    private func job(_ number: UInt64) -> NewJob {
        let id = JobID(milliseconds: now.wall, random: (0, number))
        return NewJob(JobRecord(id: id, route: "r", method: .put, target: "t"))
    }

    enum Loss: CaseIterable, Sendable {
        case removed, replaced, movedDirectory
    }

    @Test("No job is accepted and none is claimed", arguments: ["jobs.db", "jobs.db-wal"], Loss.allCases)
    func gone(file: String, loss: Loss) async throws {
        let scratch = TemporaryFolder()
        let directory = scratch.path + "/state"
        unsafe _ = mkdir(directory, 0o700)
        let log = Notes<String>()
        var options = StoreOptions(directory: directory)
        options.ballast = 0
        options.events.notice = { log.add([$0]) }
        options.events.relief = options.events.notice
        let store = try await SQLiteJobStore.open(options, at: now)
        #expect(try await store.enqueue([job(1)], at: now) == [.accepted])
        #expect(!store.standing.isGone && log.values.isEmpty)
        let (path, aside) = (directory + "/" + file, scratch.path + "/aside")
        switch loss {
        case .removed: unsafe _ = rename(path, aside)
        case .replaced:
            unsafe _ = rename(path, aside)
            close(unsafe open(path, O_WRONLY | O_CREAT, 0o600))
        case .movedDirectory: unsafe _ = rename(directory, aside)
        }
        for _ in 0..<2 {
            await #expect { _ = try await store.enqueue([job(2)], at: now) } throws: {
                ($0 as? StoreError)?.code == .gone
            }
            await #expect { _ = try await store.claim("r", limit: 1, at: now) } throws: {
                ($0 as? StoreError)?.code == .gone
            }
        }
        #expect(store.standing.isGone)
        #expect(log.values.count == 1 && log.values[0].contains("removed or replaced"))

        unsafe _ = rename(aside, loss == .movedDirectory ? directory : path)
        #expect(try await store.enqueue([job(3)], at: now) == [.accepted])
        #expect(!store.standing.isGone && log.values.count == 2)
        #expect(try await store.claim("r", limit: 9, at: now).claims.count == 2)
        await store.close()
    }

    @Test("A store is open when all that use its files have them")
    func opened() throws {
        // The store's reader is made so; one that came late would find what stands at the path by then.
        let isMade = Mutex(false)
        let thread = try WorkerThread<Void>(waiting: "late") { isMade.withLock { $0 = true } }
        #expect(isMade.withLock { $0 })
        thread.end()
        #expect(throws: StoreError.self) {
            _ = try WorkerThread<Void>(waiting: "failing") { () throws(StoreError) in throw .closed }
        }
    }

    @Test("A file that goes while a job is written takes its acknowledgement with it")
    func meanwhile() async throws {
        let scratch = TemporaryFolder()
        var options = StoreOptions(directory: scratch.path)
        options.ballast = 0
        // Told of in the transaction that writes, before it is on disk.
        let path = scratch.path + "/jobs.db"
        let store = try await SQLiteJobStore.open(options, at: now)
        await #expect { () async throws in
            _ = try await store.write(.accept, weight: 1) { writer throws(StoreError) in
                unsafe _ = unlink(path)
                return try writer.enqueue([OfferedJob(self.job(1))], at: self.now)
            }
        } throws: { ($0 as? StoreError)?.code == .gone }
        await store.close()
    }
}
