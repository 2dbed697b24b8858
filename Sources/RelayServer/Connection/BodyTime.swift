import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayRoute

/// How long the body of a request may take to come: that of one that is relayed by its pace, a document by its time.
struct BodyTime {
    private let idle: Int64
    private let floor: RateFloor
    /// After which none of it is waited for, in monotonic nanoseconds, and what sets that.
    private let end: (moment: Int64, limit: TimeLimit?)?
    private var pace = TransferPace()

    /// `began` is the moment of the head.
    init(_ purpose: ServerRequest.Purpose, since began: Int64, _ limits: ServerLimits) {
        guard case .relay(let admission) = purpose else {
            (idle, floor) = (.max, .none)
            end = (began &+ limits.body.saturatedNanoseconds, nil)
            return
        }
        let timeouts = admission.route.policy.timeouts
        idle = timeouts.idle.saturatedNanoseconds
        floor = RateFloor(timeouts)
        end = admission.context.options.timeout.map { timeout in
            let end = Instant(nanoseconds: began).advanced(by: timeout)
            return (end.nanoseconds, TimeLimit("the caller's timeout", timeout))
        }
    }

    /// How long the next of it may be waited for; nanoseconds.
    func wait(_ now: Int64) -> Int64 { min(idle, max(0, (end?.moment ?? .max) &- now)) }

    /// So many bytes have come after that wait.
    ///
    /// - Throws: why the rest is not waited for.
    mutating func came(_ count: Int, after wait: Int64) throws(Problem) {
        if pace.isTooSlow(count, after: wait, floor) {
            throw Problem(.requestTimeout, "the request body came at less than \(TimeLimit.minRate(floor))")
        }
    }

    /// Nothing has come for as long as that.
    func stalled(_ now: Int64) -> Problem {
        if let end, now >= end.moment {
            let limit = end.limit.map { "within \($0.text)" } ?? "in time"
            return Problem(.requestTimeout, "the request body did not come \(limit)")
        }
        let limit = TimeLimit("timeouts.idle", .nanoseconds(idle))
        return Problem(.requestTimeout, "the request body did not come within \(limit.text)")
    }
}
