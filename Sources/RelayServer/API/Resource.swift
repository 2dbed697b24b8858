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

    static let paths = [
        "/v1/version", "/v1/status", "/v1/health/live", "/v1/health/ready", "/v1/reload", "/v1/jobs",
        "/v1/jobs/actions", "/v1/stream", "/v1/events", "/v1/shape", "/v1/routes", "/v1/constrained",
    ]

    init?(path: String) {
        switch path {
        case "/v1/version": self = .version
        case "/v1/status": self = .status
        case "/v1/health/live": self = .live
        case "/v1/health/ready": self = .ready
        case "/v1/reload": self = .reload
        case "/v1/jobs": self = .jobs
        case "/v1/jobs/actions": self = .actions
        case "/v1/stream": self = .stream
        case "/v1/events": self = .events
        case "/v1/shape": self = .shape
        case "/v1/routes": self = .routes
        case "/v1/constrained": self = .constrained
        default:
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
        default: return nil
        }
    }
}
