package import RelayBase
import RelayRoute

/// The way of a connection that was made to look at it: each step with its time, up to the one that failed.
package struct DialReport: Sendable {
    package enum Step: Sendable {
        case name
        /// Whether the addresses may be dialled.
        case rules
        case connect
        case tls
        case pins
    }

    package internal(set) var steps: [(step: Step, time: Duration)] = []
    /// The addresses of the name, or the one that stands in its place.
    package internal(set) var addresses: [String] = []
    /// How many of them may be dialled.
    package internal(set) var permitted = 0
    /// The address that was connected to last.
    package internal(set) var address: String?
    /// The failures of addresses that led nowhere.
    package internal(set) var faults: [String] = []
    /// Nil where there was no handshake, or it failed.
    package internal(set) var certificate: CertificateFacts?
    /// Whether no pinned key is in the chain, and the pins only report.
    package internal(set) var missedPins = false
    /// Why the last of the steps failed; nil where the connection stands.
    package internal(set) var failure: Failure?
}

/// A report while it is written; confined to the connection's loop.
final class DialRecord {
    var report = DialReport()
    private var began: Int64 = 0

    func enter(_ step: DialReport.Step, now: Int64) {
        close(now)
        report.steps.append((step, .zero))
        began = now
    }

    func finish(_ outcome: ExchangeOutcome, now: Int64) {
        close(now)
        let exchange: Exchange?
        switch outcome {
        case .answer(let answer): exchange = answer.exchange
        case .failure(let failure), .closed(let failure):
            report.failure = failure
            exchange = failure.exchange
        case .stale: exchange = nil
        }
        report.address = exchange?.address
        report.missedPins = exchange?.missedPins ?? false
    }

    /// The step at hand is over.
    private func close(_ now: Int64) {
        guard let last = report.steps.indices.last else { return }
        report.steps[last].time = .nanoseconds(now &- began)
    }
}
