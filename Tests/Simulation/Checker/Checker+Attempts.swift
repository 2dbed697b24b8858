import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

extension Checker {
    /// A job's wait is over, if it is: its next attempt has begun.
    func beginIfDue(_ job: JobRecord) {
        guard job.program == nil, case .waiting(let until) = job.stage, now >= until else { return }
        begin(job, at: until)
        job.stage = .attempting
    }

    /// An attempt of the job begins: while the network is constrained at the upstream that stands in for the first.
    func begin(_ job: JobRecord, at moment: Int64) {
        job.attemptBegan.append(moment)
        let isConstrained = networkChanges.count { $0 <= moment } % 2 == 1
        job.hops = 0
        job.hopsAsk = true
        job.hopMethod = nil
        job.hopDropped = false
        job.attemptPlace = job.place
        if job.place == 0, isConstrained, let lighter = job.route.lighter {
            job.attemptPlace = lighter
            note(.constrained)
        }
        job.begunAt.insert(job.route.upstreams[job.attemptPlace])
    }

    /// The core hands an attempt to the transport, which says whether it will refuse it unsent.
    func sent(_ job: JobRecord, _ request: OutboundRequest, upstream: Int, isRefused: Bool) {
        beginIfDue(job)
        note(job, isRefused ? .refusedUnsent : .sent, upstream, token(request, job))
        let isRedirected = followed(job, request)
        switch job.stage {
        case .attempting: break
        case .judging where isRedirected: break
        case .waiting: return fail(job, "an attempt is sent before its wait is over")
        case .sending, .judging: return fail(job, "an attempt is sent while another is under way")
        case .closing: return fail(job, "an attempt is sent although no rule sends again")
        }
        if job.isUnpreparable { fail(job, "a request that cannot be prepared is sent") }
        if let at = job.cancelledAt, now > at { fail(job, "an attempt is sent after the job was cancelled") }
        if (job.attemptBegan.last ?? 0) >= job.deadline {
            fail(job, "an attempt begins at or after the job's deadline")
        }
        if now > job.deadline, !isRefused { fail(job, "an attempt is sent after the job's deadline") }
        if job.route.credential == nil, job.program == nil, !isRedirected, now != job.attemptBegan.last {
            fail(job, "an attempt is sent later than its wait says")
        }
        if request.deadline.nanoseconds != job.attemptDeadline {
            fail(job, "an attempt's deadline is not the earlier of its own and the job's")
        }
        if !isRefused { job.visited.insert(upstream) }
        if upstream != job.route.upstreams[job.attemptPlace] {
            fail(job, "an attempt goes to another upstream than the rules say")
        }
        if job.isBodyGone, case .stream = request.body {
            fail(job, "a body that can be read once is sent a second time")
        }
        if job.streams.contains(where: \.isOpen) {
            fail(job, "an attempt is sent while an earlier answer's body is open")
        }
        if job.program == nil {
            checkKey(job, request)
        } else if !isRedirected {
            sentByProgram(job, request, key: key(job, request))
        }
        checkCredential(job, request, upstream)
        if job.route.numbersAttempts, value("x-attempt", request) != "\(job.attemptBegan.count)" {
            fail(job, "an attempt does not carry its number")
        }
        job.stage = .sending
    }

    func gave(_ number: Int, _ reply: Reply.Kind, _ stream: StreamRecord?) {
        guard let job = jobs[number] else { return }
        switch reply {
        case .fails(let kind, let sent): note(job, .failed, 0, sent == .unknown ? 1 : 0, kind.rawValue)
        case .answers(let answer):
            note(job, .answered, Int(answer.status), answer.document.rawValue, "\(answer.document)")
            if let form = answer.retryAfter { note(form.coverage) }
        }
        if let stream { job.streams.append(stream) }
        if reply.isSent { reached(job) }
        job.stage = .judging(reply, stream)
        job.repliedWallSeconds = wallSeconds
    }

    func streamEnded(_ owner: SimulatedBody.Owner, _ record: StreamRecord) {
        switch owner {
        case .credential(let credential, let grant):
            if case .ended = record.stage { return tokenAnswered(credential, grant) }
            tokenFailed(credential)
        case .job(let number):
            guard let job = jobs[number] else { return }
            if let since = record.readSince { job.contentMoved(for: now - since) }
            switch record.stage {
            case .ended:
                note(job, .streamEnded)
                note(.streamCollected)
            case .broke(let kind):
                note(job, .streamBroke, 0, 0, kind.rawValue)
                let isSlow = kind == .connectionReadTimeout
                note(kind == .httpResponseTimeout ? .streamLate : isSlow ? .streamSlow : .streamBroke)
            default:
                note(job, .streamLeft)
                note(record.isTooSlow ? .streamSlow : .streamLeft)
            }
        }
    }

