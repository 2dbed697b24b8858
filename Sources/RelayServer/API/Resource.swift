import RelayCore

extension APICall {
    /// What a path of the API leads to.
    enum Resource {
        case version
        case status
        case live
        case ready
        case reload
        case jobs
        case stream
        case job(id: String, JobPart)
        case actions
        case events
        case shape
        case routes
        case route(String, RoutePart)
        case constrained
    }

    /// What of one job.
    enum JobPart {
        case whole
        case attempts
        case response
        case responseBody
        case requestBody
        case content
        case action(JobAction)
    }

    /// What of one route.
    enum RoutePart {
        case whole
        case pause
        case resume
        case breaker
    }
}

extension APICall.Resource {
    /// The methods besides HEAD, which goes with GET.
    var methods: [Method] {
        switch self {
        case .version, .status, .live, .ready, .events, .shape, .routes: [.get]
        case .reload, .stream, .actions: [.post]
        case .jobs: [.get, .post]
        case .constrained: [.get, .put]
        case .job(_, let part):
            switch part {
            case .whole: [.get, .delete]
            case .attempts, .response, .responseBody, .requestBody: [.get]
            case .content: [.delete]
            case .action: [.post]
            }
        case .route(_, .whole): [.get]
        case .route(_, .breaker): [.put]
        case .route: [.post]
        }
    }

    /// The role it takes; whoever has less than `read` sees only what is their own.
    func role(_ method: Method) -> Role {
        switch self {
        case .version, .live, .ready, .jobs, .stream, .events: .submit
        case .status, .shape, .routes, .route(_, .whole): .read
        case .reload: .admin
        case .constrained: method == .put ? .operate : .read
        case .actions, .route: .operate
        case .job(_, let part):
            switch part {
            case .whole: method == .delete ? .operate : .submit
            case .attempts, .response, .responseBody, .requestBody, .action(.cancel): .submit
            case .content, .action: .operate
            }
        }
    }

    private static let fixed: KeyValuePairs<String, Self> = [
        "/v1/version": .version, "/v1/status": .status, "/v1/health/live": .live, "/v1/health/ready": .ready,
        "/v1/reload": .reload, "/v1/jobs": .jobs, "/v1/jobs/actions": .actions, "/v1/stream": .stream,
        "/v1/events": .events, "/v1/shape": .shape, "/v1/routes": .routes, "/v1/constrained": .constrained,
    ]
    static var paths: [String] { fixed.map(\.key) }

    init?(path: String) {
        if let found = APICall.Resource.fixed.first(where: { $0.key == path }) {
            self = found.value
        } else {
            let steps = path.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
                .dropFirst().map(String.init)
            guard steps.count >= 3, steps[0] == "v1", !steps[2].isEmpty else { return nil }
            switch steps[1] {
            case "jobs":
                guard let part = APICall.JobPart(Array(steps[3...])) else { return nil }
                self = .job(id: steps[2], part)
            case "routes":
                guard let part = APICall.RoutePart(Array(steps[3...])) else { return nil }
                self = .route(steps[2], part)
            default: return nil
            }
        }
    }
}

extension APICall.JobPart {
    fileprivate init?(_ steps: [String]) {
        switch steps {
        case []: self = .whole
        case ["attempts"]: self = .attempts
        case ["response"]: self = .response
        case ["response", "body"]: self = .responseBody
        case ["request", "body"]: self = .requestBody
        case ["content"]: self = .content
        case ["retry"]: self = .action(.retry)
        case ["cancel"]: self = .action(.cancel)
        case ["hold"]: self = .action(.hold)
        case ["release"]: self = .action(.release)
        default: return nil
        }
    }
}

extension APICall.RoutePart {
    fileprivate init?(_ steps: [String]) {
        switch steps {
        case []: self = .whole
        case ["pause"]: self = .pause
        case ["resume"]: self = .resume
        case ["breaker"]: self = .breaker
        default: return nil
        }
    }
}
