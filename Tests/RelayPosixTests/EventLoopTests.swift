import RelayPosix
import Synchronization
import Testing

@Suite("The event loop", .timeLimit(.minutes(5)))
struct EventLoopTests {
    @Test("A spawned task runs on the loop's thread, and comes back to it after each await")
    func spawnedTaskStaysOnTheLoop() async throws {
        let loop = try EventLoop.start(name: "test")
        let wasOnLoop = Mutex<[Bool]>([])
        await loop.spawn {
            wasOnLoop.withLock { $0.append(loop.isCurrent) }
            try? await loop.sleep(until: loop.currentTime() + 1_000_000)
            wasOnLoop.withLock { $0.append(loop.isCurrent) }
            await Elsewhere().visit()
            wasOnLoop.withLock { $0.append(loop.isCurrent) }
        }.value
        #expect(wasOnLoop.withLock { $0 } == [true, true, true])
        #expect(!loop.isCurrent)
        loop.stop()
    }

    @Test("Work handed over by many threads is all done, on the loop")
    func executeFromManyThreads() async throws {
        let loop = try EventLoop.start(name: "test")
        let done = Tally()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        loop.execute {
                            precondition(loop.isCurrent)
                            done.count.wrappingAdd(1, ordering: .relaxed)
                        }
                    }
                }
            }
        }
        // Work that was handed over before is done before this.
        await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
        let count = done.count.load(ordering: .relaxed)
        #expect(count == 4_000)
        loop.stop()
    }

    @Test("Sleepers wake in the order of their deadlines, not of their start, and none early")
    func sleepersWakeInOrder() async throws {
        let loop = try EventLoop.start(name: "test")
        let order = Mutex<[Int]>([])
        let early = Tally()
        let start = loop.currentTime()
        let tasks = [5, 1, 4, 2, 3].map { number in
            loop.spawn {
                let deadline = start + Int64(number) * 8_000_000
                try? await loop.sleep(until: deadline)
                if loop.currentTime() < deadline { early.count.wrappingAdd(1, ordering: .relaxed) }
                order.withLock { $0.append(number) }
            }
        }
        for task in tasks { await task.value }
        #expect(order.withLock { $0 } == [1, 2, 3, 4, 5])
        let count = early.count.load(ordering: .relaxed)
        #expect(count == 0)
        loop.stop()
    }

    @Test("A cancelled sleeper wakes at once, cancelled from another thread, from the loop, or beforehand")
    func sleepersAreCancelled() async throws {
        let loop = try EventLoop.start(name: "test")
        let outcomes = Mutex<[Bool]>([])
        let sleep: @Sendable () async -> Void = {
            do throws(CancellationError) {
                try await loop.sleep(until: .max)
                outcomes.withLock { $0.append(true) }
            } catch {
                outcomes.withLock { $0.append(false) }
            }
        }
        let fromOutside = loop.spawn(sleep)
        await loop.spawn {}.value
        fromOutside.cancel()
        await fromOutside.value
        let fromInside = loop.spawn(sleep)
        await loop.spawn { fromInside.cancel() }.value
        await fromInside.value
        let beforehand = loop.spawn {
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            await sleep()
        }
        await beforehand.value
        #expect(outcomes.withLock { $0 } == [false, false, false])
        loop.stop()
    }

    @Test("The heartbeat moves with the loop's turns")
    func heartbeatMoves() async throws {
        let loop = try EventLoop.start(name: "test")
        let before = loop.heartbeat
        for _ in 0..<3 {
            await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
        }
        #expect(loop.heartbeat >= before + 3)
        loop.stop()
    }

    @Test("Stopping twice, and from the loop itself, ends the loop once")
    func stopsOnce() async throws {
        let loop = try EventLoop.start(name: "test")
        await loop.spawn { loop.stop() }.value
        loop.stop()
        loop.stop()
    }

    @Test("A loop-bound value used on another thread ends the process instead of racing")
    func loopBoundTraps() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop.start(name: "test")
            let box = await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: LoopBound(Unshared(), loop)) }
            }
            box.value.count += 1
        }
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop.start(name: "test")
            _ = LoopBound(Unshared(), loop)
        }
    }

    @Test("A loop-bound value used on its loop is the value")
    func loopBoundWorks() async throws {
        let loop = try EventLoop.start(name: "test")
        let count = await withCheckedContinuation { continuation in
            loop.execute {
                let box = LoopBound(Unshared(), loop)
                loop.execute {
                    box.value.count += 1
                    continuation.resume(returning: box.value.count)
                }
            }
        }
        #expect(count == 1)
        loop.stop()
    }
}

private final class Tally: Sendable {
    let count = Atomic<Int>(0)
}

private final class Unshared {
    var count = 0
}

private actor Elsewhere {
    func visit() {}
}
