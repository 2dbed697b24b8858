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
        ("Problem", Problem.schema.doc("The relay's own error (RFC 9457).")),
        ("Fault", Problem.Fault.schema),
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
