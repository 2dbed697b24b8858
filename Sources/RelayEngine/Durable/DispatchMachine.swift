package import RelayBase
package import RelayJobs

/// Decides when the jobs of one route are claimed: how many, and what has to happen first.
///
/// Times are those of the monotonic clock. Two limits belong to it: claims that are not settled, and, after a
/// credential failed, one probe at a time.
package struct DispatchMachine: Sendable {
    /// Jobs claimed in one go.
    package static let batch = 64
    /// How long it sleeps at most: a step of the wall clock may have brought a date nearer.
    package static let longestSleep: Duration = .seconds(60)
    /// How soon it looks again whether memory is still short.
    package static let shortSleep: Duration = .seconds(1)
    /// How long nothing is claimed at most after a run that was held back.
    package static let longestHold: Duration = .seconds(1)
    /// The first and the longest wait after a failed credential.
    package static let firstProbe: Duration = .seconds(1)
    package static let longestProbe: Duration = .seconds(60)
    /// The first and the longest wait after a claim that the store could not answer.
    package static let firstRetry: Duration = .milliseconds(100)
    package static let longestRetry: Duration = .seconds(1)
    /// A store that finishes no settlement for so long is slow: what it has to write stays in memory meanwhile.
    package static let longestSettlement: Duration = .seconds(1)

    package private(set) var gate = Gate.open
    /// Jobs that are claimed and not settled.
    package private(set) var unsettled = 0
    /// Jobs that are claimed and have neither begun an attempt nor left: what room there is may be theirs.
    private var starting = 0
    /// Whether more would be claimed if those had begun.
    private var waitsForStarts = false
    private var isEnded = false
    /// Due jobs that the store may have; nil while there may be any number, until a claim has shown that it has no more.
    ///
    /// Never less than there are, or some would be forgotten; nor more where that is known, since who claims for more than
    /// wait keeps permits from jobs that are being accepted.
    private var waiting: Int?
    /// Whether the claim that is on its way was asked for without knowing how many wait.
    private var isSearching = false
    private var nextDue: Instant?
    /// The wait after the next claim that fails.
    private var retry = DispatchMachine.firstRetry
    private let maxUnsettled: Int
    /// Runs whose settlement is on its way to disk.
    private var settling = 0
    /// When the store last finished a settlement, or was first asked for one.
    private var lastProgress: Instant?
    /// Whether its last answer to a settlement was that it could not.
    private var hasFailed = false
    /// Whether more would be claimed if less were unsettled.
    private var isFull = false
    /// Whether more would be claimed if the upstream might be sent more.
    package private(set) var isHeldBack = false
    /// Nothing is claimed before then, since a run was held back that should not have been claimed.
    private var notBefore: Instant?
    /// When what had held the route back was last over.
    private var resumedAt = Instant(nanoseconds: .min)

    package init(maxUnsettled: Int = 1_024) { self.maxUnsettled = maxUnsettled }

    /// Whether the route's credential lets jobs through.
    package enum Gate: Hashable, Sendable {
        /// Can transition to: shut.
        case open
        /// It failed: nothing is claimed until then, and then one job.
        ///
        /// Can transition to: probing, open.
        case shut(until: Instant, wait: Duration)
        /// One job finds out.
        ///
        /// Can transition to: shut, open.
        case probing(wait: Duration)
    }

    package enum Step: Hashable, Sendable {
        /// Take permits, at most so many, and claim as many jobs as there are permits.
        case claim(atMost: Int)
        /// Nothing to do until then, or until something happens.
        case sleep(until: Instant)
        /// Nothing will be claimed any more.
        case end
    }

    /// The step to take now.
    ///
    /// While settlements fail or are slow, no more is unsettled than the route has `permits`, and a quarter of them while
    /// memory `isShort`; no more is claimed than there is `capacity` for in the route's traffic, which may be `later`.
    package mutating func step(
        _ now: Instant,
        permits: Int = .max,
        isPaused: Bool = false,
        isShort: Bool = false,
        capacity: Int = .max,
        later: Instant? = nil
    ) -> Step {
        if isEnded { return .end }
        (isHeldBack, waitsForStarts) = (false, false)
        let latest = now.advanced(by: DispatchMachine.longestSleep)
        if let due = nextDue, due <= now {
            waiting = nil
            nextDue = nil
        }
        let limit = limit(now, permits, isShort)
        isFull = unsettled >= limit
        if isPaused { return .sleep(until: latest) }
        if isFull { return .sleep(until: isShort ? now.advanced(by: DispatchMachine.shortSleep) : latest) }
        guard waiting != 0 else { return .sleep(until: min(latest, nextDue ?? latest)) }
        let held = capacity == 0 ? later ?? latest : notBefore ?? now
        isHeldBack = held > now
        if isHeldBack { return .sleep(until: min(latest, held)) }
        waitsForStarts = capacity <= starting
        if waitsForStarts { return .sleep(until: latest) }
        switch gate {
        case .open:
            return .claim(
                atMost: min(DispatchMachine.batch, limit - unsettled, waiting ?? .max, capacity - starting)
            )
        case .shut(let until, _): return until <= now ? .claim(atMost: 1) : .sleep(until: min(latest, until))
        case .probing: return .sleep(until: latest)
        }
    }

    /// A claim of so many jobs is about to be asked for: what becomes ready from now on may not be in its answer.
    package mutating func claiming(_ asked: Int) {
        isSearching = waiting == nil
        waiting = max(0, (waiting ?? 0) - asked)
    }

    /// The store has answered a claim.
    ///
    /// - Returns: whether the job is a probe of the credential.
    package mutating func claimed(_ count: Int, of asked: Int, nextDue: Instant?, _ now: Instant) -> Bool {
        unsettled += count
        starting += count
        retry = DispatchMachine.firstRetry
        // A claim that found as many as were known to wait has not looked any further.
        if isSearching || count < asked { self.nextDue = nextDue }
        if isSearching, count == asked { waiting = nil }
        guard count > 0, case .shut(let until, let wait) = gate, until <= now else { return false }
        gate = .probing(wait: wait)
        return true
    }

    /// The store could not answer a claim; `random` spreads the next ones of several routes, and grows their waits.
    package mutating func claimFailed(_ now: Instant, random: UInt64? = nil) {
        // Until then only what is new is a reason to ask.
        waiting = 0
        guard let random else {
            nextDue = now.advanced(by: DispatchMachine.longestRetry)
            return
        }
        nextDue = now.advanced(by: retry.spread(random))
        retry = min(retry * 2, DispatchMachine.longestRetry)
    }

    /// A job is on its way to disk, with a permit: whether it may be claimed with its acceptance.
    ///
    /// It counts as a claim until it is withdrawn or settled. The store looks at what else is wanted, and what waits.
    package mutating func offered(
        _ now: Instant,
        permits: Int = .max,
        isPaused: Bool = false,
        isShort: Bool = false,
        capacity: Int = .max
    ) -> Bool {
        guard !isEnded, !isPaused, gate == .open, capacity > starting,
            unsettled < limit(now, permits, isShort)
        else {
            return false
        }
        unsettled += 1
        starting += 1
        return true
    }

    /// The store has not claimed it.
    ///
    /// - Returns: whether there was no room for another claim until now.
    package mutating func withdrawn() -> Bool {
        unsettled -= 1
        starting -= 1
        defer { (isFull, waitsForStarts) = (false, false) }
        return isFull || waitsForStarts
    }

    /// A run has begun its first attempt, or has left without one.
    ///
    /// - Returns: whether its start was waited for.
    package mutating func started() -> Bool {
        starting -= 1
        defer { waitsForStarts = false }
        return waitsForStarts
    }

    /// A run could not be sent before that moment, which its claim had not known: what held it back may be another
    /// upstream's, or others were faster; what has been over since it began counts for nothing.
    package mutating func heldBack(until moment: Instant, since began: Instant, _ now: Instant) {
        guard began >= resumedAt else { return }
        notBefore = min(moment, now.advanced(by: DispatchMachine.longestHold))
    }

    /// The reason that held the route back is over.
    package mutating func resumed(_ now: Instant) {
        (resumedAt, notBefore, waiting) = (now, nil, nil)
    }

    /// The store is asked to settle a claim.
    package mutating func settling(_ now: Instant) {
        if settling == 0 { lastProgress = now }
        settling += 1
    }

    /// The store could not settle a claim; it will be asked again.
    package mutating func settlementFailed() { hasFailed = true }

    /// A claim is settled.
    ///
    /// - Returns: whether there was no room for another claim until now.
    package mutating func settled(_ now: Instant) -> Bool {
        unsettled -= 1
        settling -= 1
        lastProgress = now
        hasFailed = false
        defer { (isFull, isHeldBack) = (false, false) }
        return isFull || isHeldBack
    }

    /// Claims that may be unsettled.
    private func limit(_ now: Instant, _ permits: Int, _ isShort: Bool) -> Int {
        if isShort { return min(maxUnsettled, DispatchMachine.shortLimit(permits)) }
        return isHeldUp(now) ? min(maxUnsettled, max(1, permits)) : maxUnsettled
    }

    /// The number of jobs that is enough to go on with while memory is short.
    static func shortLimit(_ permits: Int) -> Int { max(1, permits / 4) }

    /// Whether the store does not keep up.
    private func isHeldUp(_ now: Instant) -> Bool {
        guard settling > 0, let lastProgress else { return false }
        return hasFailed || lastProgress.duration(to: now) >= DispatchMachine.longestSettlement
    }

    /// Jobs have become due; any number may have where that is not told.
    package mutating func ready(_ work: FreshWork? = nil) {
        if let work, !work.hasDates { waiting? += work.jobs } else { waiting = nil }
    }

    /// No more claims.
    package mutating func end() { isEnded = true }
}

