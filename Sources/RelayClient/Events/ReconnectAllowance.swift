import RelayBase

/// How often a client asks again that waits for something at a relay which may stop meanwhile.
struct ReconnectAllowance {
    private let clock: ClientClock
    private var failures = 0
    private var wasReached = false

    init(_ clock: ClientClock) { self.clock = clock }

    /// Anything but an error came back.
    mutating func wasAnswered() {
        wasReached = true
        failures = 0
    }

    /// Whether to ask again after `error`: not before the relay has answered once, and not after a refusal.
    mutating func forgives(_ error: RelayClientError) -> Bool {
        switch error.code {
        case .notReachable, .connectionLost, .timedOut, .tooManyRequests: break
        case .refused where error.problem?.status == 503: break
        case .refused, .notAllowed, .invalidRequest, .invalidResponse, .responseTooLarge, .shutDown,
            .cancelled:
            return false
        }
        failures += 1
        return wasReached
    }

    /// 100, 200, 400 … 5000 ms after so many failures in a row, and 100 ms after none.
    var pause: Duration { .milliseconds(min(5_000, 100 << min(failures, 10))) }

    /// - Throws: `cancelled` when the task is.
    func sleep(
        atLeast told: Duration = .zero,
        atMost limit: Duration = .seconds(5)
    ) async throws(RelayClientError) {
        do {
            try await clock.sleep(min(max(pause, told), limit))
        } catch {
            throw RelayClientError(.cancelled, "the wait was cancelled", sent: .neverSent)
        }
    }
}
