package import RelayBase
package import RelayRoute
package import RelayTesting
import Synchronization

/// An upstream that charges cards, loses its answers, is slow to show what it did, and says what is not so.
package final class ChargedUpstream: Sendable {
    private struct State {
        var random: SplitMix64
        /// When each charge was made.
        var charges: [Instant] = []
        var asked = 0
        var denied = 0
    }

    private let state: Mutex<State>
    private let time: @Sendable () -> Instant
    /// How long a charge is not shown at most.
    private let delay: Duration
    /// Whether it says now and then that it has nothing, whatever it has done.
    private let lies: Bool

    package init(
        seed: UInt64,
        delay: Duration,
        lies: Bool = false,
        time: @escaping @Sendable () -> Instant
    ) {
        state = Mutex(State(random: SplitMix64(seed: seed)))
        (self.delay, self.lies, self.time) = (delay, lies, time)
    }

    /// How often the card was charged.
    package var charged: Int { state.withLock { $0.charges.count } }

    /// How often it was asked.
    package var asked: Int { state.withLock { $0.asked } }

    /// How often it said that it had nothing when it had charged.
    package var denied: Int { state.withLock { $0.denied } }

    /// The end of one attempt.
    package func answer(_ request: OutboundRequest) -> ScriptedTransport.Step {
        state.withLock { state in request.method == .get ? look(&state) : charge(&state) }
    }

    /// A charge whose relay crashes meanwhile.
    package func chargeForNobody() {
        state.withLock { state in if state.random.chance(50) { state.charges.append(time()) } }
    }

    private func charge(_ state: inout State) -> ScriptedTransport.Step {
        let way = state.random.below(8)
        if way >= 3 { state.charges.append(time()) }
        return switch way {
        case 0: .fail(.connectionRefused, .neverSent)
        case 1: .answer(500)
        // Lost on its way there, and on its way back.
        case 2, 3: .fail(.connectionTerminated, .unknown)
        case 4: .fail(.httpResponseTimeout, .unknown)
        case 5: .answer(500)
        case 6: .answer(504)
        default: .answer(201, [:], #"{"charge":1}"#)
        }
    }

    private func look(_ state: inout State) -> ScriptedTransport.Step {
        state.asked += 1
        switch state.random.below(10) {
        case 0: return .fail(.connectionTerminated, .unknown)
        case 1: return .answer(503)
        case 2: return .answer(200, [:], "<html>")
        case 3: return .answer(200, [:], #"{"found":true,"absent":true}"#)
        default: break
        }
        let shown = time().advanced(by: .zero - delay)
        let isLying = lies && state.random.chance(20)
        let isFound = !isLying && state.charges.contains { $0 <= shown }
        if !isFound, !state.charges.isEmpty { state.denied += 1 }
        return .answer(200, [:], isFound ? #"{"found":true}"# : #"{"absent":true}"#)
    }
}

/// A look-up by a value of the body, which tells what it finds by its content.
package func verification(
    settleAfter: Duration = .seconds(1),
    _ path: String = "charges?reference={json:/reference}"
) -> Verification {
    func answer(_ name: String) -> SuccessRule {
        var rule = SuccessRule()
        rule.require = [BodyCheck(pointer: pointer("/\(name)"), condition: .exists(true))]
        return rule
    }
    guard var made = try? Verification(path: path, found: answer("found"), absent: answer("absent")) else {
        preconditionFailure("a bad path in a test")
    }
    made.settleAfter = settleAfter
    return made
}
