import RelayBase

/// The requests that an upstream has asked to wait with, and until when: no more than it has said.
///
/// An answer speaks of the kind of request that it answers, with the credential that came with it, or of all that share the
/// limit it names (`X-RateLimit-Resource`). It speaks of the whole upstream when a second kind of request is told the same
/// meanwhile.
///
/// | answer | what waits |
/// |---|---|
/// | `GET /a`: 429, `Retry-After: 60` | `GET /a` |
/// | then `GET /b`: 429, `Retry-After: 30` | everything for 30 s, `GET /a` for as long as it was told |
/// | `GET /find`: 200, nothing left of `X-RateLimit-Resource: search` | what was ever answered with that name |
struct HoldTable: Sendable {
    /// The requests that wait.
    enum Scope: Hashable, Sendable {
        case everything
        case asked(RequestClass.Asked)
        /// A limit by the name that the upstream has for it, with the credential.
        case resource(String, credential: Int)

        /// The requests it is about; nil where it is about all.
        var text: String? {
            switch self {
            case .everything: nil
            case .asked(let asked): asked.name
            case .resource(let name, _): "the limit \(name)"
            }
        }
    }

    struct Hold: Hashable, Sendable {
        var scope: Scope
        var since: Instant
        var until: Instant

        /// Why a request of that upstream waits.
        func hold(_ upstream: String) -> AttemptDeferral {
            var hold = AttemptDeferral(reason: .throttled, upstream: upstream, until: until, since: since)
            hold.request = scope.text
            return hold
        }
    }

    /// An answer's word on waiting.
    struct RequestedWait: Hashable, Sendable {
        /// How long the upstream wants them to wait.
        var wait: Duration
        /// The limit's name.
        var resource: String?
    }

    /// Holds at most, and names of limits: the soonest to end is forgotten first.
    static let most = 64

    private(set) var holds: [Hold] = []
    private var resources: [RequestClass.Asked: String] = [:]

    /// Whether nothing waits, however long the route lets it.
    func isEmpty(_ now: Instant) -> Bool { holds.allSatisfy { $0.until <= now } }

    /// An answer to such a request; nil where nobody knows to which.
    ///
    /// `longest` is what the route allows of each: a longer hold that ends sooner by it hides none that comes later.
    mutating func told(
        _ word: RequestedWait,
        to asked: RequestClass.Asked?,
        longest: Duration = .seconds(86_400),
        _ now: Instant
    ) {
        for index in holds.indices {
            holds[index].until = min(holds[index].until, holds[index].since.advanced(by: longest))
        }
        holds.removeAll { $0.until <= now }
        let until = now.advanced(by: word.wait)
        guard let asked else { return hold(.everything, until, now) }
        if let resource = word.resource {
            if resources.count >= HoldTable.most { resources.removeAll() }
            resources[asked] = resource
            return hold(.resource(resource, credential: asked.credential), until, now)
        }
        let isSecond = holds.contains { hold in
            guard case .asked(let other) = hold.scope else { return false }
            return other.name != asked.name
        }
        hold(.asked(asked), until, now)
        if isSecond { hold(.everything, until, now) }
    }

    /// The hold on such a request that lasts longest; `longest` is what the route allows of each.
    func hold(of asked: RequestClass.Asked?, longest: Duration, _ now: Instant) -> Hold? {
        var found: Hold?
        for var hold in holds where concerns(hold.scope, asked) {
            hold.until = min(hold.until, hold.since.advanced(by: longest))
            if hold.until > now, hold.until > found?.until ?? now { found = hold }
        }
        return found
    }

    /// Those that last, in the order of their ends.
    func standing(longest: Duration, _ now: Instant) -> [Hold] {
        holds.map {
            Hold(scope: $0.scope, since: $0.since, until: min($0.until, $0.since.advanced(by: longest)))
        }
        .filter { $0.until > now }
        .sorted { $0.until < $1.until }
    }

    mutating func clear() { holds.removeAll() }

    /// Lifts those of requests, or of a limit, that is called so.
    mutating func clear(_ text: String) -> Bool {
        let before = holds.count
        holds.removeAll { $0.scope.text == text }
        return holds.count < before
    }

    private func concerns(_ scope: Scope, _ asked: RequestClass.Asked?) -> Bool {
        switch scope {
        case .everything: true
        case .asked(let held): held == asked
        case .resource(let name, let credential):
            asked.map { $0.credential == credential && resources[$0] == name } ?? false
        }
    }

    private mutating func hold(_ scope: Scope, _ until: Instant, _ now: Instant) {
        if let index = holds.firstIndex(where: { $0.scope == scope }) {
            if holds[index].until < until { holds[index] = Hold(scope: scope, since: now, until: until) }
            return
        }
        if holds.count >= HoldTable.most,
            let first = holds.indices.min(by: { holds[$0].until < holds[$1].until })
        {
            holds.remove(at: first)
        }
        holds.append(Hold(scope: scope, since: now, until: until))
    }
}
