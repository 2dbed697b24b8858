// Windows: never more under way than they are wide, and their width as the upstream takes what it is sent.
extension TrafficChecker {
    /// Looks at the figures that the route tells of an upstream, before and after each end of an attempt.
    func look(_ place: Int, width: Int, underWay: Int?) {
        let side = sides[place]
        let counted = side.underWay.count { !$0.terms.isOff }
        if let underWay, underWay != counted {
            let words = "\(names[place]) has \(counted) attempts under way"
            fail(nil, "\(words), and the route counts \(underWay)")
        }
        defer {
            sides[place].width = width
            sides[place].last = nil
            sides[place].isRestarted = false
        }
        guard let before = side.width else {
            if side.last == nil, terms.count == 1, side.begun.count <= 1,
                let initial = present.window?.initial, width > initial
            {
                fail(nil, "the window of \(names[place]) begins wider than it should")
            }
            return
        }
        guard let (flight, sign, isVague) = side.last else {
            if width != before { fail(nil, "a window changes by itself") }
            return
        }
        if isVague || flight.isMaybeProbe {
            if width < before, !side.isRestarted { sides[place].shrunk = now }
            return
        }
        let load = flight.isProbe ? .nothing : sign.load
        let isBad = load == .tooMuch || load == .lost
        let mayShrink = flight.began + flight.moved >= side.shrunk
        if width < before, !side.isRestarted { sides[place].shrunk = now }
        guard let window = flight.terms.window else {
            if width != before, !side.isRestarted {
                fail(flight.job, "a window changes that is switched off")
            }
            return
        }
        if side.isRestarted {
            note("window restarted")
            if width > max(1, window.afterOutage, 2 * side.borne) {
                fail(flight.job, "the window is too wide after an outage")
            }
        } else if width > before {
            note("window grew")
            checkGrowth(flight, load, from: before, to: width)
        } else if width < before {
            note(isBad ? "window shrank" : "window shrank for being slow")
            if !mayShrink { fail(flight.job, "a window shrinks twice for what was under way together") }
            if load == .nothing { fail(flight.job, "a window shrinks by what says nothing of the load") }
            if load == .fine {
                sides[place].shrunk = now
                if width < window.afterOutage { fail(flight.job, "a window shrinks too far for being slow") }
            }
        } else if isBad, mayShrink, before > 10, !isAlone(flight, load) {
            fail(flight.job, "a window does not shrink although there was too much")
        }
    }

    /// Whether it was lost where others are answered: it says nothing of how much the upstream takes where it was not answered
    /// in time like others of its like, of which only what is beyond half of the window is counted, nor where ten of its kind
    /// have been lost in a row.
    private func isAlone(_ flight: TrafficFlight, _ load: TrafficSign.Load) -> Bool {
        let (since, side) = (now - 60_000_000_000, sides[flight.place])
        let isRow = side.losses[flight.job.kind, default: 0] >= 10
        return side.latest.contains { like, answered in
            guard answered > since, like != flight.job.like else { return false }
            return load == .lost || isRow && like.kind != flight.job.kind
        }
    }

    /// The window of an upstream may be another for what an operator or a reload has said.
    func forgetWidth(_ place: Int) { sides[place].width = nil }

    private func checkGrowth(
        _ flight: TrafficFlight,
        _ load: TrafficSign.Load,
        from before: Int,
        to width: Int
    ) {
        if load != .fine { fail(flight.job, "a window grows by what does not succeed") }
        if !flight.wasFull { fail(flight.job, "a window grows that was not full") }
        if width > before + 1 { fail(flight.job, "a window grows by more than one") }
        if width > present.limit { fail(flight.job, "a window grows beyond the route's limit") }
    }

    /// An attempt has begun, and has the limit of the present also where its request is of before; `isFull` tells whether the
    /// route had no permit left.
    func checkRoom(_ flight: TrafficFlight, isFull: Bool) {
        let side = sides[flight.place]
        let counted = side.underWay.count { !$0.terms.isOff }
        let most = max(1, min(side.width ?? .max, present.limit))
        // An attempt that makes room in this very instant may have done so a moment before.
        flight.wasFull = isFull || counted + (endedNow.at == now ? endedNow.count : 0) >= most
        if flight.terms.window != nil, counted > most {
            fail(flight.job, "more is under way than the window of its upstream allows")
        }
        guard terms.count == 1 else { return }
        let all = sides.reduce(0) { $0 + $1.underWay.count }
        if all > flight.terms.limit { fail(flight.job, "more is under way than the route allows") }
    }
}
