import RelayBase
import RelayJobs
import RelayRoute

struct CredentialRecord {
    let definition: CredentialCase
    /// Upstream processes its value may go to.
    var upstreams: Set<Int> = []
    var inFlight = 0
    var given = 0
    var expiresAt: Int64 = .max
    var refreshAt: Int64 = .max
    var expiries: [Int64] = [0]
    /// Jobs that met a refusal of the newest token.
    var refusals = 0
    var failedAt: Int64?
    var refreshToken = 0
    /// Tokens up to this one are not taken by upstreams any more.
    var revoked = 0
}

extension Checker {
    func tokenAsked(_ index: Int, _ request: OutboundRequest) {
        note(.tokenAsked, index)
        let credential = credentials[index]
        guard let settings = credential.definition.settings else { return }
        note(.tokenAsked)
        if credential.inFlight > 0 {
            fail(nil, "two token requests of credential \(index) are under way at once")
        }
        if credential.definition.isMissing { fail(nil, "a token is asked for without the client's secret") }
        if let at = credential.failedAt, now < at + settings.failureCooldown.saturatedNanoseconds {
            fail(nil, "credential \(index) is asked for again within the cool-down of its failure")
        }
        if credential.given > 0 {
            let isExpired = now >= credential.expiresAt
            let isDue = now >= credential.refreshAt
            if !isExpired, !isDue, credential.refusals == 0 {
                fail(
                    nil,
                    "credential \(index) is asked for although its newest token is good and was not refused"
                )
            }
            if isExpired {
                note(.tokenExpired)
            } else if credential.refusals > 0 {
                note(.tokenRefused)
            } else {
                note(.tokenEarly)
            }
            if credential.refusals > 1 { note(.tokenShared) }
        }
        checkTokenRequest(index, credential, settings, request)
        credentials[index].inFlight += 1
    }

    private func checkTokenRequest(
        _ index: Int,
        _ credential: CredentialRecord,
        _ settings: OAuth2Settings,
        _ request: OutboundRequest
    ) {
        guard case .bytes(let bytes) = request.body else { return fail(nil, "a token request has no form") }
        let form = String(decoding: bytes, as: UTF8.self)
        if case .refreshToken = settings.grant {
            if !form.contains(SimulatedEndpoint.refreshToken(index, credential.refreshToken)) {
                fail(nil, "a token request of credential \(index) does not carry the newest refresh token")
            }
        }
        if request.deadline.nanoseconds != now + settings.timeout.saturatedNanoseconds {
            fail(nil, "a token request has another deadline than its credential says")
        }
    }

    /// The endpoint has answered in full; nil when the answer gives nothing.
    func tokenAnswered(_ index: Int, _ grant: SimulatedEndpoint.Grant?) {
        guard let grant, let settings = credentials[index].definition.settings else {
            return tokenFailed(index)
        }
        note(.tokenGiven, index, grant.generation)
        credentials[index].inFlight -= 1
        credentials[index].given = grant.generation
        credentials[index].refusals = 0
        credentials[index].failedAt = nil
        let lifetime = grant.lifetime.map { $0 * 1_000_000_000 }
        let margin = settings.refreshBeforeExpiry.saturatedNanoseconds
        credentials[index].expiresAt = lifetime.map { now + $0 } ?? .max
        credentials[index].refreshAt = lifetime.map { now + max($0 - margin, $0 / 2) } ?? .max
        credentials[index].expiries.append(credentials[index].expiresAt)
        if let number = grant.refreshToken {
            credentials[index].refreshToken = number
            note(.tokenRotated)
        }
    }

    func tokenFailed(_ index: Int) {
        note(.tokenFailed, index)
        credentials[index].inFlight -= 1
        credentials[index].failedAt = now
    }

    /// An attempt failed before it was sent: its credential must really not have been there.
    func credentialWasMissing(_ job: JobRecord) {
        guard let index = job.route.credential else {
            return fail(job, "an attempt fails unsent that needs no credential")
        }
        let credential = credentials[index]
        if credential.definition.isMissing { return note(.tokenMissing) }
        let cooldown = credential.definition.settings?.failureCooldown.saturatedNanoseconds ?? 0
        if let at = credential.failedAt, now == at || now < at + cooldown { return note(.tokenRemembered) }
        if now == job.attemptDeadline { return note(.tokenLate) }
        fail(job, "an attempt fails for want of credential \(index), which had not failed")
    }

    /// A rule wants a newer token than the one the job has.
    func refused(_ job: JobRecord) {
        guard let index = job.route.credential else {
            return fail(job, "a credential is renewed on a route without one")
        }
        if job.isRefreshHeld {
            fail(job, "a credential is renewed although a fresh one was refused a moment ago")
        }
        job.refused = job.token
        job.renewed = job.token
        if job.token == credentials[index].given { credentials[index].refusals += 1 }
    }

