import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var routes: ValueKind<[(name: String, value: RouteDraft)]> {
        let section = route
        let kind = ValueKind<RouteDraft>(.object(section.objectShape)) { node, _, reading in
            section.read(node, over: reading.routeDefaults, &reading)
        }
        return .map(kind, name: "names", pattern: ValueKind<String>.namePattern) { name throws(Refusal) in
            _ = try ValueKind<String>.checkName(name)
        }
    }

    /// The keys of a route that `defaults` may have too.
    @FieldList<RouteDraft> private static var sharedFields: [Field<RouteDraft>] {
        Field("timeouts", timeoutsKind, \.policy.timeouts) { "The bounds of every wait." }
        Field("concurrency", concurrency.kind, \.policy.concurrency) {
            "How many requests may be with the upstream at once."
        }
        trafficFields
        Field("max_attempts", .integer(1...100), \.policy.maxAttempts) {
            "Attempts of one job, the first included, whatever the rules allow. Attempts that never reached the wire "
                + "do not count here; they do in the max_attempts of a rule, and a request makes 100 of them at most. One "
                + "attempt may be on the wire twice: where a kept connection closes before a byte of the answer, a request "
                + "that is safe to repeat goes out again on a connection made for it, within the time of the attempt, whose "
                + "record says so (resent), and that is no attempt of its own."
        }
        Field("idempotency", idempotency.kind, \.policy.idempotency) {
            "A key that makes repeating requests safe."
        }
        Field("recovery", recovery, \.recovery) {
            "What to do about failures: rules, read from the top. Without the list a request that waits for its "
                + "answer is sent once, and kept jobs are sent again for two days after what may pass (connection, "
                + "timeout, tls, protocol, 5xx, 408, 425, 429), where repeating them is safe and max_attempts and "
                + "expires_after allow it."
        }
    }

    static var defaults: Section<RouteDraft> {
        Section("defaults", "What a route means when it does not say otherwise.", of: RouteDraft()) {
            sharedFields
        } check: {
            RouteCheck($0, $1, $2).checkTimeouts(&$2)
        }
    }

    private static var route: Section<RouteDraft> {
        Section(
            "route",
            "One upstream service: where it is, how to authenticate, what success is, how to recover.",
            of: RouteDraft(),
            others: foreignWords
        ) {
            Field("description", .string(), \.policy.summary) { "For people." }
            Field("upstreams", .list(upstream.kind, minimum: 1, maximum: 64), \.upstreams, isRequired: true) {
                "Where attempts may go; the first is the ordinary target."
            }
            Field("auth", auth, \.auth) { "How the upstream knows the caller." }
            Field("tls", tls.kind, \.tls) {
                "How TLS connections are made; verification cannot be turned off."
            }
            Field("allow_addresses", .list(.addressRange, maximum: 100), \.allowAddresses) {
                "Ranges of addresses that are not public and may be dialled all the same."
            }
            Field("allow_users", .list(.user, maximum: 1000), \.policy.callers.users) {
                "Users who may use the route, by name or number."
            }
            Field("allow_groups", .list(.group, maximum: 1000), \.policy.callers.groups) {
                "Groups whose members may use the route. With neither list, everyone may."
            }
            sharedFields
            messageFields
            Field("verify", verify.kind, \.verify) {
                "How the upstream is asked what became of a request in doubt before it is sent again; without the key it is "
                    + "not asked."
            }
            Field("check", check.kind, \.check) {
                "The harmless request that waystation check --online sends to each upstream; without the key it stops "
                    + "when the connection stands. Nothing else sends it."
            }
            Field("follow", follow.kind, \.policy.following) {
                "How an operation is followed that the upstream begins, and answers with a 202 before it is over: the job or "
                    + "request comes to its end with the operation. Without the key a 202 is an answer like any other."
            }
            Field("hedge", hedge.kind, \.policy.hedging) {
                "When a request that is late is sent a second time, beside the first; without the key it never is."
            }
            Field("delivery", delivery.kind, \.policy.delivery) { "Whether requests are answered or kept." }
            Field("constrained", constrainedUse, \.self) {
                "The treatment of requests while the network is constrained: send sends them as ever; refuse refuses them, "
                    + "503 network_constrained; wait has a request wait until its time is over, and then refuses it, and has "
                    + "a kept job held until the network is not constrained any more; an object sends a lighter request in "
                    + "the place of each. A request's own Waystation-Constrained counts where it sends less. A change while "
                    + "an attempt is under way changes nothing of it; a reload applies to what waits for the network."
            }
            Field("closed", closedTimes, \.policy.closed) {
                "When the route sends nothing, as planned: kept jobs wait until a window is over and lose no attempt, and "
                    + "requests fail with route_closed, which rules may answer as they answer breaker_open, or are answered "
                    + "503 with a Retry-After of the rest of the time. What is under way goes on."
            }
            Field("signing", signing, \.policy.signing) {
                "How requests are signed; without the key they are not."
            }
            Field("never_fails", .boolean, \.policy.neverFails) {
                "Whether every failure ends with a stand-in, for callers that wait and do not turn that off "
                    + "(Waystation-Fallback). The relay's own refusals, such as route_paused and overloaded, "
                    + "remain. The rules must then end with one that acts on \"any\" and responds with a "
                    + "placeholder or fallback, and none above it may fail."
            }
        } check: {
            RouteCheck($0, $1, $2).run(&$2)
        }
    }

    private static var upstream: Section<UpstreamDraft> {
        Section(
            "upstream",
            "One place attempts may go to.",
            of: UpstreamDraft(),
            choices: [.exactlyOne("url", "unix")]
        ) {
            Field("name", .name, \.name, isRequired: true) { "Stands in the timeline and in failover rules." }
            Field("url", .baseURL, \.url) {
                "Its base; the rest of the request's path is appended. Private and loopback addresses must also "
                    + "stand in \"allow_addresses\"."
            }
            Field("unix", .socketPath, \.unix) { "Path of a Unix socket that serves HTTP." }
            Field("use", .word(), \.use) {
                "Whether it serves ordinary attempts, only those a failover rule sends to it, or those of the "
                    + "first upstream while the network is constrained."
            }
            Field("cooldown", .duration(.zero ... .seconds(3600)), \.cooldown) {
                "How long after a failure no failover rule enters it; with 0s every job tries."
            }
        }
    }

    private static var tls: Section<TLSSettings> {
        Section("tls", "How TLS connections are made.", of: TLSSettings()) {
            Field("ca_file", .absolutePath, \.authorityFile) {
                "PEM file with the only authorities to trust; without it the system's are trusted."
            }
            Field("client_certificate", clientCertificate, \.certificatePair) { "Who the relay is." }
            Field("pins", pins.kind, \.pins) {
                "The keys of which the upstream's certificate chain must hold one."
            }
        }
    }

    private static var clientCertificate: ValueKind<CertificatePair> {
        Section("client_certificate", "A client certificate.", of: CertificatePair()) {
            Field("certificate", .secret, \.certificate, isRequired: true) {
                "The certificate and its chain, PEM."
            }
            Field("key", .secret, \.key, isRequired: true) { "Its private key, PEM." }
        }.kind
    }

    /// An attempt that nobody has bounded is no longer than all of them together.
    private static var timeoutsKind: ValueKind<Timeouts> {
        let section = timeouts
        let plain = section.kind
        var kind = ValueKind<Timeouts>(.object(section.objectShape)) { node, current, reading in
            var base = current ?? section.prototype
            if node["attempt"] == nil, let total = node["total"]?.value.text.flatMap(DurationText.parse),
                total > .zero
            {
                base.attempt = min(base.attempt, total)
            }
            return section.read(node, over: base, &reading)
        }
        kind.noteDefaults = plain.noteDefaults
        return kind
    }

    private static var timeouts: Section<Timeouts> {
        Section("timeouts", "The bounds of every wait.", of: Timeouts()) {
            Field("connect", .duration(.milliseconds(1) ... .seconds(600)), \.connect) {
                "Look-up, connect and TLS handshake of one attempt."
            }
            Field("attempt", .duration(.milliseconds(1) ... .seconds(3600)), \.attempt) {
                "One attempt without its content: its connection, and the time from the last byte of its request to the "
                    + "head of its answer. Content that moves is bounded by \"idle\" and \"min_rate\". Where the key is missing "
                    + "an attempt is no longer than \"total\"."
            }
            Field("idle", .duration(.milliseconds(1) ... .seconds(3600)), \.idle) {
                "The longest pause between two bytes of an attempt, of a request's body, from the caller or to the "
                    + "upstream, and of an answer's. A caller that pauses for longer is answered 408, and its "
                    + "upstream is not blamed."
            }
            Field("min_rate", .size(0...1 << 30), \.minRate) {
                "Bytes a second at which a body has to come, on the average of 30 seconds, or of \"idle\" where that is "
                    + "longer; only the time in which it is waited for counts. A caller's that is slower is answered "
                    + "408, an upstream's is a failed attempt; of answers it holds for those whose length is known and "
                    + "those that are collected. \"0B\" takes any pace."
            }
            Field("total", .duration(.milliseconds(1) ... .seconds(86_400)), \.total) {
                "All attempts and all waits of a request. It stands still while a body moves, so that a slow upload does "
                    + "not use it up. A caller that names a Waystation-Timeout has all of it bounded by that, to the "
                    + "head of a streamed answer."
            }
        }
    }

    private static var concurrency: Section<ConcurrencyLimit> {
        Section("concurrency", "How many requests may be with the upstream at once.", of: ConcurrencyLimit())
        {
            Field("max_requests", .integer(1...65_536), \.maxRequests) {
                "Requests that may be with the upstream. Answers that stream hold at most all but an eighth of them a "
                    + "user; another stream of that user waits, and where several began at once the latest ends when "
                    + "another user's request waits."
            }
            Field("max_pending_requests", .integer(0...1_000_000), \.maxPendingRequests) {
                "Requests that may wait for a permit; one more is answered 503 overloaded. A caller that is alone may have "
                    + "all of that room; where it is full, one that has less than its share waits beyond it. Callers have "
                    + "their turns one after the other, and kept jobs one of four turns or fewer."
            }
        }
    }

    private static var idempotency: Section<IdempotencySettings> {
        Section("idempotency", "A key that makes repeating requests safe.", of: IdempotencySettings()) {
            Field("header", .fieldName(.credential), \.header) {
                "The header in which the key goes to the upstream, the caller's as it was written and the relay's."
            }
            Field("generate", .boolean, \.generates) {
                "Whether a request without a key gets one of the relay's."
            }
            Field("forward", .boolean, \.forwards) { "Whether the caller's key is passed on." }
            Field("window", .duration(.seconds(1) ... .seconds(30 * 86_400)), \.window) {
                "How long after its acceptance a durable job's key is known; another job with the key is then the "
                    + "first one. After that it is a second one, also while the first still waits."
            }
        }
    }
}

/// Certificate and key together.
struct CertificatePair {
    var certificate: SecretReference?
    var key: SecretReference?
}

extension TLSSettings {
    var certificatePair: CertificatePair? {
        get {
            clientCertificate == nil && clientKey == nil
                ? nil : CertificatePair(certificate: clientCertificate, key: clientKey)
        }
        set {
            clientCertificate = newValue?.certificate
            clientKey = newValue?.key
        }
    }
}
