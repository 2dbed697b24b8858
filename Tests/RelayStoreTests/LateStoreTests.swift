import Glibc
import RelayBase
import RelayJobs
import RelayStore
import RelayTestSupport
import Testing

@Suite("A store that a full disk keeps from being opened comes later", .timeLimit(.minutes(5)))
struct LateStoreTests {
    private let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)

    private func job(_ number: UInt64, _ size: Int = 0) -> NewJob {
        let id = JobID(milliseconds: now.wall, random: (0, number))
        let record = JobRecord(id: id, route: "r", method: .put, target: "t")
        return NewJob(record, body: .bytes([UInt8](repeating: 1, count: size)))
    }

    private func options(_ disk: SmallDisk) -> StoreOptions {
        var options = StoreOptions(directory: disk.path)
        options.spaceInterval = .milliseconds(1)
        return options
    }

    @Test(
        "Until there is room every call is refused as by a full store; then it is open, with all it had",
        .enabled(if: geteuid() == 0),
        arguments: [true, false]
    )
    func late(hasStore: Bool) async throws {
        let disk = SmallDisk(megabytes: 12)
        guard disk.isMounted else { return }
        if hasStore {
            let before = try await SQLiteJobStore.open(options(disk), at: now)
            #expect(try await before.enqueue([job(1, 20_000)], at: now) == [.accepted])
            await before.close()
            unsafe _ = unlink(disk.path + "/ballast")
        }
        disk.fill()
        let store = try await LateJobStore.open(options(disk), at: now)
        #expect(store.store == nil && store.refusal?.code == .full && store.standing.isFull)
        await #expect { _ = try await store.enqueue([job(2)], at: now) } throws: {
            ($0 as? StoreError)?.code == .full
        }
        await #expect {
            _ = try await store.jobs(JobFilter(), order: .newestFirst, limit: 1, after: nil)
        } throws: {
            ($0 as? StoreError)?.code == .full
        }
        #expect(try await !store.tryOpening(at: now))
        disk.clear()
        #expect(try await store.tryOpening(at: now))
        #expect(store.refusal == nil && !store.standing.isFull)
        #expect(try await store.enqueue([job(2)], at: now) == [.accepted])
        #expect(try await store.claim("r", limit: 9, at: now).claims.count == (hasStore ? 2 : 1))
        await store.close()
    }

    @Test("One that is closed before it was open stays closed", .enabled(if: geteuid() == 0))
    func closed() async throws {
        let disk = SmallDisk(megabytes: 12)
        guard disk.isMounted else { return }
        disk.fill()
        let store = try await LateJobStore.open(options(disk), at: now)
        await store.close()
        disk.clear()
        await #expect(throws: StoreError.closed) { _ = try await store.tryOpening(at: now) }
        await #expect(throws: StoreError.closed) { _ = try await store.enqueue([job(1)], at: now) }
    }

    @Test(
        "A store that was full accepts where another start would, and refuses where that would",
        .enabled(if: geteuid() == 0),
        arguments: [true, false]
    )
    func again(hasRoom: Bool) async throws {
        let disk = SmallDisk(megabytes: 24)
        guard disk.isMounted else { return }
        let store = try await SQLiteJobStore.open(options(disk), at: now)
        var number: UInt64 = 0
        var moment = now
        func isAccepted(by store: SQLiteJobStore) async throws -> Bool {
            number += 1
            moment.steady += 10
            moment.wall += 10
            // The daemon does so each second, and goes on where the disk is too full for it.
            do throws(StoreError) { _ = try await store.sweep(Retention(), limit: 100, at: moment) } catch {
                #expect(error.code == .full)
            }
            return (try? await store.enqueue([job(number, 20_000)], at: moment)) == [.accepted]
        }
        disk.fill()
        try await until { try await !isAccepted(by: store) }
        // An eighth of the disk is the store's, for what has to be written all the same.
        disk.fill(leaving: hasRoom ? 3_700_000 : 3_000_000)
        var isOpen = false
        for _ in 0..<100 where !isOpen { isOpen = try await isAccepted(by: store) }
        #expect(isOpen == hasRoom)
        await store.close()
        // The bytes that the first store has written are beside the point.
        unsafe _ = unlink(disk.path + "/ballast")
        disk.fill(leaving: hasRoom ? 3_700_000 : 3_000_000)
        let second = try await SQLiteJobStore.open(options(disk), at: moment)
        #expect(try await isAccepted(by: second) == hasRoom)
        await second.close()
    }
}
