import RelayCore

// Breakers: opened for a cause and only for one, probed by one attempt at a time.
extension TrafficChecker {
    /// The breaker of an upstream has changed, as an event tells.
    func breakerChanged(_ name: String, probeIn: Int64?) {
        tell("the breaker of \(name) \(probeIn.map { "opens for \(Moment.time($0))" } ?? "closes")")
        guard let place = names.firstIndex(of: name), let (flight, _, health) = lastEnd else {
            return fail(nil, "a breaker changes before anything has ended")
        }
        // An attempt that the breaker does not bind may find out for it.
        let known = sides[place].openSince == nil ? nil : TrafficTerms.Breaker.usual
        guard flight.place == place, let breaker = flight.terms.breaker ?? known else {
            return fail(flight.job, "a breaker changes by what is not its upstream's")
        }
        sides[place].mustOpen = false
        let side = sides[place]
        guard let probeIn else {
            note("breaker closed")
            if side.openSince == nil || health != .works
                || flight.order < max(side.changed, side.failedOrder)
            {
                fail(flight.job, "a breaker closes without an attempt that succeeds")
            }
            return change(place, openSince: nil)
        }
        if side.order(at: now) != nil { fail(flight.job, "a breaker opens that an operator has set") }
        var base = breaker.pause
        if let since = side.openSince {
            note("breaker stays open")
            if health != .fails || flight.order < max(side.changed, side.failedOrder) {
                fail(flight.job, "a breaker stays open without a probe that fails")
            }
            // The time that the probe took is a part of the break; where the probe is not known, it may be the one that has
            // ended.
            let bases = [side.probed.at, flight.began].map { probed in
                max(base, min(max(base, (now - since) / 10), breaker.longestPause) - (now - probed))
            }
            base = flight.isMaybeProbe && !isBreak(probeIn, by: bases[0]) ? bases[1] : bases[0]
        } else {
            note("breaker opened")
            if !hasCause(place, breaker, isSure: false) {
                let recent = side.counts.filter { $0.at >= now - counted(present) }
                let words =
                    "\(recent.count) counted, \(recent.count(where: \.failed)) of them failed, "
                    + "\(recent.count(where: \.isVague)) are in doubt"
                fail(flight.job, "a breaker opens without a cause: \(words)")
            }
        }
        if !isBreak(probeIn, by: base) {
            fail(flight.job, "a break is not within a fifth of what it should be")
        }
        (sides[place].failedAt, sides[place].pause) = (now, base)
        sides[place].failedOrder = order
        sides[place].longestPause = breaker.longestPause
        sides[place].probeDue = now + probeIn
        if side.openSince != nil {
            sides[place].counts = []
            return
        }
        change(place, openSince: now)
        recall(place, breaker.counted)
    }

    private func isBreak(_ wait: Int64, by base: Int64) -> Bool {
        wait >= base * 8 / 10 - 1 && wait <= base * 12 / 10 + 1
    }

    /// Requests that failed of late and were not answered since are known to fail, and those that went on as it closed,
    /// and have not failed since, to be answered.
    private func recall(_ place: Int, _ window: Int64) {
        for (like, at) in sides[place].carried {
            if let at, at < now - window { continue }
            sides[place].fares[like] = at == nil ? .unsure : .answered
            sides[place].noted[like] = at
        }
        sides[place].carried = [:]
        for (like, at) in sides[place].doubts where at >= now - window { sides[place].fares[like] = .unsure }
        for (like, at) in sides[place].failures where at >= now - window {
            let isAnswered = sides[place].answers[like].map { $0 >= at } ?? false
            sides[place].fares[like] = isAnswered ? .unsure : .fails
        }
    }

    private func change(_ place: Int, openSince: Int64?) {
        if openSince == nil {
            let answers = sides[place].noted
            let known = sides[place].fares.filter { $0.value != .fails }
            sides[place].carried = Dictionary(
                uniqueKeysWithValues: known.map { ($0.key, $0.value == .answered ? answers[$0.key] : nil) }
            )
            sides[place].borne = sides[place].underWay.count
        }
        sides[place].noted = [:]
        (sides[place].fares, sides[place].doubted, sides[place].isTried) = ([:], [:], false)
        sides[place].probed.order = order
        // A breaker that closes, or that an operator sets, begins anew.
        if openSince == nil {
            (sides[place].failures, sides[place].answers, sides[place].doubts) = ([:], [:], [:])
        }
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
        (sides[place].isRestarted, sides[place].carried) = (false, [:])
    }

