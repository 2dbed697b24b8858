import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

extension OpenAPI {
    static let attemptSchemas: [(name: String, schema: Schema)] = [
        ("Attempt", Job.Attempt.schema),
        (
            "AttemptList",
            .object([
                Property("attempts", .list(.named("Attempt")), "Oldest first."),
                Property("next", .orNull(.integer(1...)), "What after is for the rest."),
            ])
        ),
        ("Failure", Job.Failure.schema),
        (
            "Principal",
            .object([
                Property("uid", .count),
                .maybe("user", .text, "The user's name, where the system knew it in time."),
            ])
        ),
        ("Action", Job.Action.schema),
    ]
}
