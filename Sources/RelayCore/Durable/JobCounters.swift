/// How many jobs there are, by route and state, and how old.
package struct JobCounters: Hashable, Sendable {
    /// One route's jobs in one state.
    package struct Group: Hashable, Sendable {
        package var route: String
        package var state: JobState

        package init(route: String, state: JobState) {
            self.route = route
            self.state = state
        }
    }

    package var counts: [Group: Int] = [:]
    /// Unfinished jobs by age; `JobCounters.bucket` says which.
    package var ages: [Group: [Int]] = [:]
    /// When each route's oldest unfinished job was accepted, in milliseconds since 1970 UTC.
    package var oldest: [String: Int64] = [:]

    package init() {}

    /// Less than 1, 2, 4, … 512 minutes, and more.
    package static let bucketCount = 11

    /// The place of an age in a histogram.
    package static func bucket(ageMinutes: Int64) -> Int {
        guard ageMinutes >= 1 else { return 0 }
        return min(bucketCount - 1, 64 - ageMinutes.leadingZeroBitCount)
    }

    /// Takes up `count` jobs accepted in the minute `minute` since 1970.
    package mutating func add(_ group: Group, count: Int, minute: Int64, nowMinute: Int64) {
        guard count != 0 else { return }
        counts[group, default: 0] += count
        guard !group.state.isTerminal else { return }
        let bucket = Self.bucket(ageMinutes: nowMinute - minute)
        ages[group, default: Array(repeating: 0, count: Self.bucketCount)][bucket] += count
        oldest[group.route] = min(oldest[group.route] ?? .max, minute * 60_000)
    }
}

/// Facts about a store for status and metrics.
package struct StoreFacts: Hashable, Sendable {
    /// Bytes in use, bodies in files included.
    package var usedBytes: UInt64 = 0
    /// What acceptance stops at.
    package var maxBytes: UInt64 = 0
    /// Whether there is no room: nothing is accepted until there is again.
    package var isFull = false
    /// Transactions since the store was opened.
    package var commits: UInt64 = 0
    /// Jobs accepted, claims and settlements in those transactions.
    package var operations: UInt64 = 0
    /// Records found damaged since the store was opened.
    package var corruptRecords: UInt64 = 0
    /// Bytes of the write-ahead log on disk.
    package var logBytes: UInt64 = 0

    package init() {}
}

/// How long jobs and their bodies are kept once they are over.
package struct Retention: Hashable, Sendable {
    package var succeeded: Duration = .seconds(24 * 3_600)
    /// Also of cancelled and expired jobs.
    package var dead: Duration = .seconds(30 * 24 * 3_600)
    /// Of requests and answers; the record itself may stay longer.
    package var bodies: Duration = .seconds(7 * 24 * 3_600)

    package init() {}
}

/// What one sweep did.
package struct SweepReport: Hashable, Sendable {
    package var expired = 0
    /// Those that expired in it, for whoever tells of it.
    package var expiredJobs: [Expired] = []
    package var removed = 0
    package var expunged = 0
    /// Whether more is due now: sweep again soon.
    package var hasMore = false

    package init() {}
}

extension SweepReport {
    /// A job whose time ran out while it waited.
    package struct Expired: Hashable, Sendable {
        package var id: JobID
        package var route: String
        /// Who handed it over.
        package var user: UInt32?

        package init(id: JobID, route: String, user: UInt32?) {
            self.id = id
            self.route = route
            self.user = user
        }
    }
}

extension JobCounters {
    /// Jobs of `route` (nil: of every one) that are not over.
    package func unfinished(_ route: String? = nil) -> Int {
        count(route) { !$0.isTerminal }
    }

    /// Jobs of `route` (nil: of every one) in `state`.
    package func count(_ state: JobState, of route: String? = nil) -> Int {
        count(route) { $0 == state }
    }

    private func count(_ route: String?, _ isMeant: (JobState) -> Bool) -> Int {
        counts.reduce(0) { sum, group in
            (route == nil || group.key.route == route) && isMeant(group.key.state) ? sum + group.value : sum
        }
    }
}
