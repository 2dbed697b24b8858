import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayRoute

extension Problem {
    /// Whether it is a refusal of the request as it is, and is told of nowhere else.
    fileprivate var isOfRequest: Bool {
        switch status {
        // A request that comes too often or too slowly is told of where that is found out.
        case 408, 429: false
        case 501: true
        default: status.isClientError
        }
    }
}

extension Connection {
    /// Notes a request that was refused as it is, with the route its path names.
    func tell(_ problem: Problem, of head: RequestHead) {
        guard problem.code == .contentTooLarge || head.submits && problem.isOfRequest else { return }
        let route = route(of: head)
        let target = route == nil ? nil : try? RelayTarget.parse(head.target)
        note(
            problem,
            route: route,
            method: head.method,
            path: String((target.map { "/" + $0.remainder } ?? head.target).prefix { $0 != "?" })
        )
    }

    /// Notes a request whose head could not be read.
    func tellUnread(_ problem: Problem) {
        guard problem.isOfRequest else { return }
        server.problems.count(problem)
        note(problem, route: nil, method: nil, path: "")
    }

    /// Counts a request that was refused, and notes it.
    func count(_ problem: Problem, of head: RequestHead) {
        tell(problem, of: head)
        if head.submits { server.problems.count(problem, of: route(of: head)) }
    }

    /// The route that the path names, whatever else is wrong with it; nil of a name that the configuration does not have,
    /// of which callers could make as many as they like.
    private func route(of head: RequestHead) -> String? {
        guard head.target.hasPrefix("/r/") else { return nil }
        let name = head.target.dropFirst(3).prefix { $0 != "/" && $0 != "?" }
        return server.engine.snapshot.routes[String(name)]?.route.name
    }

    private func note(_ problem: Problem, route: String?, method: Method?, path: String) {
        let refused = RefusedRequest(
            route: route,
            method: method,
            path: path,
            client: client,
            status: problem.status,
            code: problem.code.name,
            detail: problem.detail
        )
        server.engine.idleSignal.end()
        server.relay.ports.sink.record(.requestRefused(refused))
    }
}

// A connection too many: its caller is heard for a moment, told why it has no place, and heard to the end.
extension Connection {
    /// It waits for the head of a request, to be told then.
    func awaitRefusal() {
        phase = .head
        setDeadline(server.limits.refusedHead)
        receive()
    }

    /// The place that it takes among the refused is another's: it ends now, and is told where it has not been.
    func endRefusal() {
        if phase == .head, let problem = server.refusal(of: self) { refuse(problem) }
        close()
    }
}
