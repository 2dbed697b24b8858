import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

extension Operation {
    static let submitJobs = Operation(
        id: "submitJobs",
        tag: .jobs,
        summary: "Hand over a job as a document, or an array of them",
        detail:
            "An array takes jobs to be kept, at most \(APICall.arrayLimit), and none of the fields but Prefer.",
        fields: [RelayFields.prefer, RelayFields.idempotencyKey] + RelayFields.all,
        content: RequestContent(
            type: MediaType.json,
            schema: .anyOf([
                .named("Submission"), .list(.named("ListedSubmission"), 1...APICall.arrayLimit),
            ]),
            examples: [("one", submissionExample), ("several", severalExample)]
        ),
        replies: [submitted, accepted, refusedArray],
        problems: Problem.Code.ofAcceptance + [.unsupportedMediaType, .invalidJob]
    )

    static let actOnJobs = Operation(
        id: "actOnJobs",
        tag: .jobs,
        summary: "Do something to every job that matches",
        content: RequestContent(
            type: MediaType.json,
            schema: .named("BulkAction"),
            examples: [
                (
                    "retry",
                    .example(
                        """
                        {"action": "retry", "filter": {"route": "billing", "state": ["dead"], "status": 503},
                         "dry_run": false, "rate": "50/s"}
                        """
                    )
                )
            ]
        ),
        replies: [
            Reply(
                "What came of it.",
                .named("BulkResult"),
                [
                    (
                        "retried",
                        .example(
                            """
                            {"action": "retry", "dry_run": false, "matched": 212, "changed": 210, "asked": 0,
                             "body_expired": 1, "left_alone": 1, "superseded": 0, "next": null}
                            """
                        )
                    )
                ]
            )
        ],
        problems: Problem.Code.ofStore + [.routeNotFound, .unsupportedMediaType, .invalidJob]
    )

    static let streamJobs = Operation(
        id: "streamJobs",
        tag: .jobs,
        summary: "Many jobs on one connection",
        detail: "A line in is a ListedSubmission, a line out a StreamedOutcome; the answer begins at once.",
        content: RequestContent(
            type: lines,
            schema: .linesOf("ListedSubmission"),
            isRequired: false,
            examples: [
                (
                    "two",
                    .string(
                        #"{"id":"a","route":"billing","mode":"async"}"# + "\n" + #"{"route":"billing"}"#
                            + "\n"
                    )
                )
            ]
        ),
        replies: [
            Reply(
                200,
                "The outcomes.",
                content: [
                    .init(
                        type: lines,
                        schema: .linesOf("StreamedOutcome"),
                        examples: [("one", .string(outcomeLine + "\n"))]
                    )
                ]
            )
        ],
        problems: [.unsupportedMediaType]
    )

    static let readEvents = Operation(
        id: "readEvents",
        tag: .jobs,
        summary: "What happens, as it happens",
        detail:
            "It does not end before the caller or the daemon does. Each event is an Event; lines come to who accepts "
            + "application/x-ndjson and not text/event-stream.",
        fields: [
            RequestField(
                name: "Last-Event-ID",
                schema: EventOptions.number,
                doc: "The id of the last event the caller knows."
            )
        ],
        replies: [
            Reply(
                200,
                "The events.",
                content: [
                    .init(
                        type: "text/event-stream",
                        schema: .named("ServerSentEvent"),
                        examples: [
                            (
                                "paused",
                                .object([
                                    "id": .string("1801468800000007"),
                                    "event": .string(EventKind.routePaused.type),
                                    "data": .string(eventLine),
                                ])
                            )
                        ]
                    ),
                    .init(
                        type: lines,
                        schema: .linesOf("Event"),
                        examples: [("paused", .string(eventLine + "\n"))]
                    ),
                ]
            ),
            Reply(
                406,
                "Events come in another form.",
                content: [
                    .init(
                        type: MediaType.problemJSON,
                        schema: .named("Problem"),
                        examples: [("bad_header", EventOptions.otherForm.document)]
                    )
                ]
            ),
        ]
    )

    private static let lines = "application/x-ndjson"
    private static let outcomeLine =
        #"{"line":1,"id":"a","ok":true,"job":"01K9ZQ3V7N4T0C8R5B2M6XW1HD","state":"accepted","#
        + #""repeatable":false,"location":"/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD"}"#
    private static let eventLine =
        #"{"specversion":"1.0","source":"/waystationd","type":"waystation.route.paused","#
        + #""time":"2027-01-31T08:00:00.000Z","datacontenttype":"application/json","id":"1801468800000007","#
        + #""subject":"billing","data":{"route":"billing","detail":"maintenance"}}"#

    private static let submitted = Reply(
        "An array's outcomes; or the job, that is over or was accepted earlier with the same key.",
        .anyOf([.named("ListedOutcomes"), .named("Job"), .named("AcceptedJob")]),
        [
            ("answered", answeredExample),
            (
                "several",
                .example(
                    """
                    {"jobs": [{"id": "a", "ok": true, "job": "01K9ZQ3V7N4T0C8R5B2M6XW1HD", "state": "accepted",
                               "repeatable": true, "location": "/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD"}], "refused": 0}
                    """
                )
            ),
        ],
        fields: [.location, .job, .replayed, .applied]
    )

    private static let refusedArray = Reply(
        422,
        "The outcomes of an array of which no job was accepted; or the job is not valid.",
        content: [
            .init(
                schema: .named("ListedOutcomes"),
                examples: [
                    (
                        "all_refused",
                        .example(
                            """
                            {"jobs": [{"ok": false, "error": {"type": "urn:waystation:problem:route_not_found",
                                       "title": "There is no such route", "status": 404, "code": "route_not_found",
                                       "detail": "the configuration has no route \\\"billling\\\""}}], "refused": 1}
                            """
                        )
                    )
                ]
            ),
            .init(type: MediaType.problemJSON, schema: .named("Problem"), problems: [.invalidJob]),
        ]
    )

    private static var accepted: Reply {
        var reply = Reply(
            202,
            "The job is on disk.",
            content: [
                .init(
                    schema: .anyOf([.named("Job"), .named("AcceptedJob")]),
                    examples: [("accepted", acceptedExample)]
                )
            ],
            fields: [.location, .job, .applied]
        )
        reply.leadsTo = [
            "getJob", "listAttempts", "getRequestBody", "getResponse", "holdJob", "cancelJob", "retryJob",
            "dropJob",
        ]
        .map { ($0, "/id") }
        return reply
    }
}

extension Problem.Code {
    /// The problems that may keep a request from being taken up.
    static let ofAcceptance: [Problem.Code] =
        ofStore + [
            .routeNotFound, .idempotencyKeyReused, .idempotencyInProgress, .routePaused, .queueFull,
            .storageFull, .preparationFailed,
        ]
}

extension Schema {
    /// Lines of which each is one of the document's own schemas; OpenAPI 3.1 has no word for that.
    static func linesOf(_ name: String) -> Schema {
        text.with("format", .string("binary")).with("x-waystation-lines", Schema.named(name).json)
    }
}
