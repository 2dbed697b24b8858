import RelayBase
import RelayClient
import RelayInterface
import RelayJSON

/// Reads from the daemon what there is on record of jobs, and changes nothing.
struct RecordReader {
    private let daemon: DaemonAccess
    private let progress = Progress("reading jobs")
    private var records = JobRecords()
    private var isFull = false

    /// Jobs that are rehearsed at most.
    private static let mostJobs = 10_000
    /// Jobs of a route that are looked through for what its upstreams did, and those of them that are read.
    private static let mostListed = 20_000
    private static let mostRead = 2_000
    /// Events that are looked through for requests with a failure.
    private static let mostEvents = 10_000

    init(_ daemon: DaemonAccess) { self.daemon = daemon }

    /// The jobs that match, what is known of others of their routes, and the last requests that had a failure.
    mutating func read(_ clause: WhereClause) throws(CommandFailure) -> JobRecords {
        defer { progress.end() }
        var pages = JobPages(daemon, JobQuery(clause, limit: Self.mostJobs))
        var ids: [String] = []
        while let page = try pages.page() { ids += page.compactMap { $0["id"]?.text } }
        if pages.next != nil {
            records.noteCut("More than \(Self.mostJobs) jobs match: the newest of them were rehearsed.")
        }
        try read(ids, "jobs")
        let remembered = try RememberedEvents(daemon, limit: Self.mostEvents)
        if remembered.isCut {
            records.note(
                "Requests of the last \(Self.mostEvents) events were read, and not those of older ones."
            )
        }
        let requests = remembered.events.compactMap { event -> String? in
            let types = ["waystation.job.attempt.failed", "waystation.job.recovered"]
            return types.contains(event["type"]?.text ?? "") ? event["data"]?["job"]?.text : nil
        }
        var seen: Set<String> = []
        let newest = requests.reversed().filter { seen.insert($0).inserted }
        if newest.count > Self.mostRead {
            records.note("Of \(newest.count) requests with a failure the last \(Self.mostRead) were read.")
        }
        try read(newest.prefix(Self.mostRead), "requests")
        let routes = Set(records.jobs.filter(clause.matches).map(\.route))
        for route in routes.sorted() { try readOthers(of: route, clause) }
        if isFull {
            records.noteCut(
                "The record has more than \(JobRecords.mostAttempts) attempts: the rest of the jobs was not read."
            )
        }
        return records
    }

    /// Other jobs of a route, since the first of those that are rehearsed.
    private mutating func readOthers(of route: String, _ clause: WhereClause) throws(CommandFailure) {
        let first = records.jobs.filter { $0.route == route && clause.matches($0) }.compactMap(\.createdAt)
            .min()
        var pages = JobPages(daemon, JobQuery(state: "", route: route))
        var (ids, listed): ([String], Int) = ([], 0)
        while listed < Self.mostListed, let page = try pages.page() {
            listed += page.count
            for json in page {
                let end = json["finished_at"]?.text.flatMap { WallTime($0) }
                if let end, let first, end < first { continue }
                guard let id = json["id"]?.text, !records.has(id) else { continue }
                if json["attempt_count"]?.integer ?? 0 > 0 { ids.append(id) }
            }
        }
        if ids.count > Self.mostRead || pages.next != nil {
            records.noteCut(
                "Route \(safe(route)) has more other jobs than were read: \(min(ids.count, Self.mostRead)) of the"
                    + " newest \(listed) tell what its upstreams did, spread evenly."
            )
        }
        let step = max(1, Double(ids.count) / Double(Self.mostRead))
        let count = min(ids.count, Self.mostRead)
        try read((0..<count).map { ids[Int(Double($0) * step)] }, "other jobs of \(safe(route))")
    }

    private mutating func read(_ ids: some Collection<String>, _ what: String) throws(CommandFailure) {
        for (index, id) in ids.enumerated() where !records.has(id) {
            if records.attemptCount >= JobRecords.mostAttempts {
                isFull = true
                return
            }
            progress.update("reading \(what): \(index) of \(ids.count)")
            do throws(CommandFailure) {
                let (_, json) = try daemon.document(.get, "/v1/jobs/\(percentEncoded(id))")
                if let job = Job(json) { records.add(job) }
            } catch {
                // It may have gone meanwhile.
                guard error.code == .notFound else { throw error }
            }
        }
    }
}
