import RelayBase
import RelayEngine
import RelayJSON
import RelayJobs

extension OpenAPI {
    static let attemptSchemas: [(name: String, schema: Schema)] = [
        ("Attempt", .object(attemptMembers)),
        (
            "AttemptList",
            .object([
                Property("attempts", .list(.named("Attempt")), "Oldest first."),
                Property("next", .orNull(.integer(1...)), "What after is for the rest."),
            ])
        ),
        ("Failure", .object(failureMembers)),
        (
            "Principal",
            .object([
                Property("uid", .count),
                .maybe("user", .text, "The user's name, where the system knew it in time."),
            ])
        ),
        (
            "Action",
            .object([
                Property("action", .word(JobAction.allCases.map(\.rawValue))), Property("at", .moment),
                .maybe("uid", .count), .maybe("user", .text, "The user's name."), .maybe("bulk", .yes),
                .maybe("asked", .yes, "A running job was asked to end."),
            ])
        ),
    ]

    private static let sent = Schema.word(Sent.allCases.map(\.rawValue))

    static let failureMembers: [Property] = [
        Property("kind", .failureKind), .maybe("detail", .text), .maybe("sent", sent),
        .maybe("status", .status), .maybe("api_code", .text, "The upstream's own code."),
        .maybe("api_title", .text, "The upstream's own words."),
        .maybe("past_deadline", .yes, "It failed for want of time."),
        .maybe("upstream", .text),
    ]

    private static let attemptMembers: [Property] = [
        Property("number", .integer(1...), "Over the whole life of the job."), Property("upstream", .text),
        .maybe("address", .text), Property("started_at", .moment),
        Property("started_after_ms", .count, "From the acceptance on, or from the first attempt on."),
        .maybe("resent", .yes, "The upstream had closed a kept connection unanswered."),
        .maybe("duration_ms", .milliseconds),
        .maybe(
            "timing_ms",
            .object([
                Property("dns", .milliseconds), Property("connect", .milliseconds),
                .maybe("first_byte", .milliseconds),
            ])
        ),
        Property("result", .word(Attempt.ResultWord.allCases.map(\.rawValue))), .maybe("status", .status),
        .maybe("kind", .failureKind),
        .maybe("cause", .word(FailureCause.allCases.map(\.rawValue)), "Whose fault the failure is."),
        .maybe("sent", sent), .maybe("detail", .text),
        .maybe("api_code", .text, "The upstream's own code."),
        .maybe("api_title", .text, "The upstream's own words."),
        .maybe("rule", .text, "The rule that acted."),
        .maybe("next", .word(Attempt.Next.Word.allCases.map(\.rawValue)), "What it did."),
        .maybe("wait_ms", .milliseconds), .maybe("next_upstream", .text),
        .maybe("next_source", .word(StandIn.allCases.map(\.rawValue))),
        Property("spent", .boolean, "Whether it counts against max_attempts."),
        .maybe(
            "held_back",
            .list(.object([Property("rule", .text), Property("reason", .text)])),
            "Rules that matched and did not act."
        ),
    ]
}
