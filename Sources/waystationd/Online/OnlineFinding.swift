import RelayBase

/// The result of a look at one endpoint.
struct OnlineFinding: Sendable {
    enum StepName: String, CaseIterable, Sendable {
        case name, rules, connect, tls, pins, token, request
    }

    enum Mark: String, Sendable {
        case ok, warning, failed
        /// There was no time to begin.
        case notSeen = "not_seen"
        /// Not done, for a reason that is no fault.
        case skipped

        /// The greatest among those of its steps is an endpoint's.
        fileprivate var weight: Int {
            switch self {
            case .ok, .skipped: 0
            case .warning: 1
            case .notSeen: 2
            case .failed: 3
            }
        }
    }

    struct Step: Sendable {
        let name: StepName
        var mark = Mark.ok
        /// Nil of what was not done.
        var time: Duration?
        /// A sentence without its stop: what was seen, and of what is not well what to do.
        var detail: String
        var advice: String?
        /// A word for the table, beside the time.
        var word: String?
    }

    let endpoint: OnlineEndpoint
    var address: String?
    var daysLeft: Int?
    /// Whether a client certificate was asked for and there is none.
    var lacksCertificate = false
    private(set) var steps: [Step] = []

    init(_ endpoint: OnlineEndpoint) { self.endpoint = endpoint }

    mutating func add(_ step: Step) { steps.append(step) }

    /// The step that failed first.
    var fault: Step? { first(.failed) }

    func first(_ mark: Mark) -> Step? { steps.first { $0.mark == mark } }

    var mark: Mark {
        var mark = Mark.ok
        for step in steps where step.mark.weight > mark.weight { mark = step.mark }
        return mark
    }
}
