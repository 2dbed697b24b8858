package import RelayCore
import Synchronization

/// The outcome of a request, and its hold on the relay until its answer has been passed on.
package struct Relayed: ~Copyable {
    package let outcome: Outcome
    /// Told what becomes of its content, where that was not there with its head.
    package let streamed: StreamedAnswer?
    private let hold: Hold

    init(_ outcome: Outcome, _ streamed: StreamedAnswer?, _ hold: consuming Hold) {
        self.outcome = outcome
        self.streamed = streamed
        self.hold = hold
    }

    /// The request's permit, its idempotency key and its part in the count of those under way.
    struct Hold: ~Copyable, Sendable {
        private let engine: Engine
        private let key: IdempotencyLocks.Held?
        private var permit: RouteState.Permit?

        init(_ engine: Engine, _ key: IdempotencyLocks.Held?) {
            self.engine = engine
            self.key = key
            engine.running.add(1, ordering: .relaxed)
        }

        /// Of a request that is counted already.
        init(adopting engine: Engine, _ permit: consuming RouteState.Permit) {
            self.engine = engine
            key = nil
            self.permit = consume permit
        }

        mutating func take(_ permit: consuming RouteState.Permit?) { self.permit = permit }

        deinit {
            key?.letGo()
            engine.running.subtract(1, ordering: .relaxed)
        }
    }
}
