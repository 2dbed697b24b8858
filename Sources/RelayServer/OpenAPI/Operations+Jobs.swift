import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

extension APICall.JobPart {
    /// The part of the contract about one of its methods.
    func operation(_ method: Method) -> Operation {
        switch self {
        case .whole where method == .delete:
            Operation(
                .jobs,
                "dropJob",
                "Remove a job that does not run, with everything about it but its idempotency key"
            )
            .reads([.ifMatch]).gives(Reply(status: 204, doc: "The job is gone.")).refuses(ofActions)
        case .whole:
            Operation(.jobs, "getJob", "One job, at once or when it has changed")
                .reads([RelayFields.prefer, .ifNoneMatch])
                .gives(
                    Reply("The job.", "Job", [.entityTag, .applied]),
                    Reply(
                        status: 304,
                        doc: "The job has the version that the caller knows.",
                        fields: [.entityTag, .applied]
                    )
                )
                .refuses(Problem.Code.ofStore + [.jobNotFound])
        case .attempts:
            Operation(.jobs, "listAttempts", "The attempts of a job, oldest first")
                .gives(Reply("The attempts.", "AttemptList", [.link]))
                .refuses(Problem.Code.ofStore + [.jobNotFound])
        case .response:
            Operation(
                .jobs,
                "getResponse",
                "The answer of a job as the caller would have had it: status, fields, body"
            )
            .says("Where Waystation-Source is relay it is no upstream's.").reads([RelayFields.prefer])
            .gives(.passedOn("The answer, or why there is none.", ofResponses))
        case .responseBody:
            Operation(.jobs, "getResponseBody", "The body of a job's answer").gives(raw).refuses(ofResponses)
        case .requestBody:
            Operation(.jobs, "getRequestBody", "The body of a job's request").gives(raw)
                .refuses(Problem.Code.ofStore + [.jobNotFound, .bodyExpired])
        case .content:
            change("expungeJob", "Remove what a job that is over was sent and answered")
                .says(
                    "Both bodies, their fields, the query and the upstream's words go; the job's record stays, "
                        + "and says when and by whom it was expunged. One that is not over has to be cancelled first."
                )
        case .action(.retry):
            change(
                "retryJob",
                "Make a waiting job due now, or give one that is over without success another life"
            )
            .refuses(ofActions + [.bodyExpired])
        case .action(.cancel):
            change("cancelJob", "End a job that waits, and ask for the end of one that runs")
                .says("One of another user takes the role \(Role.operate.rawValue).")
        case .action(.hold): change("holdJob", "Put a waiting job aside until it is released")
        case .action(.release): change("releaseJob", "Let a held job go on")
        case .action(.drop), .action(.expunge):
            preconditionFailure("jobs are dropped and expunged by DELETE")
        }
    }

    private func change(_ id: String, _ summary: String) -> Operation {
        Operation(.jobs, id, summary).reads([.ifMatch])
            .gives(
                Reply("The job afterwards.", Operation.Content("Job", ["job": Operation.dead]), [.entityTag])
            )
            .refuses(ofActions)
    }

    private var ofActions: [Problem.Code] {
        Problem.Code.ofStore + [.jobNotFound, .jobState, .preconditionFailed]
    }

    private var ofResponses: [Problem.Code] {
        Problem.Code.ofStore + [.jobNotFound, .pathNotFound, .responseNotReady, .bodyExpired]
    }

