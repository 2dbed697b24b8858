public import RelayBase
public import RelayJSON

/// How an operation that an upstream begins, and answers before it is over, is followed to its end.
public struct Following: Sendable {
    /// Where an address stands in an answer.
    public enum Locator: Sendable {
        /// A field of its head.
        case field(FieldName)
        /// A text in its JSON content.
        case pointer(JSONPointer)
    }

    /// Answers that begin an operation; nil is a 202 that names its address.
    public var when: SuccessRule?
    /// Where its address stands; nil is `Operation-Location`, or else `Location`.
    public var location: Locator?
    /// A path of the upstream's origin, such as `/`, below which operations may stand, too; nil looks below the upstream's base
    /// alone, as its credential goes along.
    public var below: String?
    /// Answers to a look that say that it is done; nil reads them as they are usual.
    public var done: SuccessRule?
    /// Answers to a look that say that it has failed; likewise.
    public var failed: SuccessRule?
    /// Where the last answer to a look names the result; nil takes that answer for it.
    public var result: Locator?
    /// The shortest wait between two looks: 10 ms to 1 h.
    public var interval: Duration = .seconds(2)
    /// The longest, but for what the upstream asks for: 10 ms to 1 d.
    public var maxInterval: Duration = .seconds(30)
    /// How long a kept job waits for the operation's end: 1 s to 30 d; a caller that waits has the time of its request.
    public var timeout: Duration = .seconds(86_400)
    /// How the upstream is told to stop the operation of a job that is cancelled; nil tells it nothing.
    public var cancel: Cancel?

    /// A request that has an upstream stop an operation, sent once to its address.
    public enum Cancel: String, CaseIterable, Sendable {
        /// A `DELETE` without content.
        case delete = "DELETE"
    }

    /// Bytes of an address.
    package static let addressLimit = 2_048
    /// The longest wait that an upstream's `Retry-After` brings.
    private static let longestAsked: Duration = .seconds(900)

    /// The defaults of every property.
    public init() {}

    /// The wait before the next look at an operation of that age, of which the upstream has `asked` for one.
    ///
    /// It grows with the age, half of it and at most `max_interval`, and is longer where the upstream asks for that. A
    /// hundredth of the age it is at least: so looks stay few, and no count of them has to be kept.
    package func wait(age: Duration, _ asked: Duration?) -> Duration {
        let grown = min(max(interval, age / 2), maxInterval)
        return max(grown, min(asked ?? .zero, max(maxInterval, Self.longestAsked)), age / 100)
    }
}

/// A route's looks at operations, with what judges the answers.
package final class FollowRules: Sendable {
    package let settings: Following
    /// The same route, whose success is an answer that begins an operation; nil where its status alone tells.
    package let when: Route?
    /// The same, whose success is that it is done, or has failed; nil where nobody says.
    package let done: Route?
    package let failed: Route?
    /// The same, whose requests are looks: what answers them can be read.
    package let asking: Route
    /// Whether the answer that begins an operation has to be looked into.
    package let needsContent: Bool

    private static let accepted = StatusSet(codes: [202])

    init(_ settings: Following, of name: String, _ policy: RoutePolicy) {
        self.settings = settings
        func route(_ rule: SuccessRule?) -> Route? {
            rule.map { Route(name: name, policy: policy.asking($0)) }
        }
        when = route(settings.when)
        done = route(settings.done)
        failed = route(settings.failed)
        var readable = SuccessRule()
        readable.inspectLimit = policy.limits.body
        var looks = policy.asking(readable)
        looks.response.expectsJSON = true
        asking = Route(name: name, policy: looks)
        let isInside = if case .pointer? = settings.location { true } else { false }
        needsContent = isInside || settings.when?.inspectsBody == true
    }

    /// Whether an answer with that status may begin an operation.
    package func mayBegin(_ status: Status) -> Bool {
        (settings.when?.statuses ?? Self.accepted).contains(status)
    }

    /// Whether an answer that begins an operation and does not name its address is a failure.
    package var needsAddress: Bool { settings.when != nil || settings.location != nil }
}
