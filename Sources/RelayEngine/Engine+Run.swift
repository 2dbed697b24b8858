package import RelayCore
import Synchronization

/// What became of a request, and what it holds of the relay until its answer has been passed on.
package struct Relayed: ~Copyable, Sendable {
    package let outcome: Outcome
    private let hold: Hold

    fileprivate init(_ outcome: Outcome, _ hold: consuming Hold) {
        self.outcome = outcome
        self.hold = hold
    }

    /// The request's permit, its idempotency key and its part in the count of those under way.
    fileprivate struct Hold: ~Copyable, Sendable {
        private let engine: Engine
        private let key: KeysUnderWay.Held?
        private var permit: RouteState.Permit?

        init(_ engine: Engine, _ key: KeysUnderWay.Held?) {
            self.engine = engine
            self.key = key
            engine.running.add(1, ordering: .relaxed)
        }

        mutating func take(_ permit: consuming RouteState.Permit?) { self.permit = permit }

        deinit {
            key?.letGo()
            engine.running.subtract(1, ordering: .relaxed)
        }
    }
}

extension Engine {
    /// Runs an admitted request to its one outcome.
    ///
    /// `turn` is that of a job of a stream.
    package func run(
        _ admission: Admission,
        body: Body,
        relay: Relay,
        turn: AnswerTurn? = nil
    ) async -> Relayed {
        var hold = Relayed.Hold(self, admission.key)
        let began = relay.ports.time.now()
        switch admission.state.enter() {
        case .permitted(let permit): hold.take(permit)
        case .full: return Relayed(refused(admission, overloaded(admission), relay), hold)
        case .queued(let turn):
            let deadline = began.advanced(by: admission.total)
            await wait(turn, by: deadline, relay.ports.time)
            guard let permit = turn.take() else {
                let failure = missed()
                return Relayed(refused(admission, failure, relay), hold)
            }
            hold.take(permit)
        }
        let outcome = await relay.perform(
            admission.request(body),
            context: admission.context,
            vault: admission.snapshot.vault,
            since: began,
            turn: turn
        )
        if let failure = outcome.failure, failure.kind == .cancelled, failure.sent == .unknown {
            cutOff.add(1, ordering: .relaxed)
        }
        return Relayed(outcome, hold)
    }

    @inline(never)
    private func refused(_ admission: Admission, _ failure: Failure, _ relay: Relay) -> Outcome {
        let outcome = Outcome(admission.context, failure)
        relay.ports.sink.record(.ended(outcome.report))
        return outcome
    }

    private func overloaded(_ admission: Admission) -> Failure {
        var failure = Failure(
            .overloaded,
            sent: .neverSent,
            "the route has \(admission.route.policy.concurrency.maxRequests) requests under way and no room"
                + " for another to wait (concurrency)"
        )
        failure.retryAfter = .seconds(1)
        return failure
    }

    /// Waits for a permit; the wait counts against the job's time.
    @inline(never)
    private func wait(_ turn: RouteState.Turn, by deadline: Instant, _ time: any TimeSource) async {
        _ = await cancelling(at: deadline, time) { await turn.wait() }
    }

    /// Why there is no permit at the end of the wait for it.
    private func missed() -> Failure {
        if Task.isCancelled { return Failure(.cancelled, sent: .neverSent, "the caller hung up") }
        return Failure(
            .deadlineExceeded,
            sent: .neverSent,
            "no permit of the route was free before the deadline (concurrency)"
        )
    }
}