    private var raw: Reply {
        Reply(
            status: 200,
            doc: "The body as it is kept.",
            content: [
                Operation.Content(
                    type: MediaType.octetStream,
                    schema: Schema.text.with("format", .string("binary"))
                )
            ],
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
}

extension Operation {
    static var listJobs: Operation {
        Operation(.jobs, "listJobs", "Kept jobs")
            .says(
                "Callers below the role read get their own user's. A list may be shorter than asked for, even empty, "
                    + "and still have a next."
            )
            .gives(Reply("The jobs.", "JobList", [.link])).refuses(Problem.Code.ofStore + [.routeNotFound])
    }

    static var submitJobs: Operation {
        Operation(.jobs, "submitJobs", "Hand over a job as a document, or an array of them")
            .says(
                "An array takes jobs to be kept, at most \(APICall.arrayLimit), and none of the fields but Prefer."
            )
            .reads([RelayFields.prefer, RelayFields.idempotencyKey] + RelayFields.all)
            .takes(
                Content(
                    schema: .anyOf([
                        .named("Submission"), .list(.named("ListedSubmission"), 1...APICall.arrayLimit),
                    ]),
                    examples: ["one": submission, "several": several]
                )
            )
            .gives(
                Reply(
                    "An array's outcomes; or the job, that is over or was accepted earlier with the same key.",
                    Content(
                        schema: .anyOf([.named("ListedOutcomes"), .named("Job"), .named("AcceptedJob")]),
                        examples: ["answered": answered, "several": outcomes]
                    ),
                    [.location, .job, .replayed, .applied]
                ),
                Reply(
                    status: 202,
                    doc: "The job is on disk.",
                    content: [
                        Content(
                            schema: .anyOf([.named("Job"), .named("AcceptedJob")]),
                            examples: ["accepted": accepted]
                        )
                    ],
                    fields: [.location, .job, .applied],
                    leadsTo: [
                        "getJob", "listAttempts", "getRequestBody", "getResponse", "holdJob", "cancelJob",
                        "retryJob", "dropJob",
                    ]
                ),
                Reply(
                    status: 422,
                    doc: "The outcomes of an array of which no job was accepted; or the job is not valid.",
                    content: [
                        Content("ListedOutcomes"),
                        Content(
                            type: MediaType.problemJSON,
                            schema: .named("Problem"),
                            problems: [.invalidJob]
                        ),
                    ]
                )
            )
            .refuses(Problem.Code.ofAcceptance + [.unsupportedMediaType, .invalidJob])
    }

    static var streamJobs: Operation {
        let lines = #"{"id":"a","route":"billing","mode":"async"}"# + "\n" + #"{"route":"billing"}"# + "\n"
        return Operation(.jobs, "streamJobs", "Many jobs on one connection")
            .says("A line in is a ListedSubmission, a line out a StreamedOutcome; the answer begins at once.")
            .takes(.lines(of: "ListedSubmission", ["two": .string(lines)]), isRequired: false)
            .gives(
                Reply(
                    status: 200,
                    doc: "The outcomes.",
                    content: [.lines(of: "StreamedOutcome", ["one": .string(outcomeLine + "\n")])]
                )
            )
            .refuses([.unsupportedMediaType])
    }

    static var readEvents: Operation {
        Operation(.jobs, "readEvents", "What happens, as it happens")
            .says(
                "It does not end before the caller or the daemon does. Each event is an Event; lines come to who "
                    + "accepts application/x-ndjson and not text/event-stream."
            )
            .reads([
                RequestField(
                    name: "Last-Event-ID",
                    schema: EventOptions.number,
                    doc: "The id of the last event the caller knows."
                )
            ])
            .gives(
                Reply(
                    status: 200,
                    doc: "The events.",
                    content: [
                        Content(
                            type: "text/event-stream",
                            schema: .named("ServerSentEvent"),
                            examples: [
                                "paused": .object([
                                    "id": .string("1801468800000007"),
                                    "event": .string(EventKind.routePaused.type),
                                    "data": .string(eventLine),
                                ])
                            ]
                        ), .lines(of: "Event", ["paused": .string(eventLine + "\n")]),
                    ]
                ),
                Reply(
                    status: 406,
                    doc: "Events come in another form.",
                    content: [
                        Content(
                            type: MediaType.problemJSON,
                            schema: .named("Problem"),
                            examples: ["bad_header": EventOptions.otherForm.document]
                        )
                    ]
                )
            )
    }
}

extension Operation.Content {
    /// Lines of which each is one of the document's own schemas; OpenAPI 3.1 has no word for that.
    fileprivate static func lines(of schema: String, _ examples: Operation.Examples) -> Self {
        Operation.Content(
            type: "application/x-ndjson",
            schema: .text.with("format", .string("binary")).with(
                "x-waystation-lines",
                Schema.named(schema).json
            ),
            examples: examples
        )
    }
}

extension Problem.Code {
    /// The problems that may keep a request from being taken up.
    static let ofAcceptance: [Problem.Code] =
        ofStore + [
            .routeNotFound, .idempotencyKeyReused, .idempotencyInProgress, .routePaused, .queueFull,
            .storageFull, .acceptanceUnknown, .preparationFailed, .networkConstrained,
        ]
}

extension RequestField {
    /// Anything else is a version that no job has.
    private static let tag = Schema.text.with("examples", .array([.string("\"v7\""), .string("*")]))

    fileprivate static let ifMatch = RequestField(
        name: "If-Match",
        schema: tag,
        doc: "The version that the job has to have."
    )
    static let revision = RequestField(
        name: "If-Match",
        schema: .text.with("examples", .array([.string("\"9f86d081884c\""), .string("*")])),
        doc: "The revision that the route has to have."
    )
    static let digest = RequestField(
        name: "If-Match",
        schema: .text.with("examples", .array([.string("*")])),
        doc: "The digest that the configuration in force has to have."
    )
    fileprivate static let ifNoneMatch = RequestField(
        name: "If-None-Match",
        schema: tag,
        doc: "The version that the caller knows."
    )
}

extension Reply {
    /// Any answer that an upstream may give, and the relay's own problems beside it.
    static func passedOn(_ doc: String, _ codes: [Problem.Code]) -> Reply {
        let problems = Set(Problem.Code.ofEveryRequest + codes)
        return Reply(
            status: nil,
            doc: doc,
            content: [
                Operation.Content(type: "*/*", schema: .anything),
                Operation.Content(
                    type: MediaType.problemJSON,
                    schema: .anyOf([.named("Problem"), .anything]),
                    problems: Problem.Code.allCases.filter(problems.contains)
                ),
            ],
            fields: [
                Field(
                    name: "Waystation-Source",
                    schema: .word(AnswerSource.allCases.map(\.rawValue) + ["relay"]),
                    isCertain: true,
                    doc: "Who has made the answer."
                ),
                .job,
                Field(
                    name: "Waystation-Outcome",
                    schema: .word(OutcomeWord.allCases.map(\.rawValue)),
                    doc: "How the job came out, whatever the status."
                ),
                Field(name: "Waystation-Attempts", schema: .pattern("^[0-9]+$"), doc: "How many were made."),
                Field(name: "Waystation-Kept", doc: "Whether the request goes on as a kept job."),
                Field(
                    name: "Waystation-Max-Attempts",
                    schema: .pattern("^[0-9]+$"),
                    doc: "The route's limit, where the caller asked for more."
                ), .replayed,
                Field(name: "Proxy-Status", doc: "The last attempt (RFC 9209)."),
                Field(name: "Server-Timing", doc: "What each attempt took, in milliseconds."), .applied,
                Field(name: "Retry-After", doc: "Seconds after which another try may do better."),
            ]
        )
    }
}
