import RelayBase
import RelayInterface
import RelayServer

/// The result of a look at one endpoint.
struct OnlineFinding: Sendable {
    typealias Step = EndpointsDocument.Step

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

    func first(_ result: EndpointResult) -> Step? { steps.first { $0.result == result } }

    var result: EndpointResult {
        var worst = EndpointResult.ok
        for step in steps where step.result.weight > worst.weight { worst = step.result }
        return worst
    }

    var document: EndpointsDocument.Endpoint {
        EndpointsDocument.Endpoint(
            endpoint.name,
            users: endpoint.users,
            result,
            address: address,
            daysLeft: daysLeft,
            steps
        )
    }
}

extension EndpointResult {
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
