package import RelayBase
package import RelayRoute

/// Stops traffic to an upstream that fails, and finds out with one attempt at a time whether it is back.
///
/// With the defaults it opens when 95 of 100 attempts failed that ended in the last 2 s, of at least 20 (the last 20 where
/// fewer have ended), or the last 20 one after the other; after half a second one attempt probes; after a probe that fails the next break is a tenth of the time
/// since it opened, half a second at least and 15 s at most, so that an upstream that is back is found after a tenth of its
/// outage; a probe that succeeds closes it. The time of a probe is a part of the break after it, of which half a second
/// is left at the least. A break is a fifth longer or shorter, as chance has it, so that the probes of many relays do
/// not meet.
package struct BreakerMachine: Sendable {
    package enum State: Hashable, Sendable {
        /// Attempts are counted. Can transition to: open.
        case closed
        /// None is sent before then. Can transition to: probing.
        case open(until: Instant, wait: Duration)
        /// One attempt is under way to find out. Can transition to: closed, open.
        case probing(wait: Duration)
    }

    /// An operator's order.
    package enum Order: String, Hashable, Sendable, CaseIterable {
        case open
        case closed
    }

    /// The answer to who would send.
    enum Permission: Hashable, Sendable {
        case go
        /// It goes, and alone.
        case probe
        /// Not before then.
        case refused(until: Instant)
    }

    /// An attempt's word on its upstream.
    enum Signal: Hashable, Sendable {
        case works
        case fails
        /// The attempt ended before anything was known, or for a reason that is not the upstream's.
        case nothing
    }

    package private(set) var state = State.closed
    /// When it opened; nil while it is closed.
    package private(set) var since: Instant?
    private var order: (order: Order, since: Instant, until: Instant)?
    /// When it was last found to fail.
    private var failed = Instant(nanoseconds: 0)
    /// When it was last probed.
    private var probed = Instant(nanoseconds: 0)
    private var counts: RollingCounts
    /// The last attempts that ended, the newest in the lowest bit; a failure is 1.
    private var latest: UInt64 = 0
    private var latestCount = 0
    private var failuresInARow = 0
    /// Counted at every change: what an attempt says that began before it is old news.
    private(set) var epoch: UInt32 = 0

    init(_ settings: BreakerSettings) { counts = RollingCounts(over: settings.counted) }

    /// From now on it counts for as long as these say.
    mutating func configured(_ settings: BreakerSettings) {
        if !counts.covers(settings.counted) { counts = RollingCounts(over: settings.counted) }
    }

    mutating func permission(_ settings: BreakerSettings, _ now: Instant) -> Permission {
        if let order = order(at: now) {
            return order.order == .open ? .refused(until: order.until) : .go
        }
        guard settings.isEnabled else { return .go }
        switch state {
        case .closed: return .go
        case .open(let planned, let wait):
            let until = probe(planned, settings)
            guard until <= now else { return .refused(until: until) }
            state = .probing(wait: wait)
            probed = now
            epoch &+= 1
            return .probe
        case .probing(let wait): return .refused(until: now.advanced(by: wait))
        }
    }

    /// When it may be asked again; nil when it lets everything through.
    ///
    /// A moment that is past is that of a probe.
    func refuses(_ settings: BreakerSettings, _ now: Instant) -> Instant? {
        if let order = order(at: now) { return order.order == .open ? order.until : nil }
        guard settings.isEnabled else { return nil }
        return switch state {
        case .closed: nil
        case .open(let until, _): probe(until, settings)
        case .probing(let wait): now.advanced(by: wait)
        }
    }

    /// When it is probed; a break that was planned under longer settings ends by those of the present.
    private func probe(_ planned: Instant, _ settings: BreakerSettings) -> Instant {
        min(planned, failed.advanced(by: settings.maxBreakDuration + settings.maxBreakDuration / 5))
    }

    /// The memory of the attempts of late.
    package struct Memory: Hashable, Sendable {
        package let attempts: Int
        package let failed: Int
        package let failedInARow: Int
    }

    /// The counts it would judge by now.
    func memory(at now: Instant) -> Memory {
        var counts = counts
        counts.advance(to: now)
        let total = counts.total
        return Memory(attempts: Int(total.all), failed: Int(total.bad), failedInARow: failuresInARow)
    }

    /// An attempt that had leave has ended, as the probe or beside it; `random` is uniform in all of `UInt64`.
    ///
    /// - Returns: whether the state has changed.
    mutating func ended(
        _ word: Signal,
        epoch began: UInt32,
        isProbe: Bool = true,
        isSlow: Bool = false,
        _ settings: BreakerSettings,
        random: UInt64,
        _ now: Instant
    ) -> Bool {
        guard began == epoch else { return false }
        switch (state, word) {
        case (.closed, .nothing), (.open, _): return false
        case (.closed, _):
            count(bad: word == .fails, slow: isSlow, now)
            guard settings.isEnabled, order(at: now) == nil, isTooMuch(settings) else { return false }
            since = now
            open(settings.breakDuration, random, now)
            return true
        case (.probing(let wait), .nothing):
            // One that went beside the probe leaves it alone; where the probe says nothing, another is to find out.
            guard isProbe else { return false }
            state = .open(until: now, wait: wait)
            epoch &+= 1
            return false
        case (.probing, .fails):
            let tenth = (since ?? now).duration(to: now) / 10
            let whole = min(max(settings.breakDuration, tenth), settings.maxBreakDuration)
            open(max(settings.breakDuration, whole - probed.duration(to: now)), random, now)
            return true
        case (.probing, .works):
            close()
            return true
        }
    }

    /// Whether of the latest attempts at least half were answered, and as many ended as say something.
    var isMostlyAnswered: Bool {
        latestCount >= 20 && (latest & (1 << 20 - 1)).nonzeroBitCount <= 10
    }

    /// Whether it lets everything through, and nobody has said anything about it.
    func isIdle(_ now: Instant) -> Bool { state == .closed && order(at: now) == nil }

    /// An attempt of the present has succeeded, while it is closed.
    mutating func worked(_ now: Instant) {
        count(bad: false, slow: false, now)
    }

    @inline(__always)
    private mutating func count(bad: Bool, slow: Bool, _ now: Instant) {
        counts.add(bad: bad, slow: slow, now)
        latest = latest << 1 | (bad ? 1 : 0)
        if latestCount < 64 { latestCount += 1 }
        failuresInARow = bad ? failuresInARow + 1 : 0
    }

    /// An operator's word, for as long as that; nil leaves it to the machine again.
    mutating func ordered(_ order: Order?, until: Instant, _ now: Instant) {
        self.order = order.map { ($0, now, until) }
        close()
    }

    /// The operator's order, while it holds.
    package func order(at now: Instant) -> (order: Order, since: Instant, until: Instant)? {
        order.flatMap { now < $0.until ? $0 : nil }
    }

    private func isTooMuch(_ settings: BreakerSettings) -> Bool {
        if let most = settings.consecutiveFailures, failuresInARow >= most { return true }
        var total = counts.total
        let least = settings.minimumThroughput
        if settings.judgesLatest, latestCount >= least {
            let bad = (latest & UInt64.max >> UInt64(64 - least)).nonzeroBitCount
            // So many in a row are an outage that has begun a moment ago: what is answered goes on all the same.
            if bad == least { return true }
            if Int(total.all) < least { (total.all, total.bad) = (UInt32(least), UInt32(bad)) }
        }
        guard Int(total.all) >= least else { return false }
        return Double(total.bad) >= settings.failureRatio * Double(total.all)
            || settings.slowDuration != nil && Double(total.slow) >= settings.slowRatio * Double(total.all)
    }

    private mutating func open(_ wait: Duration, _ random: UInt64, _ now: Instant) {
        let nanoseconds = wait.saturatedNanoseconds
        let spread = Int64(random >> 11) % max(1, nanoseconds / 5 * 2)
        let until = now.advanced(by: .nanoseconds(nanoseconds - nanoseconds / 5 + spread))
        state = .open(until: until, wait: wait)
        failed = now
        epoch &+= 1
    }

    private mutating func close() {
        state = .closed
        since = nil
        counts.clear()
        (latest, latestCount) = (0, 0)
        failuresInARow = 0
        epoch &+= 1
    }
}

extension BreakerSettings {
    /// For how long attempts are counted.
    package var counted: Duration { judgesLatest ? .seconds(2) : sampling ?? .seconds(30) }

    /// Whether the last so many attempts are judged where fewer have ended in that time.
    var judgesLatest: Bool {
        sampling == nil && slowDuration == nil && minimumThroughput <= 64 && failureRatio >= 0.95
    }
}
