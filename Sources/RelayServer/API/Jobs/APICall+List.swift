import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

extension APICall {
    /// Pages read for one answer: a filter that few jobs match gives a short list with a cursor rather than a late one,
    /// and an empty one only after ten seconds of looking.
    private static let pageLimit = 16
    private static let emptyLimit = 200

    /// A part of the list of jobs.
    func list(_ caller: Caller) async throws(Problem) -> Answer {
        let query = try query()
        var filter = try JobFilter(query)
        let order = try query.value(JobListing.order)
        let limit = try query.value(JobListing.limit)
        var cursor: JobCursor?
        if let text = query[JobListing.cursor] {
            guard let known = JobCursor(text: text) else {
                throw Problem(.badTarget, "cursor is what an earlier answer has as next, unchanged")
            }
            cursor = known
        }
        filter.pausedRoutes = caller.server.durable.pauses.routes(of: filter.reason)
        let sight = JobAccess(caller)
        try sight.narrow(&filter)
        // Which routes others have jobs of is not everybody's to know; and the last job may go while a list is read.
        if sight.isUnlimited, cursor == nil { try await APICall.checkFilter(filter.route, caller.server) }
        // Where there is no fleet, no daemon of one has any.
        guard filter.holder == nil || caller.server.durable.store.member != nil else {
            return Answer(200, Array("{\"jobs\":[],\"next\":null}".utf8))
        }
        let view = JobView(caller.server)
        var found = 0
        var list = JSONArrayWriter()
        for index in 0..<APICall.emptyLimit where index < APICall.pageLimit || found == 0 {
            let page = try await caller.server.durable.store.told { store throws(StoreError) in
                try await store.jobs(filter, order: order, limit: limit - found, after: cursor)
            }
            for job in page.jobs { list.element(json: view.line(job)) }
            found += page.jobs.count
            cursor = page.next
            guard found < limit, cursor != nil, caller.isThere else { break }
        }
        var json = JSONObjectWriter()
        json.member("jobs", json: list.bytes)
        guard let cursor else {
            json.member("next", JSONValue.null)
            return Answer(200, json.bytes)
        }
        json.member("next", cursor.text)
        let target = query.target(replacing: "cursor", with: cursor.text)
        return Answer(200, json.bytes, fields: [("Link", "<\(target)>; rel=\"next\"")])
    }
}

extension JobFilter {
    /// States by their words.
    static var stateWords: [(word: String, value: JobState)] { JobState.allCases.map { ($0.name, $0) } }
    /// Reasons by their words.
    static var reasonWords: [(word: String, value: WaitReason)] { WaitReason.allCases.map { ($0.name, $0) } }
    /// Ends by their words.
    static var endWords: [(word: String, value: EndReason)] { EndReason.known.map { ($0.rawValue, $0) } }
    /// Bytes of a name, a kind or a label that is looked for.
    static let textLengths = 1...256
    /// Statuses of a final answer.
    static let statuses = 100...999

    fileprivate init(_ query: Query) throws(Problem) {
        self.init()
        for parameter in [
            JobListing.route, JobListing.failureKind, JobListing.upstream, JobListing.label,
            JobListing.node,
        ] {
            guard let text = query[parameter], !JobFilter.textLengths.contains(text.utf8.count) else {
                continue
            }
            throw Problem(.badTarget, "\(parameter.name) has 1 to 256 bytes")
        }
        route = query[JobListing.route]
        states = Set(try query.value(JobListing.state))
        reason = try query.value(JobListing.reason)
        end = try query.value(JobListing.end)
        failureKind = query[JobListing.failureKind].map { FailureKind(rawValue: $0) }
        failureStatus = try query.value(JobListing.status).map { Status(rawValue: UInt16($0)) }
        upstream = query[JobListing.upstream]
        label = query[JobListing.label]
        holder = query[JobListing.node]
        createdFrom = try query.value(JobListing.createdAfter)
        createdBefore = try query.value(JobListing.createdBefore)
    }
}