    func checkBreaker(_ flight: TrafficFlight) {
        let side = sides[flight.place]
        if let opens = side.order(at: now) {
            if opens { fail(flight.job, "sent to an upstream that an operator keeps open") }
            return
        }
        guard let breaker = flight.terms.breaker, side.openSince != nil else { return }
        let since = side.underWay.filter { $0.order > side.changed && $0.terms.breaker != nil }
        // An attempt that began before the upstream was last found to fail probes no more.
        let probes = since.filter { $0.isProbe && $0.order > side.failedOrder }
        let due = min(side.probeDue, side.failedAt + breaker.longestPause * 12 / 10)
        let like = flight.job.like
        let isLeft = probes.isEmpty ? side.leavesProbe(like, due: due, now) : false
        if now >= due - 1, probes.isEmpty, isLeft != true {
            // Which of them fails is not known to everybody alike.
            flight.isMaybeProbe = isLeft == nil
            (flight.isProbe, sides[flight.place].probed) = (true, (flight.order, now))
            flight.isSureProbe = since.isEmpty && isLeft == false
            for other in since where other.began == now { other.isMaybeProbe = true }
            return note("probed")
        }
        if isLeft == true { note("left a probe to those that fail") }
        // Which of those probes that began in one instant, or beside another that tries, is not known.
        let isMaybeProbe =
            probes.contains { $0.began == now }
            || now >= due - 1 && isLeft != true && !probes.contains(where: \.isSureProbe)
        flight.isMaybeProbe = isMaybeProbe
        if isMaybeProbe { note("sent beside a probe that began with it") }
        sides[flight.place].isTried = true
        switch side.fares[like] {
        case .answered?: note("sent beside an open breaker")
        case .fails? where !isMaybeProbe:
            fail(flight.job, "sent to an open breaker although requests like it fail")
        case .fails?, .unsure?: break
        case nil:
            note("tried beside an open breaker")
            flight.isTrial = true
            if !isMaybeProbe, since.contains(where: { $0.isTrial && $0.job.like == like && !$0.isMaybeProbe })
            {
                fail(flight.job, "a second request tries for those like it")
            }
        }
    }

    /// A request was not sent since the breaker is open.
    func checkStopped(_ job: TrafficJob, _ place: Int) {
        let side = sides[place]
        guard side.order(at: now) == nil, side.openSince != nil, present.breaker != nil else { return }
        switch side.fares[job.like] {
        case .answered?: fail(job, "an open breaker stops it although requests like it are answered")
        case .fails?: note("stopped, since requests like it fail")
        case nil where !side.isTried && endedNow.at < now:
            fail(job, "an open breaker stops it, and nobody has tried")
        case nil, .unsure?: break
        }
    }

