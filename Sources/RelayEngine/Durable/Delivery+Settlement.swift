import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

extension Delivery {
    /// How the run met the route's credential.
    var credential: DispatchMachine.Credential {
        switch ending {
        case .requeued(_, .credentials): .failed
        case .requeued, .held(.networkConstrained): .unknown
        case .expired where failure == nil: .unknown
        default: .passed
        }
    }
}

extension Delivery {
    /// Why the run was ended from outside.
    enum Stop {
        /// Somebody cancelled the job.
        case cancelled
        case relayStops
    }

    /// The settlement of a run, for the store.
    func settlement(
        of claim: Claim,
        on route: Route,
        _ stop: Stop?
    ) async -> Settlement {
        if let settlement = settlementNow(of: claim, on: route, stop) { return settlement }
        var content: StoredBody?
        if let (response, _) = kept(route.policy.delivery.keepsResponses) {
            content = (try? await response.body.collect(limit: route.policy.limits.body)).map { .bytes($0) }
        }
        return settlement(of: claim, on: route, stop, content)
    }

    /// The same without a wait; nil where the answer's content has still to come.
    func settlementNow(of claim: Claim, on route: Route, _ stop: Stop?) -> Settlement? {
        var content: StoredBody?
        if let (response, _) = kept(route.policy.delivery.keepsResponses) {
            switch response.body {
            // An answer whose content broke off is none.
            case _ where lacksContent: content = .expunged
            case .empty: content = .bytes([])
            case .bytes(let bytes): content = bytes.count <= route.policy.limits.body ? .bytes(bytes) : nil
            case .stream: return nil
            }
        }
        return settlement(of: claim, on: route, stop, content)
    }

    /// `content` is that of the answer, where there is one to keep.
    private func settlement(
        of claim: Claim,
        on route: Route,
        _ stop: Stop?,
        _ content: StoredBody?
    ) -> Settlement {
        var settlement = Settlement(claim.token, ending(stop))
        settlement.attempts = attempts.map(\.onRecord)
        settlement.failureKind = failure?.kind
        settlement.isUncertain = isUncertain
        settlement.isSettled = isSettled
        settlement.failureStatus = failure?.status
        let policy = route.policy.delivery
        if let content, let (response, source) = kept(policy.keepsResponses) {
            settlement.answer = StoredAnswer(
                status: response.status,
                fields: response.fields,
                body: content,
                source: source
            )
        }
        settlement.dropsBody =
            switch (policy.keepsRequests, settlement.ending) {
            case (.always, _), (_, .retry), (_, .requeued), (_, .held): false
            case (.onFailure, let ending): ending == .succeeded
            case (.never, _): true
            }
        return settlement
    }

    private func ending(_ stop: Stop?) -> Settlement.Ending {
        switch ending {
        // A cancelled attempt comes back in one of several ways; that it was asked for is the reason.
        case .dead(let end) where stop == .cancelled:
            let isCancelled = failure?.kind == .cancelled || end == .outcomeUnknown || pauseReason != nil
            return isCancelled ? .cancelled : ending
        case .retry where stop == .cancelled, .requeued where stop == .cancelled,
            .held where stop == .cancelled:
            return .cancelled
        case .requeued(let wait, let reason):
            return stop == nil
                ? .requeued(after: wait, reason ?? .throttled) : .requeued(after: .zero, reason)
        case .succeeded, .dead, .cancelled, .expired, .retry, .held: return ending
        }
    }
}

extension Delivery {
    /// The answer that stays with the job; nil when there is none to keep.
    fileprivate func kept(_ keeping: DeliverySettings.Keeping) -> (HTTPResponse, AnswerSource)? {
        switch (ending, keeping) {
        case (_, .never), (.succeeded, .onFailure): nil
        case (_, _): answer.map { ($0, report.source ?? .upstream) }
        }
    }
}
