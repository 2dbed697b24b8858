import RelayBase
import RelayEngine
import RelayInterface
import RelayJobs

extension APICall.Resource {
    /// The parameters it reads, beside which any other is refused; nil where none is looked at.
    func parameters(_ method: Method) -> [any QueryParameter]? {
        switch self {
        case .version, .status, .live, .ready, .reload, .constrained, .contract, .page: nil
        case .endpoints: [EndpointsDocument.limit, EndpointsDocument.strict]
        case .jobs: method == .get ? JobListing.parameters : []
        case .stream: StreamOptions.parameters
        case .job(_, .action(.retry)) where method == .post: [JobLook.superseded]
        case .job(_, let part): method == .get ? part.parameters : []
        case .actions, .runs, .run, .troubles, .routes, .route, .metrics: []
        case .events: EventOptions.parameters
        case .shape: ShapeTable.parameters
        case .history: [HistoryDocument.route]
        case .table: [RouteTable.since]
        }
    }
}

extension APICall.JobPart {
    /// The parameters that a GET reads.
    fileprivate var parameters: [any QueryParameter] {
        switch self {
        case .whole: [JobLook.include, JobLook.wait]
        case .attempts: [JobLook.after, JobLook.limit]
        case .response: [JobLook.wait]
        case .responseBody, .requestBody, .content, .action: []
        }
    }
}

extension APICall {
    /// The parameters of the call.
    ///
    /// - Throws: `bad_target` for one that the resource does not read or that stands twice.
    func query() throws(Problem) -> Query { try Query(target, resource.parameters(method) ?? []) }
}

/// How one job is looked at.
enum JobLook {
    static let include = Parameter.word("include", [("body", true)], "Adds the bodies to the document.")
    static let superseded = Parameter.word(
        "superseded",
        [("true", true)],
        "Retries it though a newer job took its place: it is then sent after that one."
    )
    static let wait = Parameter.duration(
        "wait",
        atMost: Preferences.longestWait,
        "How long to wait for the job's end, or with If-None-Match for its next change."
    )
    static let after = Parameter.number(
        "after",
        0...1_000_000_000,
        or: 0,
        "The number of the attempt to go on after."
    )
    static let limit = Parameter.number("limit", 1...500, or: 100, "How many attempts to tell at most.")
}

/// The parameters that narrow a list of jobs, and that say how much of it is told.
enum JobListing {
    static let route = Parameter.text("route", .sought, "Only jobs of this route.")
    static let state = Parameter.words(
        "state",
        JobFilter.stateWords,
        "Only jobs in one of these states."
    )
    static let reason = Parameter.word(
        "reason",
        JobFilter.reasonWords,
        "Only jobs that wait for this reason."
    )
    static let end = Parameter.word("end", JobFilter.endWords, "Only jobs that ended for this reason.")
    static let failureKind = Parameter.text(
        "failure_kind",
        .sought,
        "Only jobs whose last failure is of this kind."
    )
    static let status = Parameter.number(
        "status",
        JobFilter.statuses,
        "Only jobs whose last failed attempt was answered so."
    )
    static let upstream = Parameter.text(
        "upstream",
        .sought,
        "Only jobs whose last failed attempt went to an upstream of that name."
    )
    static let label = Parameter.text("label", .sought, "Only jobs with this label, as key=value.")
    static let node = Parameter.text(
        "node",
        .sought,
        "Only jobs of a fleet that this daemon accepted for a user of its machine, or has under way."
    )
    static let createdAfter = Parameter.moment("created_after", "Only jobs accepted then or later.")
    static let createdBefore = Parameter.moment("created_before", "Only jobs accepted before.")
    static let order = Parameter.choice(
        "order",
        [("newest", ListOrder.newestFirst), ("oldest", .oldestFirst)],
        "Which jobs come first."
    )
    static let limit = Parameter.number("limit", 1...500, or: 50, "How many jobs to tell at most.")
    static let cursor = Parameter.text(
        "cursor",
        .pattern(JobCursor.pattern),
        "What an earlier answer had as next, unchanged, with the other parameters as they were."
    )

    static let parameters: [any QueryParameter] = [
        route, state, reason, end, failureKind, status, upstream, label, node, createdAfter, createdBefore,
        order,
        limit,
        cursor,
    ]
}
