package import RelayBase

/// Unfinished jobs of one route that time or their rules may end without success by a certain moment.
///
/// Moments are in milliseconds since 1970 UTC.
package struct EndingJobs: Hashable, Sendable {
    /// How many there are, and when the first of them ends.
    package struct Share: Hashable, Sendable {
        package private(set) var count = 0
        package private(set) var first: Int64?

        package init(_ count: Int = 0, first: Int64? = nil) {
            self.count = count
            self.first = count > 0 ? first : nil
        }

        package static func + (one: Share, other: Share) -> Share {
            let first = [one.first, other.first].compactMap(\.self).min()
            return Share(one.count + other.count, first: first)
        }
    }

    /// Jobs that failed last in the same way, have made as many attempts, and are due in the same minute.
    package struct Failed: Hashable, Sendable {
        package var kind: FailureKind
        package var status: Status?
        /// Attempts since acceptance or the last replay, and those of them that count against the job's allowance.
        package var (made, spent): (Int, Int)
        package var due: Int64
        package var count: Int

        package init(
            _ kind: FailureKind,
            _ status: Status? = nil,
            made: Int,
            spent: Int,
            due: Int64,
            count: Int
        ) {
            (self.kind, self.status) = (kind, status)
            (self.made, self.spent) = (made, spent)
            (self.due, self.count) = (due, count)
        }
    }

    /// Jobs that expire by then, but for those on hold.
    package var expiring = Share()
    /// Jobs on hold that do.
    package var held = Share()
    /// Jobs that do not, have failed and are due by then.
    package var failed: [Failed] = []

    package init() {}
}