// The credential of the route.
extension DispatchMachine {
    /// How a run met the route's credential.
    package enum Credential: Hashable, Sendable {
        /// It was refused, or could not be had.
        case failed
        /// The attempt got beyond it.
        case passed
        /// The run ended before that was known.
        case unknown
    }

    /// A run is over.
    ///
    /// Runs that began before the gate shut say nothing that is not known. `random` spreads the probes of
    /// several routes: a fifth longer at most.
    ///
    /// - Returns: whether the gate has changed.
    package mutating func ran(
        _ credential: Credential,
        isProbe: Bool,
        random: UInt64,
        _ now: Instant
    ) -> Bool {
        let before = gate
        switch (credential, gate) {
        case (.failed, .open): shut(DispatchMachine.firstProbe, random, now)
        case (.failed, .probing(let wait)) where isProbe:
            shut(min(wait * 2, DispatchMachine.longestProbe), random, now)
        case (.passed, .probing), (.passed, .shut):
            guard isProbe else { break }
            gate = .open
            waiting = nil
        case (.unknown, .probing(let wait)) where isProbe:
            gate = .shut(until: now, wait: wait)
            waiting = nil
        case (.failed, _), (.unknown, _), (.passed, .open): break
        }
        return gate != before
    }

    /// The configuration is another, and with it perhaps the credential: the next probe need not wait.
    package mutating func reconfigured(_ now: Instant) {
        guard case .shut(_, let wait) = gate else { return }
        gate = .shut(until: now, wait: wait)
    }

    private mutating func shut(_ wait: Duration, _ random: UInt64, _ now: Instant) {
        let spread = wait.saturatedNanoseconds / 5
        let extra = Int64(random >> 11) % max(1, spread)
        gate = .shut(until: now.advanced(by: wait).advanced(by: .nanoseconds(extra)), wait: wait)
        waiting = nil
    }
}

extension Duration {
    /// Half of it, and at random up to as much again.
    func spread(_ random: UInt64) -> Duration {
        let half = saturatedNanoseconds / 2
        return .nanoseconds(half + Int64(random >> 11) % max(1, half))
    }
}
