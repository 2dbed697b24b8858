import Dispatch
import Glibc
import Synchronization

/// Numbered pieces of work on a few threads, each on one thread from its first moment to its last; the first whose result
/// is to be the last ends it.
final class Workers<Result: Sendable>: Sendable {
    private struct State {
        var next: Int
        var results: [Int: Result] = [:]
        var isOver = false
    }

    private let end: Int
    private let deadline: Int64?
    private let isLast: @Sendable (Result) -> Bool
    private let work: @Sendable (Int) -> Result
    private let state: Mutex<State>

    init(
        _ numbers: Range<Int>,
        seconds: Int? = nil,
        isLast: @escaping @Sendable (Result) -> Bool,
        work: @escaping @Sendable (Int) -> Result
    ) {
        end = numbers.upperBound
        deadline = seconds.map { monotonicNanoseconds() + Int64($0) * 1_000_000_000 }
        (self.isLast, self.work) = (isLast, work)
        state = Mutex(State(next: numbers.lowerBound))
    }

    func run(threads: Int) -> [Result] {
        DispatchQueue.concurrentPerform(iterations: max(1, threads)) { _ in goOn() }
        return state.withLock { $0.results }.sorted { $0.key < $1.key }.map(\.value)
    }

    private func goOn() {
        while let number = next() {
            let result = work(number)
            state.withLock { state in
                state.results[number] = result
                if isLast(result) { state.isOver = true }
            }
        }
    }

    private func next() -> Int? {
        if let deadline, monotonicNanoseconds() >= deadline { return nil }
        return state.withLock { state in
            guard !state.isOver, state.next < end else { return nil }
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
