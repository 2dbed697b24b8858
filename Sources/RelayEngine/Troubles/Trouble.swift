package import RelayBase
package import RelayCore
package import RelayInterface
package import RelayJobs

/// Something that is wrong, of one cause and one subject, with the routes that it concerns.
package struct Trouble: Sendable {
    /// The thing that is to be looked at.
    package enum Subject: Hashable, Sendable {
        case daemon
        case store
        case credential(String)
        /// By its origin.
        case upstream(String)
        case route(String)
        /// Routes, whichever they are.
        case routes
        /// The user or the rule that paused routes.
        case principal(String)
    }

    /// A call that helps at once.
    package enum Action: Sendable {
        case reload
        case resume(route: String)
        case breakerAuto(route: String, upstream: String)
        case jobs(JobAction, JobState, route: String?, failure: FailureCount.Name?)
    }

    package let kind: TroubleKind
    package let subject: Subject
    /// Tells those apart that have kind and subject in common.
    private let more: String
    package var state: TroubleState
    /// In milliseconds since 1970 UTC, as all moments here.
    package var since: Int64?
    /// The sentence of the cause, where the row's is not all there is to say.
    private let told: String?
    /// Requests of callers.
    package var failuresPerMinute = 0
    /// Kept jobs that are not over and not on hold, and those of them that have failed.
    package var (waiting, retrying) = (0, 0)
    package var oldest: Int64?
    /// Those that expire within the hour, and those that have their last attempt then.
    package var (expiring, dying) = (EndingJobs.Share(), EndingJobs.Share())
    /// When something is tried or ends.
    package var next: Int64?
    /// Jobs, requests or breaches, as the kind has it.
    package var count: Int?
    /// That of the route or the configuration that its action is for.
    package var revision: String?
    /// The user who has most of the requests that wait.
    package var crowd: (user: UInt32, count: Int)?
    package private(set) var routes: [String: Int] = [:]
    package private(set) var upstreams: Set<String> = []
    /// Upstreams whose breaker only tells what it would do, and the others.
    private var (reported, acting) = (0, 0)
    private var counts: [FailureCount.Name: UInt64] = [:]
    private var latest: [FailureCount.Name: LastFailure] = [:]

    /// Bytes of a text of others.
    private static let textLimit = 300

    init(
        _ kind: TroubleKind,
        _ subject: Subject,
        state: TroubleState? = nil,
        since: Int64? = nil,
        told: String? = nil,
        more: String = ""
    ) {
        self.kind = kind
        self.subject = subject
        self.state = state ?? kind.state
        self.since = since
        self.told = told.map(Trouble.bounded)
        self.more = Trouble.bounded(more)
    }

    private static func bounded(_ text: String) -> String {
        text.utf8.count <= textLimit
            ? text : String(decoding: text.utf8.prefix(textLimit), as: UTF8.self) + "…"
    }

    mutating func concerns(_ route: String, _ upstream: RouteFacts.Upstream? = nil, failures: Int = 0) {
        routes[route, default: 0] += failures
        failuresPerMinute += failures
        guard let upstream else { return }
        upstreams.insert(upstream.name)
        if upstream.isReported { reported += 1 } else { acting += 1 }
        for failure in upstream.failures { counts[failure.name, default: 0] += failure.count }
        if let last = upstream.last { note(last) }
    }

    mutating func note(_ last: LastFailure) {
        let name = FailureCount.Name(kind: last.kind, status: last.status)
        if latest[name].map({ $0.wallSeconds < last.wallSeconds }) ?? true { latest[name] = last }
    }

    /// Takes up what another route has to say of the same.
    mutating func merge(_ other: Trouble) {
        state = max(state, other.state)
        since = Trouble.earlier(since, other.since)
        oldest = Trouble.earlier(oldest, other.oldest)
        next = Trouble.earlier(next, other.next)
        failuresPerMinute += other.failuresPerMinute
        waiting += other.waiting
        retrying += other.retrying
        (expiring, dying) = (expiring + other.expiring, dying + other.dying)
        if let more = other.count { count = (count ?? 0) + more }
        routes.merge(other.routes, uniquingKeysWith: +)
        upstreams.formUnion(other.upstreams)
        (reported, acting) = (reported + other.reported, acting + other.acting)
        counts.merge(other.counts, uniquingKeysWith: +)
        for last in other.latest.values { note(last) }
    }

    static func earlier(_ one: Int64?, _ other: Int64?) -> Int64? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}

/// Failed attempts of one kind.
package struct FailureCount: Sendable {
    package struct Name: Hashable, Sendable {
        package let kind: FailureKind
        package let status: Status?
    }

    package let name: Name
    package let count: UInt64

    package init(_ kind: FailureKind, _ status: Status? = nil, _ count: UInt64) {
        name = Name(kind: kind, status: status)
        self.count = count
    }

    /// Whether it stands before the other, the more frequent first.
    static func stands(_ one: FailureCount, before other: FailureCount) -> Bool {
        if one.count != other.count { return one.count > other.count }
        let (first, second) = (one.name.kind.rawValue, other.name.kind.rawValue)
        return first == second
            ? (one.name.status?.rawValue ?? 0) < (other.name.status?.rawValue ?? 0) : first < second
    }
}

