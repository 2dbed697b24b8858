import Glibc
import Synchronization

/// Many worlds of one kind, a seed each, on a few threads; each world on one thread from its first moment to its last.
final class SeededBatch: Sendable {
    struct Result: Sendable {
        let seed: UInt64
        let jobs: Int
        let hash: UInt64
        let virtualTime: Int64
        let coverage: [String: Int]
        let violation: Violation?
    }

    private struct State {
        var next: UInt64
        var results: [UInt64: Result] = [:]
        var isOver = false
    }

    private let last: UInt64
    private let world: @Sendable (UInt64) -> Result
    private let end: Int64?
    private let state: Mutex<State>

    init(
        seeds: ClosedRange<UInt64>,
        seconds: Int? = nil,
        _ world: @escaping @Sendable (UInt64) -> Result
    ) {
        last = seeds.upperBound
        self.world = world
        end = seconds.map { Batch.clock() + Int64($0) * 1_000_000_000 }
        state = Mutex(State(next: seeds.lowerBound))
    }

    /// The results in the order of the seeds, up to the first broken promise.
    func run(threads: Int) -> [Result] {
        let others = (1..<max(1, threads)).map { _ in
            var thread = pthread_t()
            let batch = unsafe Unmanaged.passRetained(self)
            unsafe pthread_create(
                &thread,
                nil,
                { pointer in
                    guard let pointer = unsafe pointer else { return nil }
                    unsafe Unmanaged<SeededBatch>.fromOpaque(pointer).takeRetainedValue().work()
                    return nil
                },
                unsafe batch.toOpaque()
            )
            return thread
        }
        work()
        for thread in others { pthread_join(thread, nil) }
        return state.withLock { $0.results }.sorted { $0.key < $1.key }.map(\.value)
    }

    private func work() {
        while let seed = next() {
            let result = world(seed)
            state.withLock { state in
                state.results[seed] = result
                if result.violation != nil { state.isOver = true }
            }
        }
    }

    private func next() -> UInt64? {
        if let end, Batch.clock() >= end { return nil }
        return state.withLock { state in
            guard !state.isOver, state.next <= last else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }
}
