package import RelayCore
import Synchronization

/// How long a caller waits for the disk.
package struct Patience: Sendable {
    let ports: RelayPorts
    /// What is left of it.
    private(set) var limit: Duration

    /// Within five seconds the caller has its answer, or within the shorter time that it gives its request.
    private static let longest = Duration.seconds(4)

    package init(_ ports: RelayPorts, _ options: JobOptions) {
        self.ports = ports
        limit = min(Self.longest, (options.timeout ?? Self.longest) * 9 / 10)
    }

    package init(_ ports: RelayPorts, atMost limit: Duration) {
        self.ports = ports
        self.limit = limit
    }

    /// What a disk that works takes for one piece at most; only what lasts longer uses patience up.
    private static let usual = Duration.milliseconds(250)

    /// What `work`, one of several waits, returns, or nil when the patience is over first; the work then goes on with
    /// nobody to wait for it.
    package mutating func wait<Value: Sendable>(
        for work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let began = ports.time.now()
        let value = await wait(for: begin(work))
        let took = began.duration(to: ports.time.now())
        if value == nil || took > Patience.usual { limit = max(.zero, limit - took) }
        return value
    }

    /// Has the store write what somebody asks for.
    ///
    /// - Throws: what `work` throws; `storage_stalled` when the time is over first, and at once when a write has lasted
    ///   too long already. What has begun then goes on all the same.
    package func write<Value: Sendable>(
        in store: any JobStore,
        _ work: @escaping @Sendable () async throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        if Patience.isOver(store, ports.time) { throw Problem.stalled(hasBegun: false) }
        let pending = begin { () async -> Swift.Result<Value, Problem> in
            do throws(Problem) { return .success(try await work()) } catch { return .failure(error) }
        }
        guard let outcome = await wait(for: pending) else { throw Problem.stalled(hasBegun: true) }
        return try outcome.get()
    }

    /// Begins work that nobody can cancel.
    func begin<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Pending<Value> {
        let pending = Pending<Value>()
        _ = ports.start { pending.give(await work()) }
        return pending
    }

    func wait<Value: Sendable>(for pending: Pending<Value>) async -> Value? {
        let deadline = ports.time.now().advanced(by: limit)
        let timer = ports.start { [time = ports.time] in
            do throws(CancellationError) {
                try await time.expire(at: deadline)
            } catch { return }
            pending.giveUp()
        }
        defer { timer.cancel() }
        return await pending.value()
    }

    /// Whether a write has lasted so long already that nobody should begin to wait for the next.
    static func isOver(_ store: any JobStore, _ time: any ClockSource) -> Bool {
        store.writing(at: time.now()) >= .seconds(3)
    }
}

/// The outcome of work for one who may stop to wait for it.
final class Pending<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiter: CheckedContinuation<Value?, Never>?
    }

    private let state = Mutex(State())

    func give(_ value: Value) {
        let waiter = state.withLock { state in
            state.value = value
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: value)
    }

    /// Resumes who waits with nothing.
    func giveUp() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: nil)
    }

    func value() async -> Value? {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state in
                if state.value == nil { state.waiter = continuation }
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