    /// The core wants more of content that came too slowly.
    func readOn(_ owner: SimulatedBody.Owner) {
        guard case .job(let number) = owner, let job = jobs[number] else { return }
        fail(job, "content is collected although it comes too slowly")
    }

    /// The failure of the attempt at hand; nil for a success.
    func facts(_ job: JobRecord) -> Facts? {
        var facts = verdict(job)
        // The wait that an answer asks for counts, whatever came of the answer.
        if case .judging(.answers(let answer), _) = job.stage {
            facts?.retryAfter = answer.retryAfter?.wait(wallSeconds: wallSeconds)
            facts?.judgeRefusal(job.route.policy)
        }
        return facts
    }

    private func verdict(_ job: JobRecord) -> Facts? {
        guard case .judging(let reply, let stream) = job.stage else {
            return Facts(.credentialsFailed, .neverSent)
        }
        switch reply {
        case .fails(let kind, let sent): return Facts(kind, sent)
        case .answers(let answer):
            if let kind = stream?.failure { return Facts(kind, .unknown, status: answer.status) }
            let policy = job.route.policy
            if redirect(job, answer) != nil, !job.isBodyGone {
                fail(job, "a redirect is not followed although its route says so")
            }
            let limit = min(policy.success.inspectLimit, policy.limits.body)
            if isLookedInto(answer, job), answer.document.bytes.count > limit {
                return Facts(.httpResponseBodySize, .answered, status: answer.status)
            }
            var isInMemory = true
            if let stream { if case .ended = stream.stage {} else { isInMemory = false } }
            if !isInMemory, isLookedInto(answer, job) { fail(job, "an answer is judged without its body") }
            return Facts.of(answer, isInMemory: isInMemory, method: job.method, policy: policy)
        }
    }

    private func isLookedInto(_ answer: Answer, _ job: JobRecord) -> Bool {
        let policy = job.route.policy
        let status = answer.status
        guard policy.looksInside, job.method != .head, status >= 200, status != 204, status != 304 else {
            return false
        }
        return policy.success.statuses.has(status) || policy.apiError?.statuses.has(status) ?? false
    }

    private func key(_ job: JobRecord, _ request: OutboundRequest) -> String? {
        var key: String?
        for name in ["idempotency-key", "webhook-id", job.route.policy.idempotency.header.lowercased()] {
            if let found = value(name, request),
                found.contains(where: { $0 != " " && $0 != "\t" && $0 != "\"" })
            {
                key = key ?? found
            }
        }
        return key
    }

    private func checkKey(_ job: JobRecord, _ request: OutboundRequest) {
        let key = key(job, request)
        if job.key != nil, job.key != key { fail(job, "two attempts carry different idempotency keys") }
        job.key = key
        job.isKeyed = job.options.hasIdempotencyKey || key != nil
    }

    func value(_ name: String, _ request: OutboundRequest) -> String? {
        guard let name = FieldName(name) else { return nil }
        return request.addedFields[name] ?? request.fields[name]
    }

