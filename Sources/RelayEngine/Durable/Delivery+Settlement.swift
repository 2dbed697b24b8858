import RelayCore

extension Delivery {
    var source: AnswerSource? { if case .succeeded(_, let source) = ending { source } else { nil } }

    /// Why the run did not succeed.
    var failure: Failure? {
        switch ending {
        case .succeeded, .cancelled: nil
        case .dead(let failure, _), .retry(_, let failure), .back(_, let failure), .held(let failure),
            .routePaused(_, let failure, _):
            failure
        case .expired(let failure): failure
        }
    }

    /// How the run met the route's credential.
    var credential: DispatchMachine.Credential {
        switch ending {
        case .back(.credentials, _): .failed
        case .back, .cancelled, .expired(nil): .unknown
        default: .passed
        }
    }
}

extension DurableJobs {
    /// What the store is told of a run.
    func settlement(
        of delivery: Delivery,
        _ claim: Claim,
        _ run: RunningJobs.Run,
        _ route: Route,
        _ time: any TimeSource
    ) async -> Settlement {
        var settlement = Settlement(claim.token, ending(of: delivery, claim, run))
        let (now, wall) = (time.now(), engine.time.wallMilliseconds())
        settlement.attempts = delivery.attempts.map { JobAttemptRecord($0, wallNow: wall, now: now) }
        settlement.failureKind = delivery.failure?.kind
        settlement.leavesDoubt = delivery.leavesDoubt
        settlement.failureStatus = delivery.failure?.status
        let policy = route.policy.delivery
        if let (response, source) = delivery.kept(policy.keepsResponses) {
            settlement.answer =
                if delivery.lacksContent {
                    StoredAnswer(
                        status: response.status,
                        fields: response.fields,
                        body: .expunged,
                        source: source
                    )
                } else {
                    await StoredAnswer(response, source, limit: route.policy.limits.body)
                }
        }
        settlement.dropsBody =
            switch (policy.keepsRequests, settlement.ending) {
            case (.always, _), (_, .retry), (_, .back), (_, .held): false
            case (.onFailure, let ending): ending == .succeeded
            case (.never, _): true
            }
        return settlement
    }

    private func ending(of delivery: Delivery, _ claim: Claim, _ run: RunningJobs.Run) -> Settlement.Ending {
        // A cancelled attempt comes back in one of several ways; that it was asked for is the reason.
        if run.isCancelAsked {
            switch delivery.ending {
            case .succeeded, .expired: break
            case .dead(let failure, let end):
                if failure.kind == .cancelled || end == .outcomeUnknown { return .cancelled }
            case .cancelled, .retry, .back, .held, .routePaused: return .cancelled
            }
        }
        switch delivery.ending {
        case .succeeded: return .succeeded
        case .dead(_, let end): return .dead(end)
        case .expired: return .expired
        case .cancelled: return .cancelled
        case .retry(let wait, _): return .retry(after: wait, .backoff)
        case .held: return .held(.operatorHold)
        case .routePaused(_, _, let end): return end.map { .dead($0) } ?? .held(.routePaused)
        case .back(.credentials, _):
            // The gate of the route says when, so that the job that waited longest is the probe.
            return .back(after: .zero, .credentials)
        case .back(let reason, _):
            guard phase == .serving else { return .back(after: .zero, reason) }
            return .back(after: .seconds(1), reason ?? .throttled)
        }
    }
}

extension Delivery {
    /// The answer that stays with the job; nil when there is none to keep.
    fileprivate func kept(_ keeping: DeliverySettings.Keeping) -> (HTTPResponse, AnswerSource)? {
        switch (ending, keeping) {
        case (_, .never), (.succeeded, .onFailure): nil
        case (.succeeded(let response, let source), .always): (response, source)
        case (_, _): answer.map { ($0, .upstream) }
        }
    }
}

extension StoredAnswer {
    /// Nil when its content broke off: an answer that is not whole is none.
    fileprivate init?(_ response: HTTPResponse, _ source: AnswerSource, limit: Int) async {
        do throws(Failure) {
            let bytes = try await response.body.collect(limit: limit)
            self.init(
                status: response.status,
                fields: response.fields,
                body: .bytes(bytes),
                source: source
            )
        } catch {
            return nil
        }
    }
}