// The words of it.
extension Trouble {
    /// The same for the same thing that is wrong, as long as it is.
    package var id: String {
        kind.name + (subjectName.map { "/\($0)" } ?? "") + (more.isEmpty ? "" : "/\(more)")
    }

    /// The measures that the relay takes.
    package var relay: String {
        guard reported > 0, [.upstreamFailing, .upstreamUnreachable].contains(kind) else { return kind.relay }
        if acting == 0 {
            return
                "It tries again as the route's rules say; the breaker only tells what it would do (mode report), and"
                + " holds nothing back."
        }
        return kind.relay + " A breaker whose mode is report only tells."
    }

    package var subjectName: String? {
        switch subject {
        case .daemon, .store, .routes: nil
        case .credential(let name), .upstream(let name), .route(let name), .principal(let name): name
        }
    }

    /// Failed attempts, most first; those that were not sent for the breaker are told only where there are no others.
    package var failures: [FailureCount] {
        counts.map { FailureCount($0.key.kind, $0.key.status, $0.value) }
            .filter { $0.name.kind != .breakerOpen || counts.count == 1 }.sorted(by: FailureCount.stands)
    }

    /// The newest failure of those that are most frequent.
    package var lastFailure: LastFailure? {
        let most = failures.first?.name
        return latest.values.filter {
            most == nil || $0.kind == most?.kind && ($0.status == most?.status || most?.status == nil)
        }.max { $0.wallSeconds < $1.wallSeconds }
    }

    /// One sentence on what is wrong.
    package var cause: String {
        let (count, isOne) = (count ?? 0, count == 1)
        switch kind {
        case .jobsRetrying: return "\(count) job\(isOne ? "" : "s") failed and will be tried again."
        case .jobsWaiting:
            return "\(count) job\(isOne ? "" : "s") could be sent and wait\(isOne ? "s" : "") for a turn."
        case .jobsHeld: return "\(count) job\(isOne ? " is" : "s are") on hold."
        case .jobsDead: return "\(count) job\(isOne ? " is" : "s are") dead."
        case .saturated where count > 0:
            let most = crowd.map { ", \($0.count < count ? "\($0.count)" : "all") of user \($0.user)" } ?? ""
            return "\(subjectName ?? ""): \(count) request\(isOne ? " waits" : "s wait") for a permit\(most)."
        case .credentialFailing: return "Credential \(subjectName ?? "") could not be obtained."
        case .credentialRefused:
            return "Upstreams refuse credential \(subjectName ?? ""), which was just fetched."
        case .neverFailsBreached: return "\(subjectName ?? ""): never_fails breached \(count)x."
        default: break
        }
        if let told { return told }
        guard let subjectName else { return kind.word.text }
        guard let most = failures.first?.name ?? lastFailure.map({ .init(kind: $0.kind, status: $0.status) })
        else { return "\(subjectName): \(kind.word.text)" }
        if most.kind == .httpStatus, let status = most.status {
            return "\(subjectName): The upstream answers \(status.rawValue)."
        }
        if most.kind == .cancelled { return "\(subjectName): Callers give up before it has answered." }
        return
            "\(subjectName): \(most.kind.own.map { String($0.rawValue.sentence) } ?? "The answers are \(most.kind).")"
    }

    /// The advice, with the route where there is one.
    package var remedy: String {
        var text = kind.word.remedy
        if case .upstream = subject, kind != .throttled, kind != .breakerForced,
            let most = failures.first?.name.kind ?? lastFailure?.kind,
            most != .httpStatus, most != .breakerOpen, most != .cancelled, let own = most.own
        {
            text = own.rawValue.line("Do: ") ?? text
        }
        guard routes.count == 1, let route = routes.keys.first else { return text }
        return text.parts(between: "ROUTE").joined(separator: route)
    }

    /// The one call that helps; nil where there is none, or where it takes a call for each of several routes.
    package var action: Action? {
        let route = routes.count == 1 ? routes.keys.first : nil
        switch kind {
        case .reloadRefused: return .reload
        case .routePaused: return route.map { .resume(route: $0) }
        case .breakerForced:
            guard let route, upstreams.count == 1, let upstream = upstreams.first else { return nil }
            return .breakerAuto(route: route, upstream: upstream)
        case .jobsHeld: return .jobs(.release, .held, route: route, failure: nil)
        case .jobsRetrying: return .jobs(.retry, .retrying, route: route, failure: nil)
        case .upstreamUnreachable, .upstreamFailing, .credentialFailing, .credentialRefused, .throttled:
            let failure = failures.first?.name
            // Without a route and a kind it would be the jobs of everybody.
            guard retrying > 0, route != nil || failure != nil else { return nil }
            return .jobs(.retry, .retrying, route: route, failure: route == nil ? failure : nil)
        default: return nil
        }
    }
}

extension FailureKind {
    private static let own = Dictionary(uniqueKeysWithValues: Own.allCases.map { ($0.rawValue.name, $0) })

    /// The case of a kind that the relay itself reports.
    var own: Own? { FailureKind.own[rawValue] }
}