    /// A failed attempt is recorded, with what the rules make of it.
    func attemptFailed(_ job: JobRecord, _ attempt: Attempt) {
        beginIfDue(job)
        guard let failure = attempt.failure else {
            return fail(job, "a failed attempt is recorded without its failure")
        }
        note(
            job,
            .decided,
            attempt.number,
            code(attempt.next),
            "\(failure.kind.rawValue); \(attempt.rule ?? "no rule") \(attempt.next?.name ?? "acts")"
        )
        let began = job.attemptBegan.last ?? 0
        if attempt.number != job.attemptBegan.count || attempt.beganAt != Timeline.wall(at: began) {
            return fail(job, "an attempt is recorded with another number or time than it had")
        }
        // A strategy is asked after the attempt's end.
        let end = job.program?.askedAt ?? now
        if began + attempt.duration.saturatedNanoseconds != end {
            fail(job, "an attempt is recorded with another duration than it had")
        }
        if case .sending = job.stage { return fail(job, "an attempt has failed that is still under way") }
        if let program = job.program { return programFailed(job, program, failure, attempt) }
        // The answer that a durable job got stands, whoever stops its run.
        let stands = job.isDurable && failure.kind != .cancelled
        if job.cancelledAt != nil, !stands { return attemptCancelled(job, failure, attempt) }
        guard var facts = facts(job) else { return fail(job, "a good answer is recorded as a failure") }
        if case .attempting = job.stage { credentialWasMissing(job) }
        if facts.isRefusal, quickRule(job, facts) != nil {
            fail(job, "a rule of quick_recovery matches, and the attempt failed all the same")
        }
        facts.name(job.route.policy.errorTypes)
        // A redirected request may have had its effect, unless the redirect asked for it again and it was answered.
        facts.sent = job.behindHops(facts.sent)
        job.isRefusedForGood = isRefusedForGood(job, facts, attempt)
        checkReport(job, failure, facts)
        cover(facts)
        let cooldown = job.route.policy.upstreams[job.attemptPlace].cooldown.saturatedNanoseconds
        if cooldown > 0, facts.blamesUpstream, job.cancelledAt == nil {
            job.route.coolingUntil[job.attemptPlace] = now + cooldown
        }
        if facts.sent != .neverSent { job.wire += 1 }
        if job.wire > job.maxAttempts {
            fail(job, "more attempts may have reached an upstream than the job is allowed")
        }
        decided(job, attempt, facts)
    }

    func attemptCancelled(_ job: JobRecord, _ failure: Failure, _ attempt: Attempt) {
        if failure.kind != .cancelled || attempt.next != nil {
            fail(job, "a rule is asked about a job that was cancelled")
        }
        job.stage = .closing(.failed(.cancelled))
    }

    /// The first `quick_recovery` rule that turns the failure into a success.
    func quickRule(_ job: JobRecord, _ facts: Facts) -> QuickRecoveryRule? {
        guard facts.isRefusal else { return nil }
        return job.route.policy.quickRecovery.first { rule in
            rule.on.catches(facts.raw, facts.status, isExhausted: false)
                && (rule.methods.isEmpty || rule.methods.contains(job.method))
        }
    }

    private func checkReport(_ job: JobRecord, _ failure: Failure, _ facts: Facts) {
        let kind = job.isRefusedForGood ? .credentialsFailed : facts.kind
        if failure.kind != kind {
            fail(job, "a failure is called \(failure.kind.rawValue) and is \(kind.rawValue)")
        }
        if failure.sent != facts.sent { fail(job, "a failure's verdict is not what happened on the wire") }
        if failure.status?.rawValue != facts.status {
            fail(job, "a failure has another status than the answer")
        }
        // A wait for another credential is not the answer's to name.
        if !job.isRefusedForGood, failure.retryAfter?.saturatedNanoseconds != facts.retryAfter {
            fail(job, "a Retry-After is read as another wait than it asks for")
        }
    }

    private func code(_ next: Attempt.Next?) -> Int {
        guard let next else { return 0 }
        if case .retry(let after) = next { return Int(after.saturatedNanoseconds) &+ 10 }
        return next.name.utf8.count
    }

    private func cover(_ facts: Facts) {
        switch facts.sent {
        case .neverSent: note(.neverSent)
        case .unknown: note(.unknown)
        case .refused: note(.refused)
        case .answered: note(.answered)
        }
        if facts.kind != facts.raw { note(.kindNamed) }
        switch facts.raw {
        case .dnsError, .dnsTimeout: note(.kindDNS)
        case .tlsCertificateError, .tlsProtocolError: note(.kindTLS)
        case .connectionRefused, .connectionTerminated: note(.kindConnection)
        case .connectionTimeout, .connectionReadTimeout, .connectionWriteTimeout, .httpResponseTimeout:
            note(.kindTimeout)
        case .httpResponseBodySize: note(.kindTooLarge)
        case .httpProtocolError: note(facts.sent == .answered ? .kindStrangeStatus : .kindProtocol)
        case .httpStatus: note(.kindStatus)
        case .apiError: note(.kindAPI)
        case .invalidResponse, .emptyResponse: note(.kindInvalid)
        case .decoding: note(.kindDecoding)
        case .credentialsFailed: note(.kindCredentials)
        case "soft_failure": note(.kindSoft)
        default: note(.kindProtocol)
        }
    }
}
