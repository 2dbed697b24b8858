import RelayBase
import RelayJSON

/// A whole file.
struct ConfigurationDraft {
    var schema: String?
    var listeners = ListenerDraft.standard
    var storage = StorageSettings()
    var limits = Limits()
    var log = LogSettings()
    var constrained: ConstrainedDraft?
    var credentials: [(name: String, value: OAuth2Draft)] = []
    var defaults = RouteDraft()
    var routes: [(name: String, value: RouteDraft)] = []
}

/// The field table: every key there is, once.
///
/// Decoding, suggestions, the schema, the manual page and the effective configuration all come from it.
enum ConfigurationTable {
    static var root: Section<ConfigurationDraft> {
        Section(
            "configuration",
            "One JSON object. Every object may hold a \"$comment\", which is ignored.",
            of: ConfigurationDraft()
        ) {
            Field("$schema", .string(), \.schema) { "Where editors find the schema; the relay ignores it." }
            Field("listeners", listeners, \.listeners) {
                "The sockets on which callers are served. Without the key they are jobs at /run/waystation/jobs.sock "
                    + "(0660, group waystation, role submit) and control at /run/waystation/control.sock "
                    + "(0600, role admin). A change takes effect at a restart."
            }
            Field("storage", storage.kind, \.storage) {
                "Where jobs are kept, and for how long."
            }
            Field("limits", limits.kind, \.limits) { "What all callers together may take." }
            Field("log", log.kind, \.log) { "What goes to the journal." }
            Field("constrained", constrained.kind, \.constrained) {
                "What tells that the network is constrained; it never is without the key."
            }
            Field("credentials", credentials, \.credentials) {
                "Credentials that several routes share, each by its name."
            }
            Field("defaults", defaultsKind, \.defaults) {
                "What a route means when it does not say otherwise. Objects are merged key by key; "
                    + "a list stands for a route that has none of its own."
            }
            Field("routes", routes, \.routes) {
                "The upstream services, each by its name; the name stands in the path /r/NAME/."
            }
            Field.reserved("telemetry")
            Field.foreign("metrics", "is what a listener with \"role\": \"metrics\" serves")
        } check: { draft, node, reading in
            checkListeners(node, &reading)
            checkUploads(draft.limits, node, &reading)
            checkNotices(draft.routes, node, &reading)
            if node["routes"] == nil || node["routes"]?.value.isEmptyObject == true {
                reading.warn(
                    "there are no routes: every request is answered 404",
                    at: node.location("routes")
                )
            }
        }
    }

    private static var defaultsKind: ValueKind<RouteDraft> {
        let kind = defaults.kind
        var noting = ValueKind<RouteDraft>(kind.shape) { node, current, reading in
            let value = kind.read(node, current, &reading)
            if let value { reading.routeDefaults = value }
            return value
        }
        // Without the section, its values show where they act: in the routes.
        noting.noteDefaults = { _, _ in }
        return noting
    }

    private static var log: Section<LogSettings> {
        Section("log", "What goes to the journal. Header values and bodies never do.", of: LogSettings()) {
            Field("level", .word(), \.level) { "The least severe records that are written." }
            Field("format", .word(), \.format) {
                "How records are written to standard error: as text, or as JSON, one object a line, with the names of "
                    + "the journal's fields, strings all, and TIMESTAMP. Records that go to the journal always have "
                    + "all their fields. A change waits for a restart."
            }
            Field("bodies", .word(reserved: ["on_failure"]), \.bodies) { "Whether bodies are written." }
            Field("redact_headers", .list(redactedHeader, maximum: 100), \.redactedHeaders) {
                "Headers of an answer whose values the document of a job (GET /v1/jobs/ID?include=body) does not show. "
                    + "Whoever handed the request over, and whoever fetches its answer, gets them all the same."
            }
        }
    }

    private static var redactedHeader: ValueKind<String> {
        ValueKind<FieldName>.field(.credential).map({ $0.lowercasedText }, back: { _ in .authorization })
            .writing { .string($0) }
    }
}

extension JSONNode {
    var isEmptyObject: Bool {
        if case .object(let members) = content { return members.isEmpty }
        return false
    }
}
