public import RelayBase

/// The one answer to a request.
public struct RelayResponse: Sendable {
    /// The answer's status.
    public let status: Status
    /// The answer's fields, the relay's own included.
    public let fields: HeaderFields
    /// The answer's body, complete.
    public let body: [UInt8]

    /// The maker of the answer.
    public enum Source: String, Sendable {
        /// The upstream; passed on as it came, errors included.
        case upstream
        /// The upstream, when the relay asked it what became of the request, whose own answer was lost.
        case verified
        /// The upstream, at the end of the operation that the request had begun.
        case followed
        /// The upstream, which has begun an operation that goes on: the request's time was over before the operation was.
        case begun
        /// The route's configured stand-in.
        case fallback
        /// The route's configured placeholder.
        case placeholder
        /// An earlier answer of the upstream.
        case stale
        /// The relay itself: a problem document that says why there is no answer.
        case relay
    }

    /// The outcome of the request.
    public enum Outcome: String, Sendable {
        /// The upstream's answer counts as a success by the route's rules, whatever its status.
        case success
        /// The route's configured stand-in answered.
        case fallback
        /// The route's configured placeholder answered.
        case placeholder
        /// An earlier answer of the upstream served again.
        case stale
        /// The request failed, even when the upstream's answer was passed on with a status of success.
        case failure
    }

    /// The outcome of the request; nil for answers about the relay itself and for requests it refused at once.
    public var outcome: Outcome? {
        fields[.waystationOutcome].flatMap(Outcome.init(rawValue:))
    }

    /// The maker of the answer; nil for answers about the relay itself.
    public var source: Source? {
        fields[.waystationSource].flatMap(Source.init(rawValue:))
    }

    /// How many attempts were made; nil when none was.
    public var attempts: Int? { fields[.waystationAttempts].flatMap { Int($0) } }

    /// The job's id, for `waystation explain` and the journal.
    public var job: String? { fields[.waystationJob] }

    /// Whether the request goes on as the kept job `job`, though a stand-in has answered it: it is on disk.
    public var isKept: Bool { fields[.waystationKept] == "true" }

    /// The body as text; bytes that are no UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    package init(status: Status, fields: HeaderFields, body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

extension FieldName {
    package static let waystationSource = FieldName(constant: "waystation-source")
    package static let waystationOutcome = FieldName(constant: "waystation-outcome")
    package static let waystationAttempts = FieldName(constant: "waystation-attempts")
    package static let waystationJob = FieldName(constant: "waystation-job")
    package static let waystationKept = FieldName(constant: "waystation-kept")
    package static let waystationReplayed = FieldName(constant: "waystation-replayed")

    private init(constant name: String) {
        guard let field = FieldName(name) else { preconditionFailure("\(name) is no token") }
        self = field
    }
}
