import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON

extension OpenAPI {
    static let daemonSchemas: [(name: String, schema: Schema)] = [
        ("Version", VersionDocument.schema),
        ("Live", .object([Property("status", .constant(.string("live")))])),
        ("Ready", .object([Property("status", .constant(.string("ready")))])),
        ("Status", StatusReport.schema), ("Caller", CallerShares.Standing.schema),
        ("Reload", .object(of: ReloadReport.members)),
        ("Constrained", .object(of: ConstrainedReport.members)),
        ("ConstrainedOrder", .strict([Property("state", ConstrainedOrder.schema)])),
    ]
}
