import RelayCore
import RelayEngine
import RelayHTTP

/// A request to the relay itself: a resource that exists, by a method it has, from a role that may.
struct APICall {
    let resource: Resource
    let method: Method
    let fields: HeaderFields

    enum Resource {
        case version
        case status
        case live
        case ready
        case reload
        case jobs
        case stream
        case job(id: String)
        case constrained

        /// The methods besides HEAD, which goes with GET.
        var methods: [Method] {
            switch self {
            case .version, .status, .live, .ready, .job: [.get]
            case .reload, .jobs, .stream: [.post]
            case .constrained: [.get, .put]
            }
        }

        func role(_ method: Method) -> Role {
            switch self {
            case .version, .live, .ready, .jobs, .stream, .job: .submit
            case .status: .read
            case .reload: .admin
            case .constrained: method == .put ? .operate : .read
            }
        }
    }

    init(_ head: RequestHead, role: Role) throws(Problem) {
        let path: String
        do throws(HTTPParseError) {
            path = "/" + (try RelayTarget.rest(of: head.target)).prefix { $0 != "?" }
        } catch {
            throw Problem(error)
        }
        guard let resource = Resource(path: path) else {
            var problem = Problem(
                .pathNotFound,
                "the relay answers under /r/ROUTE/PATH and /v1/; this path is neither"
            )
            problem.didYouMean = nearestWord(to: path, among: Resource.paths)
            throw problem
        }
        guard
            resource.methods.contains(head.method)
                || head.method == .head && resource.methods.contains(.get)
        else {
            var problem = Problem(
                .methodNotAllowed,
                "\(path) does not have the method \(head.method.rawValue)"
            )
            problem.allow = (resource.methods + (resource.methods.contains(.get) ? [.head] : []))
                .map(\.rawValue).joined(separator: ", ")
            throw problem
        }
        let needed = resource.role(head.method)
        guard role >= needed else {
            throw Problem(
                .notAllowed,
                "\(path) needs the role \(needed.rawValue), and this socket gives \(role.rawValue): use the control socket"
            )
        }
        self.resource = resource
        method = head.method
        fields = head.fields
    }
}

extension APICall.Resource {
    static let paths = [
        "/v1/version", "/v1/status", "/v1/health/live", "/v1/health/ready", "/v1/reload", "/v1/jobs",
        "/v1/stream", "/v1/constrained",
    ]

    init?(path: String) {
        switch path {
        case "/v1/version": self = .version
        case "/v1/status": self = .status
        case "/v1/health/live": self = .live
        case "/v1/health/ready": self = .ready
        case "/v1/reload": self = .reload
        case "/v1/jobs": self = .jobs
        case "/v1/stream": self = .stream
        case "/v1/constrained": self = .constrained
        default:
            let prefix = "/v1/jobs/"
            let id = path.dropFirst(prefix.count)
            guard path.hasPrefix(prefix), !id.isEmpty, !id.contains("/") else { return nil }
            self = .job(id: String(id))
        }
    }
}
