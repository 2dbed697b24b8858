import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

extension Operation {
    static let listJobs = Operation(
        id: "listJobs",
        tag: .jobs,
        summary: "Kept jobs",
        detail:
            "Callers below the role read get their own user's. A list may be shorter than asked for, even empty, and "
            + "still have a next.",
        replies: [
            Reply(
                "The jobs.",
                .named("JobList"),
                [("jobs", .object([.init("jobs", .array([deadExample])), .init("next", .string("c1a"))]))],
                fields: [.link]
            )
        ],
        problems: Problem.Code.ofStore + [.routeNotFound]
    )

    static let job = Operation(
        id: "getJob",
        tag: .jobs,
        summary: "One job, at once or when it has changed",
        fields: [RelayFields.prefer, .ifNoneMatch],
        replies: [
            Reply(
                "The job.",
                .named("Job"),
                [("dead", deadExample), ("answered", answeredExample)],
                fields: [.entityTag, .applied]
            ),
            Reply(304, "The job has the version that the caller knows.", fields: [.entityTag, .applied]),
        ],
        problems: Problem.Code.ofStore + [.jobNotFound]
    )

    static let dropJob = Operation(
        id: "dropJob",
        tag: .jobs,
        summary: "Remove a job that does not run, with everything about it but its idempotency key",
        fields: [.ifMatch],
        replies: [Reply(204, "The job is gone.")],
        problems: ofActions
    )

    static let attempts = Operation(
        id: "listAttempts",
        tag: .jobs,
        summary: "The attempts of a job, oldest first",
        replies: [
            Reply(
                "The attempts.",
                .named("AttemptList"),
                [
                    (
                        "attempts",
                        .object([
                            .init("attempts", deadExample["attempts"] ?? .null), .init("next", .null),
                        ])
                    )
                ],
                fields: [.link]
            )
        ],
        problems: Problem.Code.ofStore + [.jobNotFound]
    )

    static let response = Operation(
        id: "getResponse",
        tag: .jobs,
        summary: "The answer of a job as the caller would have had it: status, fields, body",
        detail: "Where Waystation-Source is relay it is no upstream's.",
        fields: [RelayFields.prefer],
        replies: [.passedOn("The answer, or why there is none.", ofResponses)]
    )

    static let responseBody = Operation(
        id: "getResponseBody",
        tag: .jobs,
        summary: "The body of a job's answer",
        replies: [raw],
        problems: Problem.Code.ofStore + [.jobNotFound, .pathNotFound, .responseNotReady, .bodyExpired]
    )

    static let requestBody = Operation(
        id: "getRequestBody",
        tag: .jobs,
        summary: "The body of a job's request",
        replies: [raw],
        problems: Problem.Code.ofStore + [.jobNotFound, .bodyExpired]
    )

    static let expunge = Operation(
        id: "expungeJob",
        tag: .jobs,
        summary: "Remove what a job that is over was sent and answered",
        detail: "Both bodies, their fields, the query and the upstream's words go; the job's record stays, "
            + "and says when and by whom it was expunged. One that is not over has to be cancelled first.",
        fields: [.ifMatch],
        replies: [changed],
        problems: ofActions
    )

    static func act(_ action: JobAction) -> Operation {
        Operation(
            id: action.rawValue + "Job",
            tag: .jobs,
            summary: sentence(action),
            detail: action == .cancel ? "One of another user takes the role \(Role.operate.rawValue)." : "",
            fields: [.ifMatch],
            replies: [changed],
            problems: ofActions + (action == .retry ? [.bodyExpired] : [])
        )
    }

    private static func sentence(_ action: JobAction) -> String {
        switch action {
        case .retry: "Make a waiting job due now, or give one that is over without success another life"
        case .cancel: "End a job that waits, and ask for the end of one that runs"
        case .hold: "Put a waiting job aside until it is released"
        case .release: "Let a held job go on"
        case .drop: dropJob.summary
        case .expunge: expunge.summary
        }
    }

    private static let ofActions = Problem.Code.ofStore + [.jobNotFound, .jobState, .preconditionFailed]
    private static let ofResponses: [Problem.Code] =
        Problem.Code.ofStore + [.jobNotFound, .pathNotFound, .responseNotReady, .bodyExpired]

    private static let changed = Reply(
        "The job afterwards.",
        .named("Job"),
        [("job", deadExample)],
        fields: [.entityTag]
    )

    private static let raw = Reply(
        200,
        "The body as it is kept.",
        content: [.init(type: MediaType.octetStream, schema: Schema.text.with("format", .string("binary")))],
        fields: [
            Reply.Field(
                name: "X-Content-Type-Options",
                schema: .word(["nosniff"]),
                isCertain: true,
                doc: "Browsers are to read nothing into it."
            )
        ]
    )
}

extension RequestField {
    /// Anything else is a version that no job has.
    private static let tag = Schema.text.with("examples", .array([.string("\"v7\""), .string("*")]))

    static let ifMatch = RequestField(
        name: "If-Match",
        schema: tag,
        doc: "The version that the job has to have."
    )
    static let ifNoneMatch = RequestField(
        name: "If-None-Match",
        schema: tag,
        doc: "The version that the caller knows."
    )
}

extension Reply {
    /// Any answer that an upstream may give, and the relay's own problems beside it.
    static func passedOn(_ doc: String, _ codes: [Problem.Code]) -> Reply {
        let problems = Set(Problem.Code.ofEveryRequest + codes)
        let own = Problem.Code.allCases.filter(problems.contains)
        var reply = Reply(
            nil,
            doc,
            content: [
                Content(type: "*/*", schema: .anything),
                Content(
                    type: MediaType.problemJSON,
                    schema: .anyOf([.named("Problem"), .anything]),
                    problems: own
                ),
            ]
        )
        reply.fields = [
            Field(
                name: "Waystation-Source",
                schema: .word(AnswerSource.allCases.map(\.rawValue) + ["relay"]),
                isCertain: true,
                doc: "Who has made the answer."
            ),
            Field(name: "Waystation-Job", schema: .job, doc: "The job's id."),
            Field(
                name: "Waystation-Outcome",
                schema: .word(OutcomeWord.allCases.map(\.rawValue)),
                doc: "How the job came out, whatever the status."
            ),
            Field(name: "Waystation-Attempts", schema: .pattern("^[0-9]+$"), doc: "How many were made."),
            Field(name: "Waystation-Kept", doc: "Whether the request goes on as a kept job."), .replayed,
            Field(name: "Proxy-Status", doc: "The last attempt (RFC 9209)."),
            Field(name: "Server-Timing", doc: "What each attempt took, in milliseconds."), .applied,
            Field(name: "Retry-After", doc: "Seconds after which another try may do better."),
        ]
        return reply
    }
}
