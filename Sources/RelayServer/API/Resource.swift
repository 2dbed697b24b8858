import RelayBase
import RelayJobs
import RelayRoute

extension APICall {
    /// The resource that a path of the API leads to.
    enum Resource {
        case version
        case status
        case troubles
        case metrics
        case live
        case ready
        case reload
        case endpoints
        case jobs
        case stream
        case job(id: String, JobPart)
        case actions
        case runs
        case run(String, RunPart)
        case events
        case shape
        case history
        case routes
        case table
        case route(String, RoutePart)
        case constrained
        case contract
        /// The page for browsers, which is no part of the interface, or nil: the way to it.
        case page(PageDocument?)
    }

    /// The part of one job that a call is about.
    enum JobPart {
        case whole
        case attempts
        case response
        case responseBody
        case requestBody
        case content
        case action(JobAction)
    }

    /// The part of one run that a call is about.
    enum RunPart {
        case whole
        case stop
    }

    /// The part of one route that a call is about.
    enum RoutePart {
        case whole
        case pause
        case resume
        case breaker
        case clearLimits
    }
}

extension APICall.Resource {
    /// The methods besides HEAD, which goes with GET.
    var methods: [Method] {
        switch self {
        case .version, .status, .troubles, .metrics, .live, .ready, .events, .shape, .history, .routes,
            .table, .contract,
            .page:
            [.get]
        case .reload, .endpoints, .stream, .actions: [.post]
        case .jobs, .runs: [.get, .post]
        case .constrained: [.get, .put]
        case .job(_, let part):
            switch part {
            case .whole: [.get, .delete]
            case .attempts, .response, .responseBody, .requestBody: [.get]
            case .content: [.delete]
            case .action: [.post]
            }
        case .route(_, .whole), .run(_, .whole): [.get]
        case .run(_, .stop): [.post]
        case .route(_, .breaker): [.put]
        case .route: [.post]
        }
    }

    /// The role it takes; whoever has less than `read` sees only what is their own.
    func role(_ method: Method) -> Role {
        switch self {
        case .version, .live, .ready, .jobs, .stream, .events, .contract: .submit
        case .status, .troubles, .shape, .history, .routes, .table, .route(_, .whole), .page: .read
        case .metrics: .metrics
        case .reload, .endpoints: .admin
        case .constrained: method == .put ? .operate : .read
        case .actions, .route, .run(_, .stop): .operate
        case .runs: method == .post ? .operate : .read
        case .run(_, .whole): .read
        case .job(_, let part):
            switch part {
            case .whole: method == .delete ? .operate : .submit
            case .attempts, .response, .responseBody, .requestBody, .action(.cancel): .submit
            case .content, .action: .operate
            }
        }
    }

    /// Whether no listener has it that web pages of others could reach.
    var isOfUnixSockets: Bool { if case .page = self { true } else { false } }

    private static let fixed: KeyValuePairs<String, Self> = [
        "/metrics": .metrics, "/v1/version": .version, "/v1/status": .status, "/v1/troubles": .troubles,
        "/v1/health/live": .live,
        "/v1/health/ready": .ready,
        "/v1/reload": .reload, "/v1/endpoints/check": .endpoints, "/v1/jobs": .jobs,
        "/v1/jobs/actions": .actions, "/v1/runs": .runs,
        "/v1/stream": .stream,
        "/v1/events": .events, "/v1/shape": .shape, "/v1/history": .history, "/v1/routes": .routes,
        "/v1/table": .table,
        "/v1/constrained": .constrained, "/v1/openapi.json": .contract,
    ]
    static var paths: [String] { fixed.map(\.key) }

    /// Every resource by its path, in which `{id}` stands for a job's id, `{route}` for a route's name and `{number}` for a
    /// run's number.
    static var all: [(path: String, resource: Self)] {
        fixed.map { ($0.key, $0.value) }
            + APICall.JobPart.paths.map { ("/v1/jobs/{id}" + $0.key, .job(id: "{id}", $0.value)) }
            + APICall.RunPart.paths.map { ("/v1/runs/{number}" + $0.key, .run("{number}", $0.value)) }
            + APICall.RoutePart.paths.map { ("/v1/routes/{route}" + $0.key, .route("{route}", $0.value)) }
    }

    init?(path: String) {
        if let found = APICall.Resource.fixed.first(where: { $0.key == path }) {
            self = found.value
        } else if path == "/ui" {
            self = .page(nil)
        } else if let document = PageDocument.allCases.first(where: { $0.path == path }) {
            self = .page(document)
        } else {
            let steps = path.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false)
                .dropFirst().map(String.init)
            guard steps.count >= 3, steps[0] == "v1", !steps[2].isEmpty else { return nil }
            let rest = steps.count > 3 ? "/" + steps[3] : ""
            switch steps[1] {
            case "jobs":
                guard let part = APICall.JobPart.paths.first(where: { $0.key == rest }) else { return nil }
                self = .job(id: steps[2], part.value)
            case "runs":
                guard let part = APICall.RunPart.paths.first(where: { $0.key == rest }) else { return nil }
                self = .run(steps[2], part.value)
            case "routes":
                guard let part = APICall.RoutePart.paths.first(where: { $0.key == rest }) else { return nil }
                self = .route(steps[2], part.value)
            default: return nil
            }
        }
    }
}

extension APICall.JobPart {
    /// By what follows the job's id.
    static let paths: KeyValuePairs<String, Self> = [
        "": .whole, "/attempts": .attempts, "/response": .response, "/response/body": .responseBody,
        "/request/body": .requestBody, "/content": .content, "/retry": .action(.retry),
        "/cancel": .action(.cancel), "/hold": .action(.hold), "/release": .action(.release),
    ]
}

extension APICall.RunPart {
    /// By what follows the run's number.
    static let paths: KeyValuePairs<String, Self> = ["": .whole, "/stop": .stop]
}

extension APICall.RoutePart {
    /// By what follows the route's name.
    static let paths: KeyValuePairs<String, Self> = [
        "": .whole, "/pause": .pause, "/resume": .resume, "/breaker": .breaker,
        "/limits/clear": .clearLimits,
    ]
}
