import RelayCore

// Breakers: opened for a cause and only for one, probed by one attempt at a time.
extension TrafficChecker {
    /// The breaker of an upstream has changed, as an event tells.
    func breakerChanged(_ name: String, probeIn: Int64?) {
        tell("the breaker of \(name) \(probeIn.map { "opens for \(Moment.time($0))" } ?? "closes")")
        guard let place = names.firstIndex(of: name), let (flight, sign) = lastEnd else {
            return violated(nil, "a breaker changes before anything has ended")
        }
        // Whoever is not bound by the breaker may find out for it.
        let known = sides[place].openSince == nil ? nil : TrafficTerms.Breaker.usual
        guard flight.place == place, let breaker = flight.terms.breaker ?? known else {
            return violated(flight.job, "a breaker changes by what is not its upstream's")
        }
        sides[place].mustOpen = false
        let side = sides[place]
        guard let probeIn else {
            note("breaker closed")
            if side.openSince == nil || sign.health != .works || flight.order < side.changed {
                violated(flight.job, "a breaker closes without an attempt that succeeds")
            }
            return change(place, openSince: nil)
        }
        if side.order(at: now) != nil { violated(flight.job, "a breaker opens that an operator has set") }
        var base = breaker.pause
        if let since = side.openSince {
            note("breaker stays open")
            if sign.health != .fails || flight.order < side.changed {
                violated(flight.job, "a breaker stays open without a probe that fails")
            }
            // What the probe has taken is a part of it.
            base = max(base, min(max(base, (now - since) / 10), breaker.longestPause) - (now - flight.began))
        } else {
            note("breaker opened")
            if !hasCause(place, breaker, isSure: false) {
                violated(flight.job, "a breaker opens without a cause")
            }
        }
        if probeIn < base * 8 / 10 - 1 || probeIn > base * 12 / 10 + 1 {
            violated(flight.job, "a break is not within a fifth of what it should be")
        }
        (sides[place].failedAt, sides[place].pause) = (now, base)
        sides[place].longestPause = breaker.longestPause
        change(place, openSince: side.openSince ?? now)
    }

    private func change(_ place: Int, openSince: Int64?) {
        sides[place].openSince = openSince
        sides[place].changed = order
        sides[place].counts = []
        sides[place].sureFrom = 0
        sides[place].isRestarted = openSince == nil
    }

    /// An operator's word about an upstream; nil leaves its breaker to itself.
    func ordered(_ place: Int, opens: Bool?, until: Int64) {
        let word = opens.map { $0 ? "open" : "closed" } ?? "auto"
        tell("an operator wants the breaker of \(names[place]) \(word) until \(Moment.time(until))")
        note("operator: \(word)")
        sides[place].order = opens.map { ($0, until) }
        change(place, openSince: nil)
        sides[place].isRestarted = false
    }

    /// Whether an attempt may be sent, as far as the breaker goes.
    func checkBreaker(_ flight: TrafficFlight) {
        let side = sides[flight.place]
        if let opens = side.order(at: now) {
            if opens { violated(flight.job, "sent to an upstream that an operator keeps open") }
            return
        }
        guard let breaker = flight.terms.breaker, side.openSince != nil else { return }
        if side.underWay.contains(where: { $0.order > side.changed && $0.terms.breaker != nil }) {
            violated(flight.job, "a second attempt is sent while another probes")
        }
        let soonest = min(side.pause * 8 / 10, breaker.longestPause * 12 / 10)
        if now < side.failedAt + soonest - 1 {
            violated(flight.job, "an upstream is probed before its break is over")
        }
        flight.isProbe = true
        note("probed")
    }

    /// What the end of an attempt says; old news says nothing.
    func countForBreaker(_ flight: TrafficFlight, _ sign: TrafficSign, isVague: Bool) {
        var health = sign.health
        if health == .fails, flight.terms.longest != nil, sign.asked ?? 0 > 0 { health = .nothing }
        let place = flight.place
        guard health != .nothing, flight.order > sides[place].changed, sides[place].openSince == nil else {
            return
        }
        if let sampling = flight.terms.breaker?.sampling, sampling != sides[place].sampling {
            sides[place].sampling = sampling
            sides[place].sureFrom = sides[place].counts.count
        } else if flight.terms.breaker == nil {
            sides[place].sampling = 0
        }
        let duration = now - flight.began
        sides[place].counts.append(
            TrafficSide.Count(
                at: now,
                failed: health == .fails,
                slow: flight.terms.breaker?.slow.map { duration > $0 } ?? false,
                isVague: isVague
            )
        )
        guard let breaker = flight.terms.breaker, sides[place].order(at: now) == nil, !isVague else { return }
        // One that succeeds may make the number full, and need not open it.
        let isBad = health == .fails || breaker.slow.map { duration > $0 } ?? false
        sides[place].mustOpen = isBad && hasCause(place, breaker, isSure: true)
    }

    /// Whether there is cause to open: by all that may be counted, or by all that must be.
    private func hasCause(_ place: Int, _ breaker: TrafficTerms.Breaker, isSure: Bool) -> Bool {
        let counts = sides[place].counts
        if let most = breaker.inARow {
            let row = counts.reversed().prefix { isSure ? $0.failed && !$0.isVague : $0.failed || $0.isVague }
            if row.count >= most { return true }
        }
        // What is older goes a tenth of the time at once, and another sampling time may begin to count anew.
        let (first, last) = (now - breaker.sampling, now - breaker.sampling * 9 / 10)
        let begin = counts.firstIndex { $0.at >= first } ?? counts.count
        let recent = counts.firstIndex { $0.at > last } ?? counts.count
        let answers = (begin...max(recent, sides[place].sureFrom, begin)).map { begin -> Bool in
            let part = counts[begin...]
            let isVague: (TrafficSide.Count) -> Bool = { $0.isVague }
            let all = isSure ? part.count - part.count(where: isVague) : part.count
            guard all >= breaker.minimum else { return false }
            let weight = Double(part.count)
            let bad = part.count { $0.isVague ? !isSure : $0.failed }
            let slow = part.count { $0.isVague ? !isSure : $0.slow }
            return Double(bad) >= breaker.ratio * weight
                || breaker.slow != nil && Double(slow) >= breaker.slowRatio * weight
        }
        return isSure ? answers.allSatisfy(\.self) : answers.contains(true)
    }
}
