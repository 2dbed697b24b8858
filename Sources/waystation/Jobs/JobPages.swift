import RelayBase
import RelayJSON

/// Reads a list of jobs page by page.
struct JobPages {
    private let daemon: DaemonAccess
    private let query: JobQuery
    private var left: Int
    private var hasBegun = false
    /// Where the list goes on; nil at its end.
    private(set) var next: String?

    init(_ daemon: DaemonAccess, _ query: JobQuery) {
        self.daemon = daemon
        self.query = query
        left = query.limit ?? .max
    }

    /// The next jobs; nil after the last.
    mutating func page() throws(CommandFailure) -> [JSONValue]? {
        guard left > 0, !hasBegun || next != nil else { return nil }
        let (_, document) = try daemon.document(.get, query.target(count: left, cursor: next))
        guard case .array(let jobs) = document["jobs"] else {
            throw CommandFailure(.failed, "the daemon's answer has no list of jobs")
        }
        hasBegun = true
        left -= min(left, jobs.count)
        next = document["next"]?.text
        return jobs
    }
}
