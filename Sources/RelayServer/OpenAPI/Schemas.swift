import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON

extension OpenAPI {
    /// The document's own schemas, by name.
    static let schemas: [(name: String, schema: Schema)] = [
        problemSchemas, jobSchemas, submissionSchemas, bulkSchemas, streamSchemas, eventSchemas,
        routeSchemas, daemonSchemas,
    ].flatMap { $0.map { (name: $0.key, schema: $0.value) } }

    private static let problemSchemas: KeyValuePairs<String, Schema> = [
        "Problem": Problem.schema.doc("The relay's own error (RFC 9457)."),
        "Fault": Problem.Fault.schema,
        "Diagnostic": .object([
            Property("file", .text), Property("line", .integer(1...)), Property("column", .integer(1...)),
            Property("pointer", .text), Property("severity", .word(["error", "warning"])),
            Property("message", .text), Property("hint", .orNull(.text)),
        ]),
    ]

    private static let daemonSchemas: KeyValuePairs<String, Schema> = [
        "Version": VersionDocument.schema,
        "Live": .object([Property("status", .constant(.string("live")))]),
        "Ready": .object([Property("status", .constant(.string("ready")))]),
        "Status": StatusReport.schema, "Caller": CallerShares.Standing.schema,
        "Troubles": TroublesDocument.schema, "Trouble": Trouble.schema,
        "Reload": .object(of: ReloadReport.members),
        "Endpoints": EndpointsDocument.schema,
        "Constrained": .object(of: ConstrainedReport.members),
        "ConstrainedOrder": .strict([Property("state", ConstrainedOrder.schema)]),
    ]
}
