package import RelayBase

/// An action on every job that matches, page by page, until all have been looked at or somebody stops it.
///
/// It is on disk with each of its pages, so that a restart goes on where it was.
package struct ActionRun: Hashable, Sendable {
    package enum State: String, CaseIterable, Sendable {
        case running
        /// All jobs have been looked at.
        case done
        /// Somebody ended it before.
        case stopped
        /// It could not go on.
        case failed
    }

    /// Names it; no other run has it.
    package var number: Int64 = 0
    package var action: JobAction
    package var filter: JobFilter
    package var rate: ActionRate?
    /// The words of whoever began it.
    package var why: String?
    /// The user who began it; nil when the kernel has no name for them.
    package var by: Principal?
    /// Milliseconds since 1970 UTC.
    package var began: Int64
    /// Jobs that matched then; nil where they were too many to count.
    package var total: Int?
    /// The jobs that were there when it began.
    package var scope = Scope()
    /// The last job that it has looked at.
    package var cursor: JobCursor?
    package var count = ActionCount()
    /// Milliseconds since 1970 UTC before which its rate allows no more.
    package var next: Int64
    package var state = State.running
    /// Milliseconds since 1970 UTC.
    package var ended: Int64?
    /// The user who stopped it.
    package var endedBy: Principal?
    /// The reason of its failure.
    package var failure: String?
    /// Counts its records: of two the later one has more.
    package var version: UInt64 = 0

    /// Jobs that came later, or ended later, lie outside of it.
    package struct Scope: Hashable, Sendable {
        /// The last job.
        package var last = JobCursor(position: .max)
        /// The present on the store's line of time.
        package var line = Int64.max

        package init() {}

        package init(last: JobCursor, line: Int64) { (self.last, self.line) = (last, line) }
    }

    package init(_ action: JobAction, _ filter: JobFilter, by: Principal?, at wall: Int64) {
        self.action = action
        self.filter = filter
        self.by = by
        began = wall
        next = wall
    }

    /// Runs that may go on at once.
    package static let mostRunning = 8
    /// Runs that are over and told of.
    package static let mostEnded = 20
    /// Jobs of one step.
    package static let page = 500
}

/// The next page of a run.
package struct RunStep: Hashable, Sendable {
    /// Jobs at most.
    package var limit: Int
    package var spacing: JobSpacing?
    /// The routes that are paused, as a filter has them.
    package var pausedRoutes: Set<String>

    package init(limit: Int, spacing: JobSpacing? = nil, pausedRoutes: Set<String> = []) {
        self.limit = limit
        self.spacing = spacing
        self.pausedRoutes = pausedRoutes
    }
}

/// A run after one of its pages.
package struct RunAdvance: Sendable {
    package var run: ActionRun
    package var report: ActionReport

    package init(_ run: ActionRun, _ report: ActionReport) { (self.run, self.report) = (run, report) }
}

extension ActionRun {
    /// The order for its next page.
    package func order(_ step: RunStep) -> ActionOrder {
        var filter = filter
        filter.pausedRoutes = step.pausedRoutes
        var order = ActionOrder(
            action,
            filter,
            limit: min(step.limit, ActionRun.page),
            by: .user(by, isBulk: true)
        )
        order.cursor = cursor
        order.scope = scope
        order.spacing = step.spacing
        return order
    }

    /// Takes up what a page has come to.
    package mutating func add(_ report: ActionReport, at wall: Int64) {
        count.add(report)
        cursor = report.next ?? cursor
        if let rate {
            let wait = Int64(Double(report.changed) * 1_000 / rate.perSecond)
            next = max(next, wall).addingSaturating(wait)
        }
        version += 1
        if report.next == nil { end(.done, at: wall) }
    }

    /// Ends it; one that is over stays as it is.
    package mutating func end(
        _ state: State,
        by: Principal? = nil,
        failure: String? = nil,
        at wall: Int64
    ) {
        guard self.state == .running else { return }
        (self.state, ended, endedBy, self.failure) = (state, wall, by, failure)
        version += 1
    }
}

extension [ActionRun] {
    /// The numbers of those that are over and that nobody is told of any more.
    package var forgotten: [Int64] {
        filter { $0.state != .running }.map(\.number).sorted(by: >).dropFirst(ActionRun.mostEnded).map(\.self)
    }
}
