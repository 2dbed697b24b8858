import RelayBase
import RelayCore

struct TrafficWait {
    let job: TrafficJob
    let end: Int64
    /// Whether it is known to have ended with a permit.
    let isLetIn: Bool
}

// Callers that wait for a full route have their turns: looked at when all is over, by the waits that were told of.
extension TrafficChecker {
    func waited(_ job: TrafficJob, _ outcome: Outcome) {
        guard let wait = outcome.report.permitWait else { return }
        note("waited for a permit")
        let end = job.began + wait.saturatedNanoseconds
        waits.append(TrafficWait(job: job, end: end, isLetIn: !outcome.attempts.isEmpty))
    }

    func checkCallers() {
        waits.sort { $0.end < $1.end }
        for wait in waits {
            let own = { (other: TrafficWait) in other.job.user == wait.job.user }
            checkCallers(wait, letInSince(wait, own).filter { !own($0) })
            let alike = { (other: TrafficWait) in own(other) && other.job.urgency == wait.job.urgency }
            checkUrgency(wait, letInSince(wait, alike).filter { own($0) })
        }
    }

    /// Those who were let in while a request waited and nobody of its own had a turn; what happens in one instant has no
    /// order.
    private func letInSince(_ wait: TrafficWait, _ isOwn: (TrafficWait) -> Bool) -> [TrafficWait] {
        let before = waits.prefix { $0.end < wait.end }
        let since = max(wait.job.began, before.last(where: isOwn)?.end ?? 0)
        return before.reversed().prefix { $0.end > since }.filter(\.isLetIn)
    }

    /// Each of the others has one turn at most.
    private func checkCallers(_ wait: TrafficWait, _ others: [TrafficWait]) {
        var turns: [UInt32: Int] = [:]
        for other in others { turns[other.job.user, default: 0] += 1 }
        if !turns.isEmpty { note("turns of several callers") }
        if turns.values.contains(where: { $0 > 1 }) {
            fail(wait.job, "waits while another caller is let in again and again")
        }
    }

    /// Each urgency has twice the turns of the next, and one more for having come first.
    private func checkUrgency(_ wait: TrafficWait, _ others: [TrafficWait]) {
        var turns: [UInt8: Int] = [:]
        for other in others { turns[other.job.urgency, default: 0] += 1 }
        if !turns.isEmpty { note("turns of several urgencies") }
        let own = wait.job.urgency
        for (urgency, count) in turns {
            if urgency > own, count > 2 {
                fail(wait.job, "waits while less urgent ones of its caller are let in")
            }
            if urgency < own, count > 1 << Int(own - urgency) + 1 {
                fail(wait.job, "waits while more urgent ones of its caller are let in beyond their share")
            }
        }
    }
}
