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
    /// Since when the first job of each route has been due that waits for its turn or runs, in milliseconds since 1970 UTC.
    package var due: [String: Int64] = [:]
    /// When the first job that waits for its date is due of each route that retries, in milliseconds since 1970 UTC.
    package var next: [String: Int64] = [:]

    /// Unfinished notices, which stand in the other numbers as well.
    package var notices = 0

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

extension JobCounters {
    private static let unfinished = JobState.allCases.filter { !$0.isTerminal }

    /// Jobs of `route` (nil: of every one) that are not over.
    package func unfinished(_ route: String? = nil) -> Int { count(Self.unfinished, route) }

    /// Jobs of `route` (nil: of every one) in `state`.
    package func count(_ state: JobState, of route: String? = nil) -> Int { count([state], route) }

    /// A document of all routes asks this of each: the jobs of one are found without a walk over those of the others.
    private func count(_ states: [JobState], _ route: String?) -> Int {
        guard let route else {
            return counts.reduce(0) { states.contains($1.key.state) ? $0 + $1.value : $0 }
        }
        return states.reduce(0) { $0 + (counts[Group(route: route, state: $1)] ?? 0) }
    }
}
