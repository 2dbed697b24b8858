import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport

/// The callers: who asks for what, and when.
extension World {
    func arrive() {
        guard let relay else { return }
        let burst = draw.chance(5) ? draw.number(2...40) : 1
        for _ in 0..<min(burst, jobCount - arrived) {
            submit(arrived, relay, vaults[plant == .doubleRefresh ? arrived % 2 : 0])
            arrived += 1
        }
        guard arrived < jobCount else { return }
        call(after: pace * Int64(burst) * Int64(draw.below(200)) / 100) { $0.arrive() }
    }

    private func submit(_ number: Int, _ relay: Relay, _ vault: CredentialVault) {
        let now = timeline.now
        let route = routes[draw.below(routes.count)]
        let methods: [Method] = [.get, .post, .put, .delete, .patch, .head, .options]
        let method = methods[draw.weighted([36, 34, 10, 7, 6, 4, 3])]
        var options = options()
        // A program is given whole answers.
        if route.isProgram { options.collectsAnswer = true }
        let expiresAfter: Duration? =
            !route.isProgram && draw.chance(25) ? .milliseconds(draw.pick([2_000, 10_000, 60_000])) : nil
        var began: Instant?
        if expiresAfter == nil, draw.chance(10) {
            let total = min(options.timeout ?? route.policy.timeouts.total, route.policy.timeouts.total)
            began = Instant(nanoseconds: now - total.saturatedNanoseconds * Int64(draw.below(100)) / 100)
            checker.note(.waitedForPlace)
        }
        let (content, body) = content(method, streams: expiresAfter == nil)
        let target = draw.below(12)
        let request = HTTPRequest(method: method, target: "t\(target)", fields: fields(number), body: body)
        let record = JobRecord(
            number,
            route,
            method,
            options,
            content,
            target: target,
            isShareable: method == .get && !request.fields.contains(.authorization),
            answerKey: FieldName("x-api-key").map(request.fields.contains) == true ? target + 1_000 : target,
            began: began?.nanoseconds ?? now,
            expiresAfter: expiresAfter
        )
        if route.isProgram { record.program = ProgramRecord(ProgramManners(&draw), seed: draw.next()) }
        let context = JobContext(
            id: JobID(milliseconds: 1_800_000_000_000, random: (draw.next(), UInt64(number))),
            route: route.route,
            method: method,
            target: request.target,
            options: options,
            client: nil,
            memory: route.memory,
            hooks: route.isProgram ? ProgramCode(self, record) : nil
        )
        if draw.chance(9) {
            let most = Int(record.deadline - now) / 1_000_000
            call(after: draw.time(0...max(1, most / draw.pick([1, 4, 20])))) {
                $0.checker.cancelled(number)
                $0.tasks[number]?.cancel()
            }
        }
        checker.began(record)
        let (isDurable, deadline, since) = (record.isDurable, record.deadline, began)
        tasks[number] = spawn { here in
            if isDurable {
                await here.deliver(relay, request, context, vault, by: deadline)
            } else {
                await here.perform(relay, request, context, vault, since)
            }
            here.value.checker.left(number)
            here.value.tasks[number] = nil
        }
        if draw.chance(1) {
            checker.cancelled(number, isNew: true)
            tasks[number]?.cancel()
        }
    }

    private func options() -> JobOptions {
        var options = JobOptions()
        if draw.chance(18) { options.timeout = .milliseconds(draw.pick([50, 200, 1_000, 4_000, 60_000])) }
        if draw.chance(10) { options.attemptTimeout = .milliseconds(draw.pick([20, 150, 500, 60_000])) }
        if draw.chance(15) { options.maxAttempts = draw.number(1...10) }
        options.allowsFallback = draw.chance(88)
        options.hasIdempotencyKey = draw.chance(5)
        options.collectsAnswer = draw.chance(25)
        return options
    }

    private func fields(_ number: Int) -> HeaderFields {
        var fields = HeaderFields()
        fields.append("X-Request-Id", "\(number)")
        fields.append("Accept", "application/json")
        if draw.chance(35) {
            fields.append(
                draw.pick(["Idempotency-Key", "idempotency-key", "Webhook-Id"]),
                "k\(draw.below(1_000))"
            )
        } else if draw.chance(8) {
            fields.append("Idempotency-Key", draw.pick(["", "  ", "\"\""]))
        }
        if draw.chance(12) { fields.append("Authorization", "Bearer ~u") }
        if draw.chance(6) { fields.append("x-api-key", "~u") }
        return fields
    }

    private func content(_ method: Method, streams: Bool) -> (JobRecord.Content, Body) {
        guard method == .post || method == .put || method == .patch else { return (.none, .empty) }
        switch draw.below(10) {
        case 0: return (.none, .empty)
        case 1: return (.text, .bytes(Array("a=1".utf8)))
        case 2 where streams, 3 where streams:
            let upload = SimulatedUpload(announced: draw.chance(50), hidesReading: plant == .repeatsBody)
            return (.stream(upload), .stream(upload))
        default: return (.json, .bytes(Array(#"{"a":1}"#.utf8)))
        }
    }
}

extension Confined where Value == World {
    /// Runs one job, with whatever bug is planted between it and the checker.
    fileprivate func perform(
        _ relay: Relay,
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault,
        _ began: Instant?
    ) async {
        let number = Int(context.id.low)
        let outcome: Outcome
        if value.plant == .stuckJob, number % 1_000 == 999 {
            unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
        if value.plant == .sendsAfterCancel || value.plant == .asksAfterCancel {
            outcome = await Task(executorPreference: value.queue) {
                await relay.perform(request, context: context, vault: vault, since: began)
            }.value
        } else {
            outcome = await relay.performPromptly(request, context: context, vault: vault, since: began)
        }
        if value.plant == .outlastsBound, let job = value.checker.jobs[number], job.program?.isDeaf == true {
            await outwait(until: job.deadline + 1_500_000_000)
        }
        if value.plant == .lostOutcome, number % 1_000 == 999 { return }
        value.checker.outcome(number, outcome)
        if value.plant == .secondOutcome, number % 1_000 == 999 { value.checker.outcome(number, outcome) }
    }
}
