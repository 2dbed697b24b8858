import RelayBase

/// The result of a look at one endpoint.
struct OnlineFinding: Sendable {
    enum StepName: String, CaseIterable, Sendable {
        case name, rules, connect, tls, pins, token, request
    }

    enum Mark: String, Sendable {
        case ok, warning, failed
        /// Not done, for a reason that is no fault.
        case skipped
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
    private(set) var steps: [Step] = []

    init(_ endpoint: OnlineEndpoint) { self.endpoint = endpoint }

    mutating func add(_ step: Step) { steps.append(step) }

    /// The step that failed first.
    var fault: Step? { steps.first { $0.mark == .failed } }

    var warnings: [Step] { steps.filter { $0.mark == .warning } }

    var mark: Mark { fault != nil ? .failed : warnings.isEmpty ? .ok : .warning }
}
