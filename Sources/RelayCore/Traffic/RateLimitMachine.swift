import RelayBase
import RelayRoute

/// Spaces attempts: one for each interval, and at most a burst of them at once.
///
/// The generic cell rate algorithm: `due` is when the next attempt would be on time if none came in a burst. With 50 per
/// second and a burst of 100, 100 attempts go at once, then one every 20 ms. Requests take their turns ahead of time, so
/// that each knows whether it can wait; while kept jobs want some too, each side has every other turn: with 50 per second,
/// 25 each, however many requests wait. A turn that is given back goes to whoever comes next, or is as if it had never been
/// taken where nobody has a later one.
struct RateLimitMachine: Sendable {
    /// The side that asks for a turn.
    enum Side: Sendable {
        case request
        case kept
    }

    /// For how long at least the turns are shared after kept jobs wanted one.
    private static let memory: Int64 = 1_000_000_000

    private var due = Instant(nanoseconds: .min / 2)
    /// Nil while kept jobs take what there is.
    private var left: LeftSlots?
    /// The last turn between those of requests that somebody has: what was taken before it stays in line.
    private var lastBetween = Instant(nanoseconds: .min / 2)
    /// By what `due` was reckoned; nil before anything was.
    private var present: RateSpacing?
    private var freed = FreedSlots()

    /// When an attempt may go; now is `now`.
    ///
    /// A turn that was given back is offered to requests unless `afterAll` is asked for, from where any later moment will
    /// do as well; kept jobs cannot wait for its very moment, and have one left to them instead.
    func next(_ spacing: RateSpacing, _ side: Side, _ now: Instant, afterAll: Bool = false) -> Instant {
        let last = max(now, endOfLine(spacing, now))
        let mayReuse = side == .request && !afterAll
        let main = mayReuse ? min(last, freed.first(from: now) ?? last) : last
        guard side == .kept, main > now, let left, now < left.until else { return main }
        return min(main, max(now, left.next))
    }

    /// An attempt goes at that moment, which `next` has named.
    @discardableResult
    mutating func take(_ spacing: RateSpacing, _ side: Side, at moment: Instant, _ now: Instant) -> TakenSlot
    {
        adopt(spacing, now)
        freed.forget(before: now)
        if side == .request, let turn = freed.take(at: moment) { return turn }
        let end = endOfLine(spacing, now)
        if side == .kept, moment < end, left?.take(at: moment, every: spacing.times(2)) == true {
            lastBetween = max(lastBetween, moment)
            keepSharing(spacing, now)
            return TakenSlot(at: moment, before: due, after: due)
        }
        let isShared = side == .request && left.map { now < $0.until } ?? false
        if isShared {
            left?.follow(moment.advanced(by: .nanoseconds(spacing.interval)), after: end)
        } else {
            endSharing(now)
        }
        let before = due
        due = max(due, moment).advanced(by: .nanoseconds(isShared ? spacing.times(2) : spacing.interval))
        return TakenSlot(at: moment, before: before, after: due)
    }

    /// The attempt that had taken that turn does not go.
    mutating func giveBack(_ turn: TakenSlot, _ spacing: RateSpacing, _ now: Instant) {
        adopt(spacing, now)
        freed.add(turn, now)
        while let last = freed.take(before: due, after: lastBetween) { due = last.before }
    }

    /// Kept jobs would go now if they might: from now on turns are left to them, and for as long as something else holds
    /// them back `until` then.
    mutating func wanted(_ spacing: RateSpacing, _ now: Instant, until: Instant) {
        adopt(spacing, now)
        if let left, left.until <= now { endSharing(now) }
        let end = endOfLine(spacing, now)
        if next(spacing, .kept, now) > now {
            if let first = freed.first(from: now), first < left?.next ?? end {
                useFreed(first, spacing, end: end, now)
            } else if left == nil {
                // Theirs is the next turn, and that of requests the one after it.
                left = LeftSlots(series: max(end, now), until: now)
                due = max(due, now).advanced(by: .nanoseconds(spacing.interval))
            }
        } else if left == nil {
            return
        }
        // Also when their turn has come: nobody else can take those between the turns of the requests in line.
        keepSharing(spacing, max(now, until))
    }

    /// A turn that was given back is theirs, and the one that they would have had instead is another's.
    private mutating func useFreed(_ moment: Instant, _ spacing: RateSpacing, end: Instant, _ now: Instant) {
        guard let turn = freed.take(at: moment) else { return }
        guard var left = left else {
            self.left = LeftSlots(series: end, given: turn, until: now)
            return
        }
        if let given = left.given {
            freed.add(given, now)
        } else if left.series < end {
            freed.add(TakenSlot(at: left.series, before: due, after: due), now)
            lastBetween = max(lastBetween, left.series)
            left.series = left.series.advanced(by: .nanoseconds(spacing.times(2)))
        }
        left.given = turn
        self.left = left
    }

    /// Nothing is left to kept jobs any more.
    private mutating func endSharing(_ now: Instant) {
        if let given = left?.given { freed.add(given, now) }
        left = nil
    }

    /// How many attempts of kept jobs may go now, of as many as `most`.
    func capacity(_ spacing: RateSpacing, _ now: Instant, atMost most: Int) -> Int {
        let owed = max(0, now.duration(to: due(spacing, now)).saturatedNanoseconds)
        let free =
            Int64(spacing.burst) - owed / spacing.interval - (owed % spacing.interval > 0 ? 1 : 0)
        if free < 1, next(spacing, .kept, now) <= now { return min(1, most) }
        return Int(max(0, min(free, Int64(most))))
    }

    /// Whether it is as if nothing had ever gone.
    func isIdle(_ now: Instant) -> Bool { due <= now }

    /// When the next attempt may go after all that have a turn.
    private func endOfLine(_ spacing: RateSpacing, _ now: Instant) -> Instant {
        due(spacing, now).advanced(by: .nanoseconds(-spacing.allowance))
    }

    private mutating func keepSharing(_ spacing: RateSpacing, _ now: Instant) {
        guard let left else { return }
        let memory = Duration.nanoseconds(max(RateLimitMachine.memory, spacing.times(4)))
        self.left?.until = max(left.until, max(now, left.next).advanced(by: memory))
    }

    /// `due` as it is with another spacing: who stands in line is as many turns from now as before, and a burst that was
    /// taken is no debt beyond the burst there is.
    private func due(_ spacing: RateSpacing, _ now: Instant) -> Instant {
        guard let present, present != spacing, due > now else { return due }
        let most = Duration.nanoseconds(spacing.allowance)
        let line = due.advanced(by: .nanoseconds(-present.allowance))
        if line > now { return scaled(line, spacing, now).advanced(by: most) }
        return min(scaled(due, spacing, now), now.advanced(by: most))
    }

    /// A moment to come as it is with another interval: as many turns from now as before.
    private func scaled(_ moment: Instant, _ spacing: RateSpacing, _ now: Instant) -> Instant {
        guard let present, moment > now else { return moment }
        let turns = Double(now.duration(to: moment).saturatedNanoseconds) / Double(present.interval)
        return now.advanced(by: .nanoseconds(Int64(min(turns * Double(spacing.interval), 9e18))))
    }

    private mutating func adopt(_ spacing: RateSpacing, _ now: Instant) {
        guard present != spacing else { return }
        due = due(spacing, now)
        if let series = left.map({ scaled($0.series, spacing, now) }) { left?.series = series }
        present = spacing
    }
}
