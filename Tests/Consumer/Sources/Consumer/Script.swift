import RelayKit
import Synchronization

// A script that answers without a socket: to be that of RelayTesting once there is one.

/// Answers from a script, in order, and keeps what it was asked to send.
final class Script: Transport {
    enum Step: Sendable {
        case answer(Status, KeyValuePairs<String, String> = [:], String = "")
        case fail(FailureKind, Sent)
    }

    private struct State {
        var steps: [Step]
        var sent: [OutboundRequest] = []
    }

    private let state: Mutex<State>

    init(_ steps: [Step]) { state = Mutex(State(steps: steps)) }

    /// Every attempt so far.
    var sent: [OutboundRequest] { state.withLock { $0.sent } }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        let step = state.withLock { state in
            state.sent.append(request)
            return state.steps.isEmpty ? .fail("script_over", .neverSent) : state.steps.removeFirst()
        }
        switch step {
        case .fail(let kind, let sent): throw Failure(kind, sent: sent, "the script says so")
        case .answer(let status, let headers, let text):
            var fields = HeaderFields()
            for (name, value) in headers { fields.append(name, value) }
            let response = HTTPResponse(status: status, fields: fields, body: .bytes(Array(text.utf8)))
            return InboundResponse(response: response, exchange: Exchange())
        }
    }
}

/// A clock on which waiting takes no time: whoever sleeps moves it.
final class JumpingTime: TimeSource {
    private struct State {
        var now = Instant(nanoseconds: 0)
        var waits: [Duration] = []
    }

    private let state = Mutex(State())

    /// Every wait so far, in order.
    var waits: [Duration] { state.withLock { $0.waits } }

    func now() -> Instant { state.withLock { $0.now } }

    func wallMilliseconds() -> Int64 { 1_800_000_000_000 + now().nanoseconds / 1_000_000 }

    func sleep(until deadline: Instant) async throws(CancellationError) {
        if Task.isCancelled { throw CancellationError() }
        state.withLock { state in
            state.waits.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
        }
    }

    func expire(at deadline: Instant) async throws(CancellationError) {
        // Bounds something else that is awaited, which cancels it: the clock must not move for this.
        do {
            try await Task.sleep(for: .seconds(3600))
        } catch {
            throw CancellationError()
        }
    }
}

/// Numbers that repeat in every run (a linear congruential generator; Knuth's MMIX).
final class CountedEntropy: Entropy {
    private let state = Mutex<UInt64>(1)

    func next() -> UInt64 {
        state.withLock { state in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state
        }
    }
}

/// A service that the script answers, and on which waiting takes no time.
func scripted(
    _ policy: RoutePolicy,
    _ steps: [Script.Step],
    credentials: [CredentialDefinition] = [],
    preparation: [any PreparationStrategy] = [],
    observers: [any AttemptObserver] = [],
    isConstrained: @escaping @Sendable () -> Bool = { false }
) throws(Refusal) -> (service: RelayService, script: Script, time: JumpingTime) {
    let script = Script(steps)
    let time = JumpingTime()
    let service = try RelayService(
        policy,
        transport: script,
        time: time,
        entropy: CountedEntropy(),
        credentials: credentials,
        preparation: preparation,
        observers: observers,
        isConstrained: isConstrained
    )
    return (service, script, time)
}
