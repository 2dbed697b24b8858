import RelayBase
import RelayEngine
import RelayJSON

extension APICall.Resource {
    /// The part of the contract about one of its methods.
    func operation(_ method: Method) -> Operation {
        switch self {
        case .version: .version
        case .status: .status
        case .metrics: .metrics
        case .live: .live
        case .ready: .ready
        case .reload: .reload
        case .jobs: method == .post ? .submitJobs : .listJobs
        case .stream: .streamJobs
        case .job(_, let part): part.operation(method)
        case .actions: .actOnJobs
        case .events: .readEvents
        case .shape: .shape
        case .history: .history
        case .routes: .listRoutes
        case .route(_, let part): part.operation
        case .constrained: method == .put ? .setConstrained : .constrained
        case .contract: .contract
        case .page: preconditionFailure("the page is no part of the contract")
        }
    }
}

extension APICall.JobPart {
    fileprivate func operation(_ method: Method) -> Operation {
        switch self {
        case .whole: method == .delete ? .dropJob : .job
        case .attempts: .attempts
        case .response: .response
        case .responseBody: .responseBody
        case .requestBody: .requestBody
        case .content: .expunge
        case .action(let action): .act(action)
        }
    }
}

extension APICall.RoutePart {
    fileprivate var operation: Operation {
        switch self {
        case .whole: .route
        case .pause: .pauseRoute
        case .resume: .resumeRoute
        case .breaker: .setBreaker
        case .clearLimits: .clearLimits
        }
    }
}
