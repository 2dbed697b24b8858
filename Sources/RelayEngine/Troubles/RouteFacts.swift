import RelayBase
package import RelayCore
package import RelayInterface
package import RelayJobs
package import RelayRoute

/// How a route is, as far as that may be a trouble; moments are in milliseconds since 1970 UTC.
package struct RouteFacts: Sendable {
    package struct Upstream: Sendable {
        package var name: String
        /// Where it is, for messages.
        package var origin: String
        package var breaker = RouteStanding.Breaker.closed
        /// Whether the breaker only tells what it would do.
        package var isReported = false
        package var since: Int64?
        package var until: Int64?
        /// Whether the last attempt failed.
        package var isFailing = false
        /// Whether it has asked for patience.
        package var isSpared = false
        package var failures: [FailureCount] = []
        package var last: LastFailure?

        package init(_ name: String, _ origin: String) { (self.name, self.origin) = (name, origin) }
    }

    package let name: String
    /// Nil of a route that the configuration does not have.
    package var condition: RouteCondition?
    package var since: Int64?
    package var credential: String?
    package var last: LastFailure?
    package var failuresPerMinute = 0
    package var breaches = 0
    /// Requests that wait for a permit.
    package var pending = 0
    /// The user who has most of them.
    package var crowd: (user: UInt32, count: Int)?
    package var pause: RoutePause?
    /// Of a route about which an operator has said something.
    package var revision: String?
    package var jobs: [JobState: Int] = [:]
    /// When its oldest unfinished job was accepted, and when one that failed is due.
    package var (oldest, next): (Int64?, Int64?) = (nil, nil)
    /// Jobs that expire within the hour, those on hold that do, and those that have their last attempt.
    package var (expiring, held, dying) = (EndingJobs.Share(), EndingJobs.Share(), EndingJobs.Share())
    package var upstreams: [Upstream] = []

    package init(_ name: String, _ condition: RouteCondition? = .ok) {
        (self.name, self.condition) = (name, condition)
    }
}

// The troubles of one route.
extension RouteFacts {
    /// Jobs that could be sent, and how old the oldest is, from which on they wait for long.
    private static let (manyJobs, longWait) = (100, Int64(600_000))

    /// The troubles, the one first that its callers and kept jobs suffer from; `credentials` are those in trouble.
    package func troubles(_ credentials: [String: TroubleKind], _ wall: Int64) -> [Trouble] {
        var found = pause.map { [paused($0)] } ?? failing(credentials) + spared
        found += forced
        if condition == .busy, found.isEmpty {
            found.append(of(.saturated, .route(name)) { ($0.count, $0.crowd) = (pending, crowd) })
        }
        let (held, retrying) = (jobs[.held] ?? 0, jobs[.retrying] ?? 0)
        let queued = jobs[.queued] ?? 0
        let waiting = queued + retrying + (jobs[.scheduled] ?? 0) + (jobs[.running] ?? 0)
        if condition == nil, waiting + held > 0 {
            found.append(of(.routeUnconfigured, .route(name)) { $0.count = waiting + held })
        }
        if found.isEmpty, retrying > 0 { found.append(of(.jobsRetrying, .routes) { $0.count = retrying }) }
        // Jobs that are not due yet may be the oldest, and nothing is the matter with those.
        let isOld =
            queued > 0 && waiting == queued && held == 0 && oldest.map { wall - $0 > Self.longWait } ?? false
        if found.isEmpty, queued >= Self.manyJobs || isOld {
            found.append(of(.jobsWaiting, .routes) { $0.count = queued })
        }
        if !found.isEmpty {
            (found[0].waiting, found[0].retrying, found[0].oldest) = (
                waiting, retrying, waiting > 0 ? oldest : nil
            )
            found[0].next = Trouble.earlier(found[0].next, retrying > 0 ? next : nil)
            // Nothing of a paused route is sent, so that nothing fails.
            (found[0].expiring, found[0].dying) =
                pause == nil ? (expiring, dying) : (expiring + self.held, EndingJobs.Share())
            found[0].concerns(name, failures: failuresPerMinute)
        }
        if breaches > 0 { found.append(of(.neverFailsBreached, .route(name)) { $0.count = breaches }) }
        if held > 0, pause == nil {
            found.append(of(.jobsHeld, .routes) { ($0.count, $0.expiring) = (held, self.held) })
        }
        if let dead = jobs[.dead], dead > 0 { found.append(of(.jobsDead, .routes) { $0.count = dead }) }
        return found
    }

    private func of(
        _ kind: TroubleKind,
        _ subject: Trouble.Subject,
        _ fill: (inout Trouble) -> Void
    ) -> Trouble {
        var trouble = Trouble(kind, subject)
        trouble.concerns(name)
        fill(&trouble)
        return trouble
    }

    private func paused(_ pause: RoutePause) -> Trouble {
        let who = pause.by.map(\.description) ?? pause.rule.map { "rule \($0)" }
        var trouble = Trouble(
            .routePaused,
            who.map { .principal($0) } ?? .route(name),
            since: pause.began,
            told: "Paused\(who.map { " by \($0)" } ?? ""): \(pause.reason)",
            more: pause.reason
        )
        (trouble.next, trouble.revision) = (pause.until, revision)
        trouble.concerns(name)
        return trouble
    }

