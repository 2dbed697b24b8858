/// The share of a route's load that retries may be, from what was sent and how it ended.
struct TrafficBudget {
    private static let memory: Int64 = 10_000_000_000

    /// When first attempts began and retries succeeded; when retries failed; when it is not known which.
    private var load: [Int64] = []
    private var failed: [Int64] = []
    private var vague: [Int64] = []
    /// Retries decided on whose end has not come.
    private(set) var underWay = 0

    mutating func sent(_ flight: TrafficFlight, isFirst: Bool, _ checker: TrafficChecker) {
        if flight.isRetry {
            guard flight.job.isKept else { return }
            if !mayRetry(flight.terms, isKept: true, checker.now) {
                checker.fail(flight.job, "a kept job is tried again beyond the budget of retries")
            }
            underWay += 1
        } else if isFirst {
            load.append(checker.now)
        }
    }

    mutating func landed(_ flight: TrafficFlight, _ sign: TrafficSign, isVague: Bool, _ now: Int64) {
        guard flight.isRetry else { return }
        underWay -= 1
        flight.job.retries = false
        if isVague { return vague.append(now) }
        switch sign.succeeded {
        case true?: load.append(now)
        case false?: failed.append(now)
        case nil: break
        }
    }

    /// A retry of a request was decided on, or comes to nothing before it is sent.
    mutating func decided(_ job: TrafficJob, retries: Bool, _ terms: TrafficTerms, _ checker: TrafficChecker)
    {
        if retries, !job.retries {
            if !mayRetry(terms, isKept: false, checker.now) {
                checker.fail(job, "a request is retried beyond the budget of retries")
            }
            checker.note("retry")
        }
        if retries != job.retries { underWay += retries ? 1 : -1 }
        job.retries = retries
    }

    /// A retry was not made for want of budget.
    func refused(_ job: TrafficJob, _ terms: TrafficTerms, _ checker: TrafficChecker) {
        checker.note("no budget for a retry")
        guard let budget = terms.budget else {
            return checker.fail(job, "a retry is refused for a budget that there is not")
        }
        let (load, failed) = seen(checker.now, isGenerous: false)
        if underWay + justFailed(checker.now, isGenerous: false) < budget.floor
            || (underWay + failed) * 100 < budget.percent * load
        {
            let words = "\(underWay) are under way, \(failed) have failed, the load is \(load)"
            checker.fail(job, "a retry is refused although the budget has room: \(words)")
        }
    }

    func check(_ told: Int, _ checker: TrafficChecker) {
        if told != underWay {
            checker.fail(nil, "\(underWay) retries are under way, and the route counts \(told)")
        }
    }

    private func mayRetry(_ terms: TrafficTerms, isKept: Bool, _ now: Int64) -> Bool {
        // A kept job that nobody has left one attempt would wait for ever.
        guard let budget = terms.budget,
            underWay + justFailed(now, isGenerous: true) >= max(budget.floor, isKept ? 1 : 0)
        else { return true }
        let (load, failed) = seen(now, isGenerous: true)
        return ((isKept ? 0 : underWay) + failed) * 100 < budget.percent * load
    }

    /// Places that are taken by retries that have failed within a second: one by four of them.
    private func justFailed(_ now: Int64, isGenerous: Bool) -> Int {
        let count =
            isGenerous
            ? failed.count { $0 > now - 900_000_000 } : (failed + vague).count { $0 >= now - 1_000_000_000 }
        return count / 4
    }

    /// Within the tenth by which slices may be off.
    private func seen(_ now: Int64, isGenerous: Bool) -> (load: Int, failed: Int) {
        let (long, short) = (now - TrafficBudget.memory, now - TrafficBudget.memory * 9 / 10)
        func count(_ moments: [Int64], _ since: Int64) -> Int { moments.count { $0 > since } }
        let doubt = count(vague, long)
        return isGenerous
            ? (count(load, long) + doubt, count(failed, short))
            : (count(load, short), count(failed, long) + doubt)
    }
}
