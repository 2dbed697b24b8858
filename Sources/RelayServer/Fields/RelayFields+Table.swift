import RelayEngine
import RelayJSON
import RelayJobs

extension RelayField {
    /// As it is written.
    var name: StaticString {
        switch self {
        case .timeout: "Waystation-Timeout"
        case .attemptTimeout: "Waystation-Attempt-Timeout"
        case .maxAttempts: "Waystation-Max-Attempts"
        case .fallback: "Waystation-Fallback"
        case .delay: "Waystation-Delay"
        case .notBefore: "Waystation-Not-Before"
        case .expiresAfter: "Waystation-Expires-After"
        case .orderingKey: "Waystation-Ordering-Key"
        case .supersedeKey: "Waystation-Supersede-Key"
        case .label: "Waystation-Label"
        }
    }

    /// Its values, and what they are for.
    fileprivate var described: RequestField {
        switch self {
        case .timeout:
            field(
                .duration(Submission.timeouts),
                "The longest all attempts and waits may take together; of a kept job the time until it expires."
            )
        case .attemptTimeout:
            field(
                .duration(Submission.timeouts),
                "The longest one attempt may take."
            )
        case .maxAttempts:
            field(
                .integer(RequestTerms.attempts),
                "The most attempts that reach the wire, the first one included."
            )
        case .fallback:
            field(
                .word(["on", "off"]),
                "With off no failover, placeholder, fallback or stale answer acts; without the field they do."
            )
        case .delay:
            field(
                .duration(Submission.delays),
                "Keep the job, and do not send it before that time has passed; not beside a date."
            )
        case .notBefore:
            field(
                .momentText,
                "Keep the job, and do not send it before that date, within 365 days."
            )
        case .expiresAfter:
            field(
                .duration(Submission.expiries),
                "Keep the job, and give it up when it is not delivered by then."
            )
        case .orderingKey:
            field(
                .visible(JobFilter.textLengths),
                "Keep the job; those of one user, key and route go one at a time, in the order of their acceptance."
            )
        case .supersedeKey:
            field(
                .visible(JobFilter.textLengths),
                "Keep the job, and cancel those of the same user, key and route that still wait."
            )
        case .label:
            field(
                .visible(2...256).with("pattern", .string("^[!-<>-~][ -~]*=[ -~]*$")),
                "A label as key=value, which stands in the job's document and finds it; up to 16 times."
            )
        }
    }

    private func field(_ schema: Schema, _ doc: String) -> RequestField {
        RequestField(name: name.description, schema: schema, doc: doc)
    }
}

extension RelayFields {
    /// Every field a caller may send, with what it may say.
    static let all = RelayField.allCases.map(\.described)

    /// The fields of other standards that say how a job is treated.
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
