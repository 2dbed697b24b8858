import RelayCore

// Patience and pace: what an upstream has asked for, it gets.
extension TrafficChecker {
    func countPatience(_ flight: TrafficFlight, _ sign: TrafficSign, isVague: Bool) {
        guard let longest = flight.terms.longest, let asked = sign.asked, asked > 0, !isVague else { return }
        note("asked for patience")
        let until = now.addingReportingOverflow(min(asked, longest)).partialValue
        sides[flight.place].asked.removeAll { $0.until <= now - 70_000_000_000 }
        sides[flight.place].asked.append(TrafficSide.Asked(at: now, until: until, longest: longest))
    }

    func checkPatience(_ flight: TrafficFlight) {
        guard let longest = flight.terms.longest else { return }
        // Dates are reckoned in fractions of a second.
        if now < sides[flight.place].sure(longest, now) - 1_000 {
            violated(flight.job, "sent in the time for which its upstream has asked for patience")
        }
    }

    /// After the first answer in a while that attempts come too fast they come slower at once.
    func countPace(_ flight: TrafficFlight, _ sign: TrafficSign) {
        guard flight.terms.longest != nil else {
            sides[flight.place].pace = nil
            return
        }
        guard sign.isTooFast else { return }
        note("told to come slower")
        let side = sides[flight.place]
        let isFirst = side.tooFast.last.map { $0 < now - 61_000_000_000 } ?? true
        sides[flight.place].tooFast.append(now)
        guard isFirst else { return }
        let recent = side.begun.count { $0 > now - 2_000_000_000 }
        let age = now - (side.begun.first ?? now)
        let seconds = Double(min(2_000_000_000, max(200_000_000, age))) / 1e9
        // Seven tenths, what is added in a second, and the turns that may be taken at once.
        let most = Int(Double(recent) / seconds * 0.77) + 3
        sides[flight.place].pace = (now, now + 1_000_000_000, most)
    }

    func checkPace(_ flight: TrafficFlight) {
        guard flight.terms.longest != nil else {
            sides[flight.place].pace = nil
            return
        }
        guard let pace = sides[flight.place].pace, now < pace.until else { return }
        let begun = sides[flight.place].begun.count { $0 > pace.since }
        if begun >= pace.most { violated(flight.job, "sent as fast as before, although that was too fast") }
    }
}
