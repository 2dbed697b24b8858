/// One moment by both clocks, read together by the caller of a store.
package struct JobMoment: Hashable, Sendable {
    /// Milliseconds since 1970-01-01 UTC; may step either way.
    package var wall: Int64
    /// Milliseconds on the monotonic clock of this run of the process.
    package var steady: Int64

    package init(wall: Int64, steady: Int64) {
        self.wall = wall
        self.steady = steady
    }

    /// The clocks' present.
    package init(_ clock: some ClockSource) {
        self.init(wall: clock.wallMilliseconds(), steady: clock.now().nanoseconds / 1_000_000)
    }
}

/// The line on which a store keeps its times, in milliseconds: the wall clock without its steps.
///
/// While the process runs the line goes with the monotonic clock, so that a step of the wall clock moves no backoff
/// and no expiry. Across a restart it goes with the wall clock as far as that was from the line before, and never
/// back. What is due at a *date* is kept as that date and put on the line anew after a step.
package struct JobTimeline: Equatable, Sendable {
    /// A difference that counts as a step; less is the clocks' drift.
    package static let stepMilliseconds: Int64 = 1_000

    /// How far the wall clock is ahead of the line.
    package private(set) var skew: Int64
    /// The latest point of the line.
    package private(set) var now: Int64
    private var anchor: JobMoment
    private var anchorLine: Int64

    /// Starts a new line at the wall clock.
    package init(at moment: JobMoment) {
        skew = 0
        now = moment.wall
        anchor = moment
        anchorLine = moment.wall
    }

    /// Goes on where a line was left.
    package init(line: Int64, skew: Int64, at moment: JobMoment) {
        now = max(line, moment.wall &- skew)
        self.skew = moment.wall &- now
        anchor = moment
        anchorLine = now
    }

    /// Moves on to `moment`.
    ///
    /// - Returns: whether the wall clock has stepped since.
    package mutating func advance(to moment: JobMoment) -> Bool {
        now = max(now, anchorLine &+ (moment.steady &- anchor.steady))
        // A caller that read its clocks before another one is late, not a step back.
        guard moment.steady &- anchor.steady >= now &- anchorLine else { return false }
        let skew = moment.wall &- now
        guard abs(skew &- self.skew) >= Self.stepMilliseconds else { return false }
        self.skew = skew
        return true
    }

    package func line(ofWall wall: Int64) -> Int64 { wall.subtractingSaturating(skew) }
    package func wall(ofLine line: Int64) -> Int64 { line.addingSaturating(skew) }

    /// `line` plus a delay rounded up to milliseconds; saturates.
    package static func advance(_ line: Int64, by delay: Duration) -> Int64 {
        let nanoseconds = max(0, delay.saturatedNanoseconds)
        return line.addingSaturating(nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0))
    }
}

extension Int64 {
    package func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    package func subtractingSaturating(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
