import RelayBase
import RelayCore
import RelayEngine
import RelayJobs

// Its callers.
extension ScenarioWorld {
    final class Call {
        let at: Double
        let user: UInt32
        let target: String
        fileprivate(set) var ended = Double.infinity
        fileprivate(set) var status: UInt16?
        fileprivate(set) var failure: FailureKind?

        fileprivate init(at: Double, user: UInt32, target: String) {
            (self.at, self.user, self.target) = (at, user, target)
        }

        var isGood: Bool { status == 200 }
        var seconds: Double { ended - at }
    }

    private func steadily(
        _ perSecond: Double,
        until end: Double,
        _ body: @escaping @Sendable (Confined<ScenarioWorld>) async -> Void
    ) {
        let begin = now
        func next(_ number: Int) {
            let at = begin + Double(number) / perSecond
            guard at < end, serving != nil else { return }
            plan(at: at) { [unowned self] in
                spawn(body)
                next(number + 1)
            }
        }
        next(0)
    }

    /// Sends requests at that rate from now on, whatever becomes of them.
    func request(_ route: String, perSecond: Double, target: String = "x", until end: Double) {
        steadily(perSecond, until: end) { here in await here.request(route, target) }
    }

    func request(_ route: String, target: String = "x") {
        spawn { here in await here.request(route, target) }
    }

    /// So many of a user's requests at once; each goes out when the one before it is answered, and that long after.
    func crowd(_ count: Int, of user: UInt32, _ route: String, pause: Double = 0, until end: Double) {
        for _ in 0..<count {
            spawn { here in
                while here.value.now < end {
                    await here.request(route, "x", user: user)
                    // A caller that is refused comes again in a moment.
                    let rest = here.value.calls.last?.status == nil ? max(pause, 0.01) : pause
                    let until = here.value.timeline.now + Int64(rest * 1e9)
                    if rest > 0 { await here.outwait(until: until) }
                }
            }
        }
    }

    func keep(_ route: String, perSecond: Double, target: String = "x", until end: Double) {
        steadily(perSecond, until: end) { here in await here.keep(route, target) }
    }

    func keep(_ route: String, _ count: Int, target: String = "x") {
        for _ in 0..<count { spawn { here in await here.keep(route, target) } }
    }

    fileprivate func admit(_ route: String, _ target: String, user: UInt32, isKept: Bool) -> Admission? {
        guard let serving else { return nil }
        var terms = RequestTerms(forwarded: HeaderFields())
        terms.wantsDurable = isKept
        if isKept {
            kept += 1
            // With a key, so that it may be repeated.
            terms.durable.idempotencyKey = "\(kept)"
            terms.forwarded.append("Idempotency-Key", "\"\(kept)\"")
        }
        do throws(Problem) {
            return try serving.admit(route, target, isKept ? .post : requestMethod, terms, user: user)
        } catch { preconditionFailure("a request of a scenario is refused: \(error.detail)") }
    }
}

extension Confined where Value == ScenarioWorld {
    fileprivate func request(_ route: String, _ target: String, user: UInt32 = 1_000) async {
        guard let admission = value.admit(route, target, user: user, isKept: false),
            let serving = value.serving
        else { return }
        let call = Confined<ScenarioWorld.Call>(ScenarioWorld.Call(at: value.now, user: user, target: target))
        value.calls.append(call.value)
        let outcome = await serving.run(admission)
        call.value.ended = value.now
        call.value.failure = outcome.failure?.kind
        if outcome.failure == nil { call.value.status = outcome.answer?.status.rawValue }
    }

    fileprivate func keep(_ route: String, _ target: String) async {
        guard let admission = value.admit(route, target, user: 1_000, isKept: true),
            let serving = value.serving
        else { return }
        do throws(Problem) {
            _ = try await serving.jobs.acceptance.accept(admission, body: .bytes(Array("kept".utf8)))
        } catch { preconditionFailure("a job of a scenario is not kept: \(error.detail)") }
    }
}
