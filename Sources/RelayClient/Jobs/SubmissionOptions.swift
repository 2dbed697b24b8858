import RelayBase

/// How a job is to be kept and delivered; what is nil is left to the route.
public struct SubmissionOptions: Sendable {
    /// Makes handing the same request over again harmless: the relay keeps one job for a key, a user and a route.
    ///
    /// Printable ASCII, 1…256 bytes. Without one, a submission whose answer is lost may have been accepted.
    public var idempotencyKey: String?
    /// How long the job is put off, in whole milliseconds; excludes `notBefore`.
    public var delay: Duration?
    /// The moment before which the job is not sent; excludes `delay`.
    public var notBefore: WallTime?
    /// How long it is worth delivering, from its acceptance; whole milliseconds.
    public var expiresAfter: Duration?
    /// Jobs of a route with the same key are delivered one at a time and in order.
    ///
    /// Printable ASCII, 1…256 bytes.
    public var orderingKey: String?
    /// A newer job of the route with the same key cancels those that still wait.
    ///
    /// Printable ASCII, 1…256 bytes.
    public var supersedeKey: String?
    /// Urgency (RFC 9218): 0 first, 7 last; nil counts as 3.
    public var priority: Int?
    /// Labels by which the job can be found; at most 16, each at most 256 bytes as `name=value`.
    public var labels: [String: String] = [:]
    /// How long one delivery may take, all its attempts and waits included; whole milliseconds.
    public var timeout: Duration?

    /// Leaves everything to the route.
    public init() {}
}

extension SubmissionOptions {
    /// The fields of the request that say so.
    ///
    /// - Throws: `invalidRequest` for what the relay could not be told.
    func fields(after fields: HeaderFields) throws(RelayClientError) -> HeaderFields {
        guard delay == nil || notBefore == nil else {
            throw .invalidOption("delay and notBefore exclude each other")
        }
        var fields = fields
        fields.append("Prefer", "respond-async")
        if let idempotencyKey {
            try SubmissionOptions.check(idempotencyKey, "idempotencyKey")
            // A string of RFC 8941 §3.3.3.
            let quoted = idempotencyKey.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
            fields.set("Idempotency-Key", "\"\(quoted)\"")
        }
        for (name, duration) in [
            ("Waystation-Delay", delay), ("Waystation-Expires-After", expiresAfter),
            ("Waystation-Timeout", timeout),
        ] {
            guard let duration else { continue }
            guard duration >= .milliseconds(1), duration <= .seconds(86_400 * 10_000) else {
                throw .invalidOption("a duration is at least 1 ms and at most 10000 days")
            }
            fields.set(name, DurationText.text(duration))
        }
        if let notBefore { fields.set("Waystation-Not-Before", notBefore.description) }
        for (name, option, key) in [
            ("Waystation-Ordering-Key", "orderingKey", orderingKey),
            ("Waystation-Supersede-Key", "supersedeKey", supersedeKey),
        ] {
            guard let key else { continue }
            try SubmissionOptions.check(key, option)
            fields.set(name, key)
        }
        if let priority {
            guard (0...7).contains(priority) else { throw .invalidOption("priority is 0 to 7") }
            fields.set("Priority", "u=\(priority)")
        }
        guard labels.count <= 16 else { throw .invalidOption("a job has at most 16 labels") }
        for (name, value) in labels.sorted(by: { $0.key < $1.key }) {
            let label = "\(name)=\(value)"
            guard !name.isEmpty, !name.contains("="), label.utf8.count <= 256,
                fields.append("Waystation-Label", label)
            else {
                throw .invalidOption(
                    "a label has a name without \"=\", no control characters, and at most 256 bytes with its value"
                )
            }
        }
        return fields
    }

    private static func check(_ key: String, _ option: String) throws(RelayClientError) {
        let isPlain = key.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        guard isPlain, (1...256).contains(key.utf8.count), key.utf8.first != 0x20, key.utf8.last != 0x20
        else {
            throw .invalidOption("\(option) is 1 to 256 bytes of printable ASCII without blanks around it")
        }
    }
}

extension RelayClientError {
    fileprivate static func invalidOption(_ message: String) -> RelayClientError {
        RelayClientError(.invalidRequest, "cannot submit a job: \(message)")
    }
}
