import Synchronization

/// Since when a thread has been at its present operation, for a supervisor on another one.
///
/// Costs the thread a relaxed store where an operation begins and one where it ends.
package final class Activity: Sendable {
    /// For a record when the operation takes too long: `loop-0`, `store`.
    package let name: String
    /// Monotonic nanoseconds; zero between operations.
    private let began = Atomic<Int64>(0)

    package init(_ name: String) { self.name = name }

    /// The thread takes something up, at that moment of the monotonic clock.
    package func begin(at now: Int64) { began.store(now, ordering: .relaxed) }

    /// The thread takes something up now.
    package func begin() { begin(at: SystemClock.monotonic()) }

    /// The thread waits for work.
    package func end() { began.store(0, ordering: .relaxed) }

    /// Nanoseconds that the present operation has lasted at `now`; zero between operations.
    package func duration(at now: Int64) -> Int64 {
        let began = began.load(ordering: .relaxed)
        return began == 0 ? 0 : max(0, now - began)
    }
}
