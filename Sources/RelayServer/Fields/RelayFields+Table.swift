import RelayCore
import RelayEngine
import RelayJSON

extension RelayFields {
    /// Every field a caller may send, with what it may say.
    static let all: [RequestField] = [
        RequestField(
            name: "Waystation-Timeout",
            schema: .duration(Submission.timeouts),
            doc:
                "The longest all attempts and waits may take together; of a kept job the time until it expires."
        ),
        RequestField(
            name: "Waystation-Attempt-Timeout",
            schema: .duration(Submission.timeouts),
            doc: "The longest one attempt may take."
        ),
        RequestField(
            name: "Waystation-Max-Attempts",
            schema: .integer(RequestTerms.attempts),
            doc: "The most attempts that reach the wire, the first one included."
        ),
        RequestField(
            name: "Waystation-Fallback",
            schema: .word(["on", "off"]),
            doc:
                "With off no failover, placeholder, fallback or stale answer acts; without the field they do."
        ),
        RequestField(
            name: "Waystation-Delay",
            schema: .duration(Submission.delays),
            doc: "Keep the job, and do not send it before that time has passed; not beside a date."
        ),
        RequestField(
            name: "Waystation-Not-Before",
            schema: .momentText,
            doc: "Keep the job, and do not send it before that date, within 365 days."
        ),
        RequestField(
            name: "Waystation-Expires-After",
            schema: .duration(Submission.expiries),
            doc: "Keep the job, and give it up when it is not delivered by then."
        ),
        RequestField(
            name: "Waystation-Ordering-Key",
            schema: .visible(JobFilter.textLengths),
            doc:
                "Keep the job; those of one user, key and route go one at a time, in the order of their acceptance."
        ),
        RequestField(
            name: "Waystation-Supersede-Key",
            schema: .visible(JobFilter.textLengths),
            doc: "Keep the job, and cancel those of the same user, key and route that still wait."
        ),
        RequestField(
            name: "Waystation-Label",
            schema: .visible(2...256).with("pattern", .string("^[!-<>-~][ -~]*=[ -~]*$")),
            doc: "A label as key=value, which stands in the job's document and finds it; up to 16 times."
        ),
    ]

    /// What other standards say of how a job is treated.
    static let standards = [prefer, idempotencyKey, priority]

    static let prefer = RequestField(
        name: "Prefer",
        schema: .text.with(
            "examples",
            .array([.string("respond-async"), .string("respond-async, wait=30")])
        ),
        doc:
            "respond-async keeps the job, and wait=SECONDS, at most 300, waits for its end (RFC 7240); what else it says "
            + "is ignored."
    )
    static let idempotencyKey = RequestField(
        name: "Idempotency-Key",
        schema: .pattern("^\"[ !#-\\[\\]-~]{1,256}\"$"),
        doc: "A string in quotes, by which the same request is known again."
    )
    static let priority = RequestField(
        name: "Priority",
        schema: .pattern("^u=[0-7]$"),
        doc: "The urgency, u=0 first and u=7 last (RFC 9218)."
    )
}
