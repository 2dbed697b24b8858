struct TrafficTurns {
    /// The rest of the burst, with fractions.
    private var left = 0.0
    private var at: Int64 = 0
    /// Until when turns may be left to kept jobs.
    private var sharedUntil: Int64 = 0
    /// Until when there may be turns of another rate.
    private var mixedUntil: Int64 = 0
    private var rate: TrafficTerms.Rate?
    /// Turns taken while requests and kept jobs waited, one after the other.
    private var requests = 0
    private var kept = 0

    mutating func sent(_ flight: TrafficFlight, _ checker: TrafficChecker) {
        let now = checker.now
        // A request whose terms have no rate may have had leave before there was one.
        guard flight.terms.rate != nil, let rate = checker.present.rate else {
            (requests, kept) = (0, 0)
            return
        }
        if rate != self.rate {
            // Turns that were taken by another rate are still to come.
            if self.rate != nil { mixedUntil = now + 20_000_000_000 }
            (self.rate, left, at) = (rate, Double(rate.burst), now)
            (requests, kept) = (0, 0)
        }
        left = min(Double(rate.burst), left + Double(now - at) / Double(rate.interval))
        at = now
        // A turn that is left to kept jobs may be taken late, beside the next of the requests.
        let isShared = flight.job.isKept || sharedUntil > now
        if left < (isShared ? -0.001 : 0.999) {
            if now > mixedUntil { checker.fail(flight.job, "sent faster than the route's rate") }
        }
        left = max(0, left - 1)
        if flight.job.isKept { sharedUntil = now + max(1_000_000_000, 5 * rate.interval) }
        share(flight, checker)
    }

    /// Both sides wait, and nothing but the rate holds them back.
    private mutating func share(_ flight: TrafficFlight, _ checker: TrafficChecker) {
        guard checker.now > mixedUntil, checker.bothWait(flight.terms) else {
            (requests, kept) = (0, 0)
            return
        }
        if flight.job.isKept { kept += 1 } else { requests += 1 }
        // Turns that requests took before kept jobs wanted any stay theirs.
        let taken = Int(flight.terms.total / (flight.terms.rate?.interval ?? 1))
        if kept == 0, requests < taken + 40 { return }
        if kept == 1, flight.job.isKept { requests = 0 }
        let all = requests + kept
        guard all >= 40 else { return }
        checker.note("shared turns")
        if kept * 10 < all * 3 { checker.fail(flight.job, "kept jobs do not get their half of the turns") }
        if requests * 10 < all * 3 { checker.fail(flight.job, "requests do not get their half of the turns") }
        (requests, kept) = (0, 0)
    }
}
