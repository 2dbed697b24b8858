package import RelayCore

/// Jobs that ended in the store, kept until somebody can be told.
package struct EndedJobs: Sendable {
    /// As many as the feed of events keeps.
    private static let most = 4_096

    package private(set) var jobs: [EndedJob] = []
    /// Those that found no place, of which only their number is known.
    package private(set) var more = 0

    package init(_ jobs: [EndedJob] = []) { add(jobs) }

    package mutating func add(_ ended: [EndedJob]) {
        let room = max(0, EndedJobs.most - jobs.count)
        jobs += ended.prefix(room)
        more += max(0, ended.count - room)
    }

    package mutating func add(_ ended: EndedJobs) {
        add(ended.jobs)
        more += ended.more
    }
}
