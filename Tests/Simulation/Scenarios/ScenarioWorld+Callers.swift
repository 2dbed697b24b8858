import RelayBase
import RelayCore
import RelayEngine
import RelayJobs

// Its callers.
extension ScenarioWorld {
    /// One request as its caller words it.
    struct Ask {
        var target = "x"
        var method = Method.get
        var user: UInt32 = 1_000
        var body: [UInt8] = []
        var urgency: UInt8 = 3
        /// How long it may take at most.
        var limit: Duration?
        /// Seconds after which its caller hangs up.
        var patience: Double?
    }

    final class Call {
        let at: Double
        let ask: Ask
        fileprivate(set) var ended = Double.infinity
        fileprivate(set) var status: UInt16?
        fileprivate(set) var failure: FailureKind?

        fileprivate init(_ ask: Ask, at: Double) { (self.ask, self.at) = (ask, at) }

        var isGood: Bool { status == 200 }
        var seconds: Double { ended - at }
    }

    private func steadily(
        _ perSecond: Double,
        until end: Double,
        _ each: @escaping (Int) -> Ask,
        _ body: @escaping @Sendable (Confined<ScenarioWorld>, Ask) async -> Void
    ) {
        let begin = now
        func next(_ number: Int) {
            let at = begin + Double(number) / perSecond
            guard at < end, serving != nil else { return }
            plan(at: at) { [unowned self] in
                let ask = each(number)
                let task = spawn { here in await body(here, ask) }
                if let patience = ask.patience { plan(at: at + patience) { task.cancel() } }
                next(number + 1)
            }
        }
        next(0)
    }

    /// Sends requests at that rate from now on, whatever becomes of them.
    func request(
        _ route: String,
        perSecond: Double,
        until end: Double,
        each: @escaping (Int) -> Ask = { _ in Ask() }
    ) {
        steadily(perSecond, until: end, each) { here, ask in await here.request(route, ask) }
    }

    func request(_ route: String, _ ask: Ask = Ask()) { spawn { here in await here.request(route, ask) } }

    /// So many of a user's requests at once; each goes out when the one before it is answered, and that long after.
    func crowd(_ count: Int, of user: UInt32, _ route: String, pause: Double = 0, until end: Double) {
        for _ in 0..<count {
            spawn { here in
                while here.value.now < end {
                    await here.request(route, Ask(user: user))
                    // A caller that is refused comes again in a moment.
                    let rest = here.value.calls.last?.status == nil ? max(pause, 0.01) : pause
                    let until = here.value.timeline.now + Int64(rest * 1e9)
                    if rest > 0 { await here.outwait(until: until) }
                }
            }
        }
    }

    func keep(_ route: String, perSecond: Double, until end: Double) {
        let post: (Int) -> Ask = { _ in Ask(method: .post) }
        steadily(perSecond, until: end, post) { here, ask in await here.keep(route, ask) }
    }

    func keep(_ route: String, _ count: Int, _ ask: Ask = Ask(method: .post)) {
        for _ in 0..<count { spawn { here in await here.keep(route, ask) } }
    }

    fileprivate func admit(_ route: String, _ ask: Ask, isKept: Bool) -> Admission? {
        guard let serving else { return nil }
        var terms = RequestTerms(forwarded: HeaderFields())
        terms.options.timeout = ask.limit
        terms.wantsDurable = isKept
        terms.durable.priority = ask.urgency
        if isKept {
            kept += 1
            // With a key, so that it may be repeated.
            terms.durable.idempotencyKey = "\(kept)"
            terms.forwarded.append("Idempotency-Key", "\"\(kept)\"")
        }
        do throws(Problem) {
            return try serving.admit(
                route,
                ask.target,
                ask.method,
                terms,
                user: ask.user,
                length: UInt64(ask.body.count)
            )
        } catch { preconditionFailure("a request of a scenario is refused: \(error.detail)") }
    }
}

extension Confined where Value == ScenarioWorld {
    fileprivate func request(_ route: String, _ ask: ScenarioWorld.Ask) async {
        guard let admission = value.admit(route, ask, isKept: false), let serving = value.serving else {
            return
        }
        let call = Confined<ScenarioWorld.Call>(ScenarioWorld.Call(ask, at: value.now))
        value.calls.append(call.value)
        let outcome = await serving.run(admission, body: ask.body.isEmpty ? .empty : .bytes(ask.body))
        call.value.ended = value.now
        call.value.failure = outcome.failure?.kind
        if outcome.failure == nil { call.value.status = outcome.answer?.status.rawValue }
    }

    fileprivate func keep(_ route: String, _ ask: ScenarioWorld.Ask) async {
        guard let admission = value.admit(route, ask, isKept: true), let serving = value.serving else {
            return
        }
        do throws(Problem) {
            _ = try await serving.jobs.acceptance.accept(admission, body: .bytes(Array("kept".utf8)))
        } catch { preconditionFailure("a job of a scenario is not kept: \(error.detail)") }
    }
}
