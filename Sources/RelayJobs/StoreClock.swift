package import RelayBase

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
/// and no expiry. Across a restart it goes with the wall clock as far as that was ahead of it before, and never back; a
/// clock that was behind it comes back to it first. A due time that is a *date* is kept as that date and put on the
/// line anew after a step.
///
/// Where a clock says at a start that more has passed than `certain`, it may be wrong: the rest counts once the clock has
/// gone on for `belief` without a step. A step meanwhile says how much of it there is.
package struct StoreClock: Equatable, Sendable {
    /// A difference that counts as a step; less is the clocks' drift.
    package static let stepMilliseconds: Int64 = 1_000
    /// The time for which a start takes a clock's word: two hours.
    package static let certain: Int64 = 7_200_000
    /// How long a clock has to go on without a step to be believed: ten minutes.
    package static let belief: Int64 = 600_000

    /// How far the wall clock is ahead of the line.
    package private(set) var skew: Int64
    /// The latest point of the line.
    package private(set) var now: Int64
    /// The time that has passed beyond that, if the clock is right.
    package private(set) var owed: Int64
    /// Where on the line it is believed.
    package private(set) var beliefAt: Int64
    private var anchor: JobMoment
    private var anchorLine: Int64

    /// Starts a new line at the wall clock.
    package init(at moment: JobMoment) {
        self.init(line: moment.wall, skew: 0, at: moment)
    }

    /// Goes on where a line was left.
    package init(line: Int64, skew: Int64, owed: Int64 = 0, at moment: JobMoment) {
        let ahead = max(0, skew.subtractingSaturating(owed))
        let elapsed = max(0, moment.wall.subtractingSaturating(ahead).subtractingSaturating(line))
        now = line.addingSaturating(min(elapsed, Self.certain))
        self.owed = max(0, elapsed - Self.certain)
        self.skew = moment.wall &- now
        beliefAt = now.addingSaturating(Self.belief)
        anchor = moment
        anchorLine = now
    }

    /// Moves on to `moment`.
    ///
    /// - Returns: whether the wall clock has stepped since, or is believed now.
    package mutating func advance(to moment: JobMoment) -> Bool {
        now = max(now, anchorLine &+ (moment.steady &- anchor.steady))
        // A caller that read its clocks before another one is late, not a step back.
        guard moment.steady &- anchor.steady >= now &- anchorLine else { return false }
        let skew = moment.wall &- now
        let step = skew &- self.skew
        if abs(step) >= Self.stepMilliseconds {
            if owed > 0 {
                owed = max(0, owed.addingSaturating(step))
                beliefAt = now.addingSaturating(Self.belief)
            }
            self.skew = skew
            return true
        }
        guard owed > 0, now >= beliefAt else { return false }
        now = now.addingSaturating(owed)
        anchorLine = anchorLine.addingSaturating(owed)
        self.skew = moment.wall &- now
        owed = 0
        return true
    }

    /// The line as it is if the clock is right: what begins now and lasts ends by it, and so never too early.
    package var latest: Int64 { now.addingSaturating(owed) }

    /// Whether it is not known yet if that time has come.
    package func isDoubtful(_ time: Int64) -> Bool { time > now && time <= latest }

    /// The wall clock's time of what was, or is to be, by `latest`.
    package func shown(_ line: Int64) -> Int64 {
        line.addingSaturating(skew.subtractingSaturating(owed))
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
