import RelayBase
import RelayCore
import RelayInterface
package import RelayJobs

/// The caller's wishes for a job that is kept on disk.
package struct DurableOptions: Sendable {
    package var due = NewJob.Due.now
    /// Nil leaves it at the route's.
    package var expiresAfter: Duration?
    /// RFC 9218 urgency: 0 first, 7 last.
    package var priority: UInt8 = 3
    package var orderingKey: String?
    package var supersedeKey: String?
    package var idempotencyKey: String?
    /// How long the caller waits for the real answer before it takes 202 (`Prefer: wait`).
    package var wait: Duration?
    /// Whether the caller said that it takes the acceptance for an answer (`Prefer: respond-async`).
    package var isAsynchronous = false

    package init() {}
}

extension DurableOptions {
    /// How long the job may take: what the caller asked for, at most what the route allows.
    static func lifetime(longest: Duration, _ expiresAfter: Duration?, _ timeout: Duration?) -> Duration {
        let asked = min(longest, expiresAfter ?? longest)
        return min(asked, timeout ?? asked)
    }

    /// The setting that the lifetime comes from.
    private func bound(_ lifetime: Duration, _ options: JobOptions) -> String {
        if expiresAfter == lifetime { return "waystation-expires-after" }
        return options.timeout == lifetime ? "waystation-timeout" : "the route's delivery.expires_after"
    }

    /// - Throws: `bad_header` when the job is to wait for a date too far away, or longer than it lives.
    func check(_ now: Int64, longest: Duration, _ options: JobOptions) throws(Problem) {
        let (wait, name): (Duration, String)
        switch due {
        case .now: return
        case .after(let delay): (wait, name) = (delay, "waystation-delay")
        case .date(let date):
            (wait, name) = (.milliseconds(date.subtractingSaturating(now)), "waystation-not-before")
            // As far as the longest delay.
            if wait > .seconds(365 * 86_400) {
                throw Problem(.badHeader, "\(name) must be within 365 days", field: name)
            }
        }
        let lifetime = DurableOptions.lifetime(longest: longest, expiresAfter, options.timeout)
        guard wait < lifetime else {
            throw Problem(
                .badHeader,
                "the job would expire before it may be sent: \(name) must end within \(DurationText.text(lifetime)) "
                    + "(\(bound(lifetime, options)))",
                field: name
            )
        }
    }
}
