import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

extension OpenAPI {
    static let jobSchemas: [(name: String, schema: Schema)] = [
        ("Job", .object(jobMembers).doc("A job; members without a value are left out.")),
        ("JobRequest", .object(requestMembers)),
        (
            "JobLinks",
            .object([
                .maybe("self", .text), .maybe("attempts", .text), .maybe("request_body", .text),
                .maybe("response", .text),
            ])
        ),
        (
            "Body",
            .object([
                .maybe("size", .count, "In bytes."),
                .maybe("json", .anything, "The content, where it is JSON."),
                .maybe("text", .text, "The content, where it is UTF-8 and no JSON."),
                .maybe("base64", .text, "The content, where it is neither."),
                .maybe("href", .text, "Where the content is that is too long to stand here."),
                .maybe("expired", .yes, "It is no longer kept."),
                .maybe("damaged", .yes, "It is not what was stored."),
            ])
        ),
        (
            "JobAnswer",
            .object([
                .maybe("source", source), .maybe("status", .status), .maybe("headers", headers),
                .maybe("body", .named("Body")),
                .maybe("damaged", .yes, "The answer cannot be read."),
            ])
        ),
        (
            "AcceptedJob",
            .object([
                Property("id", .job), Property("route", .text), Property("durable", .yes),
                .maybe("state", .word([JobState.queued, .scheduled].map(\.name))),
                .maybe(
                    "repeatable",
                    .boolean,
                    "Whether it is sent again after an attempt without an answer."
                ),
                .maybe("dropped", .yes, "The key was known, and its job is there no more."),
                .maybe("links", .named("JobLinks")),
            ]).doc("A job that was accepted, in a few words.")
        ),
        (
            "JobList",
            .object([
                Property("jobs", .list(.named("Job")), "Without attempts."),
                Property("next", .orNull(.text), "The cursor of the rest; null when there is none."),
            ])
        ),
        (
            "Kept",
            .object([
                Property("job", .job), Property("location", .text),
                .maybe("replayed", .yes, "It is an earlier job of the same key."),
            ]).doc("The job that goes on with a request which a rule has answered.")
        ),
    ]

    static let source = Schema.word(AnswerSource.allCases.map(\.rawValue))
    static let headers = Schema.list(.list(.text, 2...2)).doc("Names and values, in pairs.")

    private static let requestMembers: [Property] = [
        .maybe("method", .text), .maybe("path", .text, "Without the query."),
        .maybe("size", .count, "Of the body, in bytes."),
        .maybe("body", .named("Body")),
        .maybe("sent_once_because", .text, "Why its body could not be kept for another attempt."),
    ]

    private static let jobMembers: [Property] = [
        Property("id", .job), Property("route", .text),
        Property("state", .word(JobState.allCases.map(\.name))),
        .maybe("reason", .word(WaitReason.allCases.map(\.name)), "Why it waits."),
        .maybe("end", .openWord(EndReason.known.map(\.rawValue)), "Why it ended without success."),
        .maybe("outcome", .word(OutcomeWord.allCases.map(\.rawValue)), "Of one that is over."),
        .maybe("cancel_asked", .yes, "It is running, and being cancelled."),
        Property("request", .named("JobRequest")), Property("created_at", .moment),
        .maybe("due_at", .moment), .maybe("expires_at", .moment), .maybe("finished_at", .moment),
        .maybe("status", .status, "Of the last answer."), .maybe("source", source),
        .maybe("kept", .named("Kept")),
        .maybe("not_kept_because", .text, "Why no job goes on with a request that was to be kept."),
        .maybe("max_attempts", .integer(1...)),
        .maybe("permit_wait_ms", .count, "How long it waited for a permit of its route."),
        ordinaryPath(RequestPath.reasons, "Why a request that waited for its answer was not passed through."),
        .maybe("attempt_count", .count),
        .maybe("spent_attempts", .count, "Attempts that count since its last replay."),
        .maybe(
            "under_way",
            .object([
                Property("number", .integer(1...)), Property("upstream", .text),
                Property("started_at", .moment), .maybe("resent", .yes),
            ]),
            "The attempt that is on record as begun."
        ),
        .maybe("crashes", .count, "How often in a row it was under way at a crash."),
        .maybe("attempts", .list(.named("Attempt")), "The last hundred."),
        .maybe("actions", .list(.named("Action")), "What was done to it, the last sixteen."),
        .maybe("last_failure", .named("Failure")),
        .maybe(
            "blocker",
            .object([
                Property("reason", .text), Property("detail", .text), .maybe("since", .moment),
                .maybe("until", .moment),
            ]),
            "What keeps it from being delivered now."
        ),
        .maybe(
            "client",
            .object([
                Property("uid", .count), .maybe("pid", .integer), .maybe("unit", .text),
            ]),
            "Who handed it over."
        ),
        .maybe("labels", .list(.text), "As key=value."),
        .maybe("keyed", .boolean, "Whether it has an idempotency key."),
        .maybe("repeatable", .boolean, "Whether it is sent again after an attempt without an answer."),
        .maybe("in_doubt", .yes, "It may have been carried out."),
        .maybe("ordering_key", .text), .maybe("supersede_key", .text),
        .maybe("priority", .integer(OptionValue.urgencies)),
        .maybe("durable", .yes, "Missing of a job that was answered at once."),
        Property("version", .integer(1...), "Grows with every change."),
        .maybe("links", .named("JobLinks")), .maybe("response", .named("JobAnswer")),
    ]
}
