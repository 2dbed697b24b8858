import RelayJobs

// Patience and pace: what an upstream has asked for, it gets.
extension TrafficChecker {
    func countPatience(_ flight: TrafficFlight, _ sign: TrafficSign, isVague: Bool) {
        guard let longest = flight.terms.longest, let asked = sign.asked, asked > 0 else { return }
        note("asked for patience")
        let (place, kind) = (flight.place, flight.job.kind)
        // How much of it the route allows is said by its configuration of then.
        let until = now.addingSaturating(asked)
        sides[place].asked.removeAll { min($0.until, $0.at + 70_000_000_000) <= now - 70_000_000_000 }
        if let resource = sign.resource { sides[place].resources[kind] = resource }
        let others = sides[place].asked.filter {
            $0.resource == nil && $0.kind != kind && min($0.until, $0.at + longest) > now
        }
        if sign.resource == nil, !others.isEmpty { note("asked for patience with everything") }
        if sign.resource != nil { note("asked for patience with a limit by name") }
        sides[place].asked.append(
            TrafficSide.Asked(
                at: now,
                until: until,
                longest: longest,
                kind: kind,
                resource: sign.resource,
                isWide: sign.resource == nil && !others.isEmpty,
                isSurelyWide: sign.resource == nil && others.contains { !$0.isVague },
                isVague: isVague
            )
        )
    }

    func checkPatience(_ flight: TrafficFlight) {
        guard let longest = flight.terms.longest else { return }
        let side = sides[flight.place]
        // Dates are reckoned in fractions of a second.
        if now < side.sure(longest, of: flight.job.kind, now) - 1_000 {
            fail(flight.job, "sent in the time for which its upstream has asked for patience")
        }
        if now < side.anyPatience(longest) - 1_000 { note("sent beside a hold of other requests") }
    }

    /// Two seconds, counted in parts of a fifth.
    private static let silence: Int64 = 1_800_000_000

    /// After the first answer in a while that attempts come too fast they come slower at once.
    func countPace(_ flight: TrafficFlight, _ sign: TrafficSign, isVague: Bool) {
        guard flight.terms.longest != nil else {
            sides[flight.place].pace = nil
            return
        }
        guard sign.isTooFast else { return }
        note("told to come slower")
        let side = sides[flight.place]
        let isFirst = side.tooFast.last.map { $0 < now - 61_000_000_000 } ?? true
        sides[flight.place].tooFast.append(now)
        if let pace = side.pace, now < pace.until, pace.kind != nil, pace.kind != flight.job.kind, !isVague {
            note("told to come slower with everything")
            sides[flight.place].pace?.kind = nil
            sides[flight.place].pace?.since = now
        }
        guard isFirst, !isVague else { return }
        let recent = side.begun.count { $0.at > now - 2_000_000_000 }
        // A rate is measured from the end of the last silence.
        var first = now
        for attempt in side.begun.reversed() where first - attempt.at < Self.silence { first = attempt.at }
        let age = now - first
        let seconds = Double(min(2_000_000_000, max(200_000_000, age))) / 1e9
        // Seven tenths, what is added in a second, and the turns that may be taken at once.
        let most = Int(Double(recent) / seconds * 0.77) + 3
        sides[flight.place].pace = (now, now + 1_000_000_000, most, flight.job.kind)
    }

    func checkPace(_ flight: TrafficFlight) {
        guard flight.terms.longest != nil else {
            sides[flight.place].pace = nil
            return
        }
        // It is the kind that was told so that comes slower, and all of them once a second kind is.
        guard let pace = sides[flight.place].pace, now < pace.until,
            pace.kind.map({ $0 == flight.job.kind }) ?? true
        else { return }
        // A request that waited before all kinds were to come slower may have a turn from before.
        if pace.kind == nil, flight.job.isKept || flight.job.began <= pace.since { return }
        let begun = sides[flight.place].begun.count {
            pace.kind == nil ? $0.jobBegan > pace.since : $0.at > pace.since && $0.kind == pace.kind
        }
        if begun >= pace.most { fail(flight.job, "sent as fast as before, although that was too fast") }
    }
}
