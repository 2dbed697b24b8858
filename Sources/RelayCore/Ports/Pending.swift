package import RelayBase
import Synchronization

extension RelayPorts {
    /// Begins work that nobody can cancel.
    package func begin<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Pending<Value> {
        let pending = Pending<Value>()
        _ = start { pending.give(await work()) }
        return pending
    }

    /// The outcome of the work, or nil at `deadline`; the work then goes on with nobody to wait for it.
    package func wait<Value: Sendable>(for pending: Pending<Value>, by deadline: Instant) async -> Value? {
        let timer = start { [time] in
            guard (try? await time.expire(at: deadline)) != nil else { return }
            pending.giveUp()
        }
        defer { timer.cancel() }
        return await pending.value()
    }
}

/// The outcome of work for one who may stop to wait for it.
package final class Pending<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var isGivenUp = false
        var waiter: CheckedContinuation<Value?, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    package func give(_ value: Value) {
        let waiter = state.withLock { state in
            state.value = value
            return state.waiter.take()
        }
        waiter?.resume(returning: value)
    }

    /// Forgets the value, where the work is done again and again.
    package func reset() { state.withLock { ($0.value, $0.isGivenUp) = (nil, false) } }

    /// The waiter goes on with nothing; without one, the next that would wait does.
    package func giveUp() {
        let waiter = state.withLock { state in
            state.isGivenUp = state.waiter == nil
            return state.waiter.take()
        }
        waiter?.resume(returning: nil)
    }

    package func value() async -> Value? {
        await withCheckedContinuation { continuation in
            let end: Value?? = state.withLock { state in
                defer { state.isGivenUp = false }
                if state.value != nil || state.isGivenUp { return .some(state.value) }
                state.waiter = continuation
                return nil
            }
            if let end { continuation.resume(returning: end) }
        }
    }

    package func valueUnlessCancelled() async -> Value? {
        await withTaskCancellationHandler {
            await value()
        } onCancel: {
            giveUp()
        }
    }
}

extension Result {
    /// The outcome of the work.
    package init(of work: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
