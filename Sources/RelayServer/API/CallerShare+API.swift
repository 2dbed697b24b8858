import RelayBase
import RelayCore
import RelayEngine
import RelayRoute

extension CallerShare {
    /// Takes a turn by the rate for what is asked of the API; a document that brings jobs has one for each of them.
    ///
    /// - Throws: `rate_limited`.
    func pass(_ call: APICall, _ limits: CallerLimits, _ now: @autoclosure () -> Instant) throws(Problem) {
        guard let rate = limits.rate, !call.bringsJobs, let wait = pass(rate, now()) else { return }
        throw Problem(.rate, of: self, limits, retryAfter: wait)
    }
}

extension APICall {
    fileprivate var bringsJobs: Bool {
        switch resource {
        case .stream: true
        case .jobs: method == .post
        default: false
        }
    }
}
