package import RelayBase
package import RelayCore
package import RelayJobs
import Synchronization

/// How long a caller waits for the disk.
package struct StorageDeadline: Sendable {
    let ports: RelayPorts
    /// The time that is left of it.
    private(set) var limit: Duration

    /// Within five seconds the caller has its answer, or within the shorter time that it gives its request.
    private static let longest = Duration.seconds(4)
    /// Of who gives its request no time: nearly everybody, and divisions of durations are long ones.
    private static let usualLimit = longest * 9 / 10

    package init(_ ports: RelayPorts, _ options: JobOptions) {
        self.ports = ports
        limit = options.timeout.map { min(Self.longest, $0 * 9 / 10) } ?? Self.usualLimit
    }

    package init(_ ports: RelayPorts, atMost limit: Duration) {
        self.ports = ports
        self.limit = limit
    }

    /// The patience that is left to a caller that has waited since `began`; at least `least`.
    package func left(since began: Instant, atLeast least: Duration = .zero) -> StorageDeadline {
        StorageDeadline(ports, atMost: max(least, limit - began.duration(to: ports.time.now())))
    }

    /// The time that a disk that works takes for one piece at most; only a longer wait uses patience up.
    private static let usual = Duration.milliseconds(250)

    /// The result of `work`, one of several waits, or nil when the patience is over first; the work then goes on with
    /// nobody to wait for it.
    ///
    /// - Throws: what `work` throws.
    package mutating func wait<Value: Sendable, Doubt: Error>(
        for work: @escaping @Sendable () async throws(Doubt) -> Value
    ) async throws(Doubt) -> Value? {
        let began = ports.time.now()
        let outcome = await wait(for: ports.begin { await Result(of: work) })
        let took = began.duration(to: ports.time.now())
        if outcome == nil || took > StorageDeadline.usual { limit = max(.zero, limit - took) }
        return try outcome?.get()
    }

    /// Has the store write what somebody asks for.
    ///
    /// - Throws: what `work` throws; `storage_stalled` when the time is over first, and at once when a write has lasted
    ///   too long already. Work that has begun then goes on all the same.
    package func write<Value: Sendable>(
        in store: any JobStore,
        _ work: @escaping @Sendable () async throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        if StorageDeadline.isOver(store, ports.time) { throw Problem.stalled(hasBegun: false, store) }
        let pending = ports.begin { await Result(of: work) }
        guard let outcome = await wait(for: pending) else { throw Problem.stalled(hasBegun: true, store) }
        return try outcome.get()
    }

    func wait<Value: Sendable>(for pending: Pending<Value>) async -> Value? {
        await ports.wait(for: pending, by: ports.time.now().advanced(by: limit))
    }

    /// Whether a write has lasted so long already that nobody should begin to wait for the next.
    static func isOver(_ store: any JobStore, _ time: any ClockSource) -> Bool {
        store.writing(at: time.now()) >= .seconds(3)
    }
}