    /// Whether no credential is fetched after an answer that refused the job's.
    func holdsRefresh(_ job: JobRecord, _ facts: Facts) -> Bool {
        guard let index = job.route.credential, credentials[index].definition.isFetched,
            let status = facts.treatedAs ?? facts.status, status == 401 || status == 403,
            renews(job.route, facts)
        else { return false }
        var known = job.route.refusedTokens[job.attemptPlace]
        if job.renewed > 0, job.token > job.renewed, job.token > known?.token ?? 0 {
            let wait = known.map { min($0.wait * 2, 300_000_000_000) } ?? 1_000_000_000
            known = (job.token, now + wait, wait)
        }
        guard var known else { return false }
        let isHeld = now < known.until && job.token >= known.token
        if isHeld { known.token = job.token }
        job.route.refusedTokens[job.attemptPlace] = known
        return isHeld && job.renewed == 0
    }

    /// Whether a kept job waits for another credential, since its answer refuses the one it has and no rule decides about it.
    func isRefusedForGood(_ job: JobRecord, _ facts: Facts, _ attempt: Attempt) -> Bool {
        guard job.isDurable, attempt.rule == nil, let index = job.route.credential,
            credentials[index].definition.isFetched, let status = facts.treatedAs ?? facts.status,
            status == 401 || status == 403
        else { return false }
        // A request that may have been carried out is not sent again for the sake of a credential.
        return renews(job.route, facts)
            && (!facts.mayHaveActed || mayRepeat(job) { facts.isCaught(by: $0, isExhausted: true) })
    }

    private func renews(_ route: RouteCase, _ facts: Facts) -> Bool {
        route.policy.recovery.contains { rule in
            guard case .refreshCredentials = rule.action else { return false }
            return facts.isCaught(by: rule.on, isExhausted: false)
        }
    }

    /// The upstream took the job's token.
    func tokenTaken(_ job: JobRecord) {
        guard let known = job.route.refusedTokens[job.attemptPlace], job.token >= known.token else { return }
        job.route.refusedTokens[job.attemptPlace] = nil
    }

    /// The number of the token in the attempt; 0 when it carries none.
    func token(_ request: OutboundRequest, _ job: JobRecord) -> Int {
        guard let index = job.route.credential, credentials[index].definition.isFetched else { return 0 }
        let name = credentials[index].definition.form == .bearer ? "authorization" : "x-api-key"
        guard let text = value(name, request), let dot = text.lastIndex(of: ".") else { return 0 }
        return Int(text[text.index(after: dot)...]) ?? 0
    }

    /// The attempt carries its route's credential, once, the newest the job may use, and no other secret.
    func checkCredential(_ job: JobRecord, _ request: OutboundRequest, _ upstream: Int) {
        var own = ""
        var field = "authorization"
        if let index = job.route.credential {
            let credential = credentials[index]
            let number = token(request, job)
            own = credential.definition.isFetched ? SimulatedEndpoint.token(index, number) : "~f\(index)"
            if case .header = credential.definition.form { field = "x-api-key" }
            if case .basic = credential.definition.form { own = base64(Array("me:\(own)".utf8)) }
            if !credential.upstreams.contains(upstream) {
                fail(job, "a credential goes to an origin it does not belong to")
            }
            if credential.definition.isFetched {
                if number < 1 || number > credential.given {
                    fail(job, "an attempt carries a token nobody gave")
                }
                if number <= job.refused { fail(job, "an attempt carries the token that was refused before") }
                if job.hops == 0, number < credential.expiries.count,
                    now >= credential.expiries[max(number, 0)]
                {
                    fail(job, "an attempt carries a token that has expired")
                }
                job.token = number
            } else {
                note(.tokenFixed)
            }
        }
        var carried = 0
        for fields in [request.fields, request.addedFields] {
            for entry in fields.entries {
                let range = Int(entry.valueStart)..<Int(entry.valueStart) + Int(entry.valueCount)
                let isOwnField = job.route.credential != nil && fields.nameText(entry).lowercased() == field
                guard isOwnField || fields.storage[range].contains(UInt8(ascii: "~")) else { continue }
                let value = fields.valueText(entry)
                if isOwnField, value.hasSuffix(own) {
                    carried += 1
                } else if isOwnField || !value.hasSuffix("~u") {
                    fail(job, "an attempt carries a secret that is not its route's")
                }
            }
        }
        if job.route.credential != nil, carried != 1 {
            fail(job, "an attempt does not carry its route's credential once")
        }
    }
}
