import Dispatch
import Glibc
import Synchronization

/// Runs worlds on a few threads, each on one thread from its first moment to its last; the first broken promise ends it.
final class Workers: Sendable {
    private struct State {
        var next = 0
        var results: [Int: SeededWorlds.Result] = [:]
        var isOver = false
    }

    private let worlds: SeededWorlds
    private let orders: [SeededWorlds.Order]
    private let deadline: Int64?
    private let state = Mutex(State())

    init(_ worlds: SeededWorlds, _ orders: [SeededWorlds.Order], seconds: Int?) {
        (self.worlds, self.orders) = (worlds, orders)
        deadline = seconds.map { monotonicNanoseconds() + Int64($0) * 1_000_000_000 }
    }

    func run(threads: Int) -> [SeededWorlds.Result] {
        DispatchQueue.concurrentPerform(iterations: threads) { _ in goOn() }
        return state.withLock { $0.results }.sorted { $0.key < $1.key }.map(\.value)
    }

    private func goOn() {
        while let number = next() {
            let result = worlds.run(orders[number])
            state.withLock { state in
                state.results[number] = result
                if result.violation != nil { state.isOver = true }
            }
        }
    }

    private func next() -> Int? {
        if let deadline, monotonicNanoseconds() >= deadline { return nil }
        return state.withLock { state in
            guard !state.isOver, state.next < orders.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }
}

func monotonicNanoseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}
