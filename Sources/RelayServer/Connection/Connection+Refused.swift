import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayRoute

extension Problem {
    /// Whether the request itself is at fault, and nothing else records the refusal.
    fileprivate var blamesRequest: Bool {
        switch status {
        // The limit that a request exceeds records it.
        case 429: false
        // The request asks for something that the relay does not implement.
        case 501: true
        default: status.isClientError
        }
    }
}

extension Connection {
    /// Records a request that was refused for a fault of its own, with the route that its path names.
    func recordRefusal(_ problem: Problem, of head: RequestHead) {
        // An upload that is too large is recorded on every path, for its limit is an operator's.
        guard problem.code == .contentTooLarge || (head.submits && problem.blamesRequest) else { return }
        let route = route(of: head)
        let target = route == nil ? nil : try? RelayTarget.parse(head.target)
        let path = target.map { "/" + $0.remainder } ?? head.target
        // The query may hold a secret.
        record(problem, route: route, method: head.method, path: String(path.prefix { $0 != "?" }))
    }

    /// Counts and records a request whose head could not be read, or did not come in time.
    func countUnreadRefusal(_ problem: Problem) {
        // A connection without a slot is answered with why it has none, whatever it sent.
        guard slot != nil, problem.blamesRequest else { return }
        server.problems.count(problem)
        record(problem, route: nil, method: nil, path: "")
    }

    /// Refuses a request whose content does not come in time.
    func refuseSlow(_ problem: Problem) {
        if let request { countRefusal(problem, of: request.head) }
        refuse(problem)
    }

    /// Counts and records a request that was refused.
    func countRefusal(_ problem: Problem, of head: RequestHead) {
        recordRefusal(problem, of: head)
        if head.submits { server.problems.count(problem, of: route(of: head)) }
    }

    /// The configured route that the path names; nil for another name, of which callers could make as many as they like.
    private func route(of head: RequestHead) -> String? {
        guard head.target.hasPrefix("/r/") else { return nil }
        let name = head.target.dropFirst(3).prefix { $0 != "/" && $0 != "?" }
        return server.engine.snapshot.routes[String(name)]?.route.name
    }

    private func record(_ problem: Problem, route: String?, method: Method?, path: String) {
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

// A connection beyond the limit: it is read until its first request, answered with the refusal, and closed.
extension Connection {
    /// Reads the head of a request, to answer it with the refusal.
    func awaitRefusal() {
        phase = .head
        setDeadline(server.limits.refusedHead)
        receive()
    }

    /// Makes room for a newer refused connection: sends the refusal where it has not been sent, and closes.
    func endRefusal() {
        if phase == .head, let problem = server.refusal(of: self) { refuse(problem) }
        close()
    }
}
