/// Decides when a changed status line is sent: at most once per interval, and never the same line twice.
package struct StatusThrottle: Sendable {
    private let interval: Int64
    private var lastSent: String?
    private var nextAllowed = Int64.min
    private var held: String?

    /// - Parameter interval: the shortest time between two lines; default one second.
    package init(interval: Duration = .seconds(1)) {
        self.interval = Int64(interval / .nanoseconds(1))
    }

    /// The moment the held line may go, in monotonic nanoseconds; nil when none is held.
    package var due: Int64? { held == nil ? nil : nextAllowed }

    /// A new line was offered.
    ///
    /// - Returns: the line when it may go at once; otherwise it is held in the place of an older one.
    package mutating func offered(_ line: String, at now: Int64) -> String? {
        guard line != lastSent else {
            held = nil
            return nil
        }
        held = line
        return elapsed(at: now)
    }

    /// Time has passed.
    ///
    /// - Returns: the held line when it may go now.
    package mutating func elapsed(at now: Int64) -> String? {
        guard let line = held, now >= nextAllowed else { return nil }
        sent(line, at: now)
        return line
    }

    /// The line went out as part of another notification.
    package mutating func sent(_ line: String, at now: Int64) {
        held = nil
        lastSent = line
        nextAllowed = now.addingReportingOverflow(interval).overflow ? .max : now + interval
    }
}
