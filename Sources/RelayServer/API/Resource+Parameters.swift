import RelayBase
import RelayEngine
import RelayInterface
import RelayJobs

extension APICall.Resource {
    /// The parameters it reads, beside which any other is refused; nil where none is looked at.
    func parameters(_ method: Method) -> [any QueryParameter]? {
        switch self {
        case .version, .status, .live, .ready, .reload, .constrained, .contract, .page: nil
        case .jobs: method == .get ? JobListing.parameters : []
        case .stream: StreamOptions.parameters
        case .job(_, .action(.retry)) where method == .post: [JobLook.superseded]
        case .job(_, let part): method == .get ? part.parameters : []
        case .actions, .routes, .route, .metrics: []
        case .events: EventOptions.parameters
        case .shape: ShapeTable.parameters
        case .history: [HistoryDocument.route]
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
    static let include = WordParameter(
        name: "include",
        values: [("body", true)],
        doc: "Adds the bodies to the document."
    )
    static let superseded = WordParameter(
        name: "superseded",
        values: [("true", true)],
        doc: "Retries it though a newer job took its place: it is then sent after that one."
    )
    static let wait = DurationParameter(
        name: "wait",
        limit: Preferences.longestWait,
        doc: "How long to wait for the job's end, or with If-None-Match for its next change."
    )
    static let after = CountParameter(
        name: "after",
        range: 0...1_000_000_000,
        standard: 0,
        doc: "The number of the attempt to go on after."
    )
    static let limit = CountParameter(
        name: "limit",
        range: 1...500,
        standard: 100,
        doc: "How many attempts to tell at most."
    )
}

/// The parameters that narrow a list of jobs, and that say how much of it is told.
enum JobListing {
    static let route = text("route", .sought, "Only jobs of this route.")
    static let state = WordsParameter(
        name: "state",
        values: JobFilter.stateWords,
        doc: "Only jobs in one of these states."
    )
    static let reason = WordParameter(
        name: "reason",
        values: JobFilter.reasonWords,
        doc: "Only jobs that wait for this reason."
    )
    static let end = WordParameter(
        name: "end",
        values: JobFilter.endWords,
        doc: "Only jobs that ended for this reason."
    )
    static let failureKind = text(
        "failure_kind",
        .sought,
        "Only jobs whose last failure is of this kind."
    )
    static let status = NumberParameter(
        name: "status",
        range: JobFilter.statuses,
        doc: "Only jobs whose last failed attempt was answered so."
    )
    static let label = text("label", .sought, "Only jobs with this label, as key=value.")
    static let createdAfter = MomentParameter(
        name: "created_after",
        doc: "Only jobs accepted then or later."
    )
    static let createdBefore = MomentParameter(name: "created_before", doc: "Only jobs accepted before.")
    static let order = ChoiceParameter<ListOrder>(
        name: "order",
        values: [("newest", .newestFirst), ("oldest", .oldestFirst)],
        doc: "Which jobs come first."
    )
    static let limit = CountParameter(
        name: "limit",
        range: 1...500,
        standard: 50,
        doc: "How many jobs to tell at most."
    )
    static let cursor = text(
        "cursor",
        .pattern(JobCursor.pattern),
        "What an earlier answer had as next, unchanged, with the other parameters as they were."
    )

    static let parameters: [any QueryParameter] = [
        route, state, reason, end, failureKind, status, label, createdAfter, createdBefore, order, limit,
        cursor,
    ]

    private static func text(_ name: String, _ schema: Schema, _ doc: String) -> TextParameter {
        TextParameter(name: name, schema: schema, doc: doc)
    }
}
