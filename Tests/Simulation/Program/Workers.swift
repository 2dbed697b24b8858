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
        self.isLast = isLast
        self.work = work
        state = Mutex(State(next: numbers.lowerBound))
    }

    func run(threads: Int) -> [Result] {
        let others = (1..<max(1, threads)).map { _ in startThread { [self] in goOn() } }
        goOn()
        for thread in others { pthread_join(thread, nil) }
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

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func startThread(_ run: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    unsafe pthread_create(
        &thread,
        nil,
        { pointer in
            guard let pointer = unsafe pointer else { return nil }
            unsafe Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().run()
            return nil
        },
        Unmanaged.passRetained(ThreadBody(run)).toOpaque()
    )
    return thread
}
