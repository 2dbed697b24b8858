import RelayCore
package import RelayJobs
import Synchronization

/// The counts of fetches of credentials, and of notices, since the daemon started.
package final class RelayTally: Sendable {
    private let state = Mutex(Counts())

    package struct Counts: Sendable {
        /// By the credential's name.
        package var credentials: [String: Fetches] = [:]
        package var notices: [EventKind: UInt64] = [:]

        package struct Fetches: Sendable {
            package var succeeded: UInt64 = 0
            package var failed: UInt64 = 0
        }
    }

    package var counts: Counts { state.withLock { $0 } }

    /// Takes up what it is for.
    func count(_ event: JobEvent) {
        state.withLock { counts in
            switch event {
            case .credentialRefreshed(let name, _): counts.credentials[name, default: .init()].succeeded += 1
            case .credentialFailed(let name, _): counts.credentials[name, default: .init()].failed += 1
            case .notice(let kind, _, _): counts.notices[kind, default: 0] += 1
            default: break
            }
        }
    }
}