    /// Breakers that an operator keeps as they are; failures are those of the upstream.
    private var forced: [Trouble] {
        upstreams.filter(\.isForced).map { upstream in
            let word = upstream.isCut ? "open" : "closed"
            var trouble = Trouble(
                .breakerForced,
                .upstream(upstream.origin),
                state: upstream.isCut && condition == .failing ? .failing : nil,
                since: upstream.since,
                told: "\(upstream.origin): An operator keeps the breaker \(word).",
                more: word
            )
            (trouble.next, trouble.revision) = (upstream.until, revision)
            trouble.concerns(name, RouteFacts.Upstream(upstream.name, upstream.origin))
            return trouble
        }
    }

    private var isFailing: Bool { condition == .failing || condition == .degraded }

    /// Upstreams that fail, or the credential for want of which the route does, worst first.
    private func failing(_ credentials: [String: TroubleKind]) -> [Trouble] {
        var failing = upstreams.filter {
            !$0.isCut && ($0.isOpen || isFailing && upstreams.count > 1 && $0.isFailing)
        }
        if failing.isEmpty, isFailing {
            let known = upstreams.compactMap { one in one.isCut ? nil : one.most.map { (one, $0) } }
            failing = known.min { FailureCount.stands($0.1, before: $1.1) }.map { [$0.0] } ?? []
            // Nobody else is to be blamed where nothing is sent as an operator wants it.
            if failing.isEmpty, !upstreams.contains(where: \.isCut) {
                var trouble = Trouble(.upstreamFailing, .route(name), state: state, since: since)
                trouble.concerns(name)
                if let last { trouble.note(last) }
                return [trouble]
            }
        }
        return failing.sorted { ($0.most?.count ?? 0) > ($1.most?.count ?? 0) }.map { upstream in
            let (kind, subject) = sort(upstream, credentials)
            var trouble = Trouble(
                kind,
                subject,
                state: max(kind.state, state),
                since: since ?? upstream.since,
                told: nil
            )
            trouble.next = upstream.until
            trouble.concerns(name, upstream)
            return trouble
        }
    }

    private var state: TroubleState { condition == .failing ? .failing : .degraded }

    /// Upstreams that are well, and have asked for patience.
    private var spared: [Trouble] {
        upstreams.filter { $0.isSpared && !$0.isOpen && !$0.isForced && !(isFailing && $0.most != nil) }.map {
            var trouble = Trouble(.throttled, .upstream($0.origin), since: since)
            trouble.next = $0.until
            trouble.concerns(name, $0)
            return trouble
        }
    }

    /// The kind of what fails at an upstream by its most frequent failure, and whom it concerns.
    private func sort(
        _ upstream: Upstream,
        _ credentials: [String: TroubleKind]
    ) -> (TroubleKind, Trouble.Subject) {
        let origin = Trouble.Subject.upstream(upstream.origin)
        guard let most = upstream.most?.name else { return (.upstreamFailing, origin) }
        let status = most.status ?? (upstream.last?.kind == most.kind ? upstream.last?.status : nil)
        if let credential, most.kind == .credentialsFailed || status == 401 || status == 403 {
            if let kind = credentials[credential] { return (kind, .credential(credential)) }
            if most.kind == .credentialsFailed { return (.credentialFailing, .credential(credential)) }
        }
        switch most.kind.own {
        case .rateLimited: return (.throttled, origin)
        case .networkConstrained: return (.networkConstrained, .daemon)
        case .overloaded, .connectionLimitReached: return (.saturated, .route(name))
        case .preparation, .httpRequestError, .clientGone, .apiError, .operationFailed:
            return (.requestsRefused, .route(name))
        case .storedBodyCorrupt, .storedBodyUnread, .attemptUnrecorded, .interrupted:
            return (.relayFailing, .route(name))
        case .dnsTimeout, .dnsError, .destinationUnavailable, .destinationIPProhibited, .connectionRefused,
            .connectionTimeout, .tlsProtocolError, .tlsCertificateError, .tlsAlertReceived:
            return (.upstreamUnreachable, origin)
        case .httpStatus:
            guard let status, status.class == .clientError else { return (.upstreamFailing, origin) }
            if status == 429 { return (.throttled, origin) }
            return status == 408 ? (.upstreamFailing, origin) : (.requestsRefused, .route(name))
        default: return (.upstreamFailing, origin)
        }
    }
}

extension RouteFacts {
    /// Whether an operator keeps a breaker of it as it is.
    var isForced: Bool { upstreams.contains(where: \.isForced) }
}

extension RouteFacts.Upstream {
    fileprivate var isForced: Bool { isCut || breaker == .forcedClosed }
    /// Whether an operator has nothing sent to it.
    fileprivate var isCut: Bool { breaker == .forcedOpen }
    fileprivate var isOpen: Bool { breaker == .open || breaker == .probing }

    /// The most frequent failure; that nothing was sent for the breaker or the network is none where there are others, and
    /// none at all that the route was closed.
    fileprivate var most: FailureCount? {
        let failures = failures.filter { $0.name.kind != .routeClosed }
        let others = failures.filter { $0.name.kind != .breakerOpen && $0.name.kind != .networkConstrained }
        return (others.isEmpty ? failures : others).min(by: FailureCount.stands)
    }
}