    /// The end of an attempt, as it counts for the breaker; old news says nothing.
    func countForBreaker(_ flight: TrafficFlight, _ sign: TrafficSign, isVague: Bool) {
        var health = sign.health
        let place = flight.place
        if let status = sign.status, flight.terms.breaker?.statuses.contains(status) ?? false {
            health = .fails
        }
        if health == .fails, flight.terms.longest != nil, sign.asked ?? 0 > 0 { health = .nothing }
        lastEnd?.health = health
        fares(flight, health, isAnswered: sign.health == .works || sign.load == .fine, isVague)
        // One whose caller gave up counts, or says nothing.
        guard health != .nothing || isVague, flight.order > sides[place].changed,
            sides[place].openSince == nil
        else { return }
        let duration = now - flight.began - flight.moved
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

    private func fares(
        _ flight: TrafficFlight,
        _ health: TrafficSign.Health,
        isAnswered: Bool,
        _ isVague: Bool
    ) {
        let (place, like) = (flight.place, flight.job.like)
        if health == .fails, !isVague {
            // The first failure of those that went on is a reason to find out anew.
            switch sides[place].carried.removeValue(forKey: like) {
            case nil: sides[place].failures[like] = now
            case .some(nil): sides[place].doubts[like] = now
            case .some(.some): break
            }
        }
        if isVague {
            sides[place].doubts[like] = now
            sides[place].carried[like] = nil
        }
        if health != .fails, isAnswered || isVague { sides[place].answers[like] = now }
        guard sides[place].openSince != nil else { return }
        let isTried = sides[place].underWay.contains { $0.isTrial && $0.job.like == like }
        if isVague || flight.isMaybeProbe {
            sides[place].fares[like] = .unsure
        } else if health == .fails {
            // One failure of those that were answered is no reason to stop them.
            let mayBeAnswered = [.answered, .unsure].contains(sides[place].fares[like])
            sides[place].fares[like] = mayBeAnswered ? .unsure : .fails
            if mayBeAnswered { sides[place].doubted[like] = order }
        } else if isAnswered {
            sides[place].noted[like] = now
            // Of those of whom nobody asks one that began before says nothing.
            let isNew = flight.order > sides[place].changed
            switch sides[place].fares[like] {
            case .answered, .fails: sides[place].fares[like] = .answered
            case _ where !isNew && !isTried: break
            case .unsure where flight.order < sides[place].doubted[like] ?? 0: break
            // Nothing is noted of those that are not known and answer a probe, or were sent without a breaker.
            case nil where flight.isProbe: sides[place].fares[like] = .unsure
            case _ where flight.terms.breaker == nil: sides[place].fares[like] = .unsure
            case .unsure, nil: sides[place].fares[like] = .answered
            }
        } else if flight.isTrial || isTried {
            sides[place].fares[like] = .unsure
        }
    }

    /// Another configuration counts for another time, and begins anew with that.
    func configured(after before: TrafficTerms) {
        guard counted(before) != counted(present) else { return }
        for place in sides.indices { sides[place].sureFrom = sides[place].counts.count }
    }

    private func counted(_ terms: TrafficTerms) -> Int64 {
        (terms.breaker ?? TrafficTerms.Breaker.usual).counted
    }

    /// Whether there is cause to open: by all that may be counted, or by all that must be.
    private func hasCause(_ place: Int, _ breaker: TrafficTerms.Breaker, isSure: Bool) -> Bool {
        let counts = sides[place].counts
        if let most = breaker.inARow {
            let row = counts.reversed().prefix { isSure ? $0.failed && !$0.isVague : $0.failed || $0.isVague }
            if row.count >= most { return true }
        }
        // The last so many, where fewer have ended of late.
        let latest = counts.suffix(breaker.minimum)
        func isEnough(_ bad: Int, of all: Int) -> Bool { Double(bad) >= breaker.ratio * Double(all) }
        // So many in a row are enough whatever came before them.
        let isRow = latest.count == breaker.minimum && latest.allSatisfy { $0.isVague ? !isSure : $0.failed }
        if breaker.judgesLatest, isRow { return true }
        let isLatestEnough =
            latest.count == breaker.minimum
            && isEnough(latest.count { $0.isVague ? !isSure : $0.failed }, of: latest.count)
        // Older counts go a tenth of the time at once, and another sampling time may begin to count anew.
        let time = counted(present)
        let (first, last) = (now - time, now - time * 9 / 10)
        let begin = counts.firstIndex { $0.at >= first } ?? counts.count
        let recent = counts.firstIndex { $0.at > last } ?? counts.count
        let answers = (begin...max(recent, sides[place].sureFrom, begin)).map { begin -> Bool in
            let part = counts[begin...]
            let isVague: (TrafficSide.Count) -> Bool = { $0.isVague }
            let all = isSure ? part.count - part.count(where: isVague) : part.count
            guard all >= breaker.minimum else { return breaker.judgesLatest && isLatestEnough }
            let weight = Double(part.count)
            let bad = part.count { $0.isVague ? !isSure : $0.failed }
            let slow = part.count { $0.isVague ? !isSure : $0.slow }
            return isEnough(bad, of: part.count)
                || breaker.slow != nil && Double(slow) >= breaker.slowRatio * weight
        }
        if isSure, breaker.judgesLatest, counts[begin...].contains(where: \.isVague) { return false }
        if isSure, breaker.judgesLatest, latest.contains(where: \.isVague) { return false }
        if !isSure, breaker.judgesLatest, counts.contains(where: \.isVague), hasVagueCause(counts, breaker) {
            return true
        }
        return isSure ? answers.allSatisfy(\.self) : answers.contains(true)
    }

    /// Whether the last so many may have failed, had some that are in doubt not counted at all.
    private func hasVagueCause(_ counts: [TrafficSide.Count], _ breaker: TrafficTerms.Breaker) -> Bool {
        let sure = counts.filter { !$0.isVague || $0.failed }.suffix(breaker.minimum)
        return sure.count == breaker.minimum
            && Double(sure.count(where: \.failed)) >= breaker.ratio * Double(sure.count)
    }
}
