import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

extension OpenAPI {
    /// The document's own schemas, by name.
    static let schemas: [(name: String, schema: Schema)] =
        problemSchemas + jobSchemas + attemptSchemas + submissionSchemas + bulkSchemas + streamSchemas
        + eventSchemas + routeSchemas + daemonSchemas

    private static let problemSchemas: [(name: String, schema: Schema)] = [
        (
            "Problem",
            .object([
                Property("type", .pattern("^urn:waystation:problem:[a-z_]+$"), "The code as a URN."),
                Property("title", .text, "What the code means."),
                Property("status", .status),
                Property("code", .word(Problem.Code.allCases.map(\.name)), "Never renamed in v1."),
                Property("detail", .text, "What failed, and what to do."),
                .maybe("route", .text), .maybe("job", .job), .maybe("kind", .failureKind),
                .maybe("sent", .word(Sent.allCases.map(\.rawValue)), "How far the request got."),
                .maybe("past_deadline", .boolean, "Whether the job failed for want of time."),
                .maybe("did_you_mean", .text), .maybe("retry_after_ms", .count),
                .maybe("errors", .list(.named("Fault")), "Every place of a document that is wrong."),
                .maybe(
                    "diagnostics",
                    .list(.named("Diagnostic")),
                    "Of config_rejected: every mistake of the configuration."
                ),
                .maybe("text", .text, "Of config_rejected: the mistakes as waystationd --check prints them."),
            ]).doc("The relay's own error (RFC 9457).")
        ),
        (
            "Fault",
            .object([
                Property("pointer", .text, "A JSON pointer (RFC 6901)."), Property("message", .text),
                .maybe("hint", .text),
            ])
        ),
        (
            "Diagnostic",
            .object([
                Property("file", .text), Property("line", .integer(1...)), Property("column", .integer(1...)),
                Property("pointer", .text), Property("severity", .word(["error", "warning"])),
                Property("message", .text), Property("hint", .orNull(.text)),
            ])
        ),
    ]
}
