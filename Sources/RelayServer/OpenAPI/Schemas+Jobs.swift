import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

extension OpenAPI {
    static let jobSchemas: KeyValuePairs<String, Schema> = [
        "Job": Job.schema.doc("A job; members without a value are left out."),
        "JobRequest": Job.Request.schema,
        "JobLinks": Job.Links.schema,
        "Body": .object([
            .maybe("size", .count, "In bytes."),
            .maybe("json", .anything, "The content, where it is JSON."),
            .maybe("text", .text, "The content, where it is UTF-8 and no JSON."),
            .maybe("base64", .text, "The content, where it is neither."),
            .maybe("href", .text, "Where the content is that is too long to stand here."),
            .maybe("expired", .yes, "It is no longer kept."),
            .maybe("damaged", .yes, "It is not what was stored."),
        ]),
        "JobAnswer": .object([
            .maybe("source", .source), .maybe("status", .status), .maybe("headers", Job.headers),
            .maybe("body", .named("Body")),
            .maybe("damaged", .yes, "The answer cannot be read."),
        ]),
        "AcceptedJob": .object([
            Property("id", .job), Property("route", .text), Property("durable", .yes),
            .maybe("state", .word([JobState.queued, .scheduled].map(\.name))),
            .maybe(
                "repeatable",
                .boolean,
                "Whether it is sent again after an attempt without an answer."
            ),
            .maybe("dropped", .yes, "The key was known, and its job is there no more."),
            .maybe("links", .named("JobLinks")),
        ]).doc("A job that was accepted, in a few words."),
        "JobList": .object([
            Property("jobs", .list(.named("Job")), "Without attempts."),
            Property("next", .orNull(.text), "The cursor of the rest; null when there is none."),
        ]),
        "Kept": Job.Kept.schema.doc("The job that goes on with a request which a rule has answered."),
        "Attempt": Job.Attempt.schema,
        "AttemptList": AttemptList.schema,
        "Failure": Job.Failure.schema,
        "Principal": Principal.schema,
        "Action": Job.Action.schema,
    ]
}
