import RelayBase
import RelayJobs

/// Decides when a run takes its next page, and how large that is.
struct RunMachine {
    enum Order: Equatable {
        case step(RunStep)
        case wait(until: Instant)
        /// It is over.
        case end
    }

    private(set) var run: ActionRun
    /// Not before then.
    private var due: Instant
    /// Calls of the store that failed, one after the other.
    private var failures = 0

    /// Of a run with a rate: jobs of one step are due within that.
    private static let span: Duration = .seconds(1)
    /// Between two calls of a store that does not do what it is asked.
    private static let waits: ClosedRange<Duration> = .seconds(1) ... .seconds(30)

    /// Goes on with a run as it is on record; a wall clock that has stepped delays it by one step at most.
    init(_ run: ActionRun, _ now: Instant, wall: Int64) {
        self.run = run
        let longest = run.rate.map { max(Self.span, $0.interval) } ?? .zero
        let wait = Duration.milliseconds(max(0, run.next.subtractingSaturating(wall)))
        due = now.advanced(by: min(wait, longest))
    }

    func next(_ now: Instant, pausedRoutes: Set<String>) -> Order {
        guard run.state == .running else { return .end }
        guard due <= now else { return .wait(until: due) }
        guard let rate = run.rate else {
            return .step(RunStep(limit: ActionRun.page, pausedRoutes: pausedRoutes))
        }
        let limit = max(1, min(ActionRun.page, Int(rate.perSecond)))
        let spacing = JobSpacing(first: .zero, interval: rate.interval)
        return .step(RunStep(limit: limit, spacing: spacing, pausedRoutes: pausedRoutes))
    }

    /// A page is on disk, or somebody ended the run.
    mutating func advanced(_ run: ActionRun, _ now: Instant) {
        guard run.version > self.run.version else { return }
        let changed = run.count.changed - self.run.count.changed
        self.run = run
        failures = 0
        guard let rate = run.rate else {
            due = now
            return
        }
        let wait = JobSpacing(first: .zero, interval: rate.interval).delay(of: changed)
        // A step that was late does not slow the next; what was missed is not made up for.
        due = max(due, now.advanced(by: .zero - Self.span)).advanced(by: wait)
    }

    /// The store did not do it: nothing of the page is on disk.
    mutating func refused(_ now: Instant) {
        let wait = Self.waits.lowerBound * (1 << min(failures, 5))
        failures += 1
        due = now.advanced(by: min(wait, Self.waits.upperBound))
    }
}
