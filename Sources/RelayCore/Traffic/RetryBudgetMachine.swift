import RelayBase
import RelayRoute

/// Bounds what a route's retries add to its load, whatever its rules allow.
///
/// With the defaults, of a route with 100 requests a second: while every attempt fails, 100 retries in each ten seconds,
/// which are 10 percent of 1,000, and beyond those no more than three at once, nor twelve that fail in a second: an upstream
/// that refuses within a millisecond is not asked a thousand times a second, and one request with a few quick retries has
/// them. A retry that succeeds gives back what it took, and counts as load itself: what drains a backlog is not held up.
struct RetryBudgetMachine: Sendable {
    private static let memory: Duration = .seconds(10)
    /// Retries that fail one after the other within a second and take one place of the floor.
    private static let quick = 4

    /// Attempts that were no retries, and retries that succeeded.
    private var load = RollingCounts(over: memory)
    private var failed = RollingCounts(over: memory)
    /// Those of the last second.
    private var justFailed = RollingCounts(over: .seconds(1))
    /// Retries that were decided on and have not ended, their waits included.
    private(set) var underWay = 0

    /// Whether there is anything left; kept jobs are bound by what has failed alone, since their pace is the window's, and
    /// one at a time goes whatever has failed: on a route without other load it would wait for ever.
    mutating func hasCapacity(_ settings: RetryBudgetSettings, isKept: Bool = false, _ now: Instant) -> Bool {
        justFailed.advance(to: now)
        guard settings.isEnabled,
            underWay + Int(justFailed.total.all) / RetryBudgetMachine.quick
                >= max(settings.floor, isKept ? 1 : 0)
        else { return true }
        load.advance(to: now)
        failed.advance(to: now)
        let spent = (isKept ? 0 : underWay) + Int(failed.total.all)
        return spent * 100 < settings.percent * Int(load.total.all)
    }

    /// How many retries more requests may decide on now; nil where nothing bounds them.
    func left(_ settings: RetryBudgetSettings, _ now: Instant) -> Int? {
        guard settings.isEnabled else { return nil }
        var (load, failed, justFailed) = (load, failed, justFailed)
        justFailed.advance(to: now)
        load.advance(to: now)
        failed.advance(to: now)
        let spent = underWay + Int(failed.total.all)
        // As many as keep what is spent below the share, the last one included that begins below it.
        let share = (settings.percent * Int(load.total.all) - spent * 100 + 99) / 100
        return max(0, settings.floor - underWay - Int(justFailed.total.all) / RetryBudgetMachine.quick, share)
    }

    /// Takes room for a second sending beside the first, which counts as a retry that failed, whatever comes of it: an
    /// upstream that has become slow would get twice its load from those that succeed.
    ///
    /// Half of the share is left to retries, which follow failures and not mere slowness.
    ///
    /// - Returns: false where there is no room; the floor gives it none.
    mutating func takesHedge(_ settings: RetryBudgetSettings, _ now: Instant) -> Bool {
        guard settings.isEnabled else { return true }
        load.advance(to: now)
        failed.advance(to: now)
        let spent = underWay + Int(failed.total.all)
        guard spent * 200 < settings.percent * Int(load.total.all) else { return false }
        failed.add(now)
        return true
    }

    /// The second sending that had taken its room was not sent.
    mutating func notHedged(_ settings: RetryBudgetSettings, _ now: Instant) {
        if settings.isEnabled { failed.takeBack(now) }
    }

    /// A request began its first attempt.
    mutating func began(_ now: Instant) { load.add(now) }

    mutating func retryBegan() { underWay += 1 }

    /// A retry ended; nil where nothing is known of the upstream.
    mutating func retryEnded(succeeded: Bool?, _ now: Instant) {
        underWay -= 1
        switch succeeded {
        case true?: load.add(now)
        case false?:
            failed.add(now)
            justFailed.add(now)
        case nil: break
        }
    }
}
