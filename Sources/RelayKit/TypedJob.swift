import RelayBase
import RelayCore
import RelayRoute
import Synchronization

/// A request's and its service's closures as the hooks of one job, and the value that came of it.
final class TypedJob<Response: Sendable, ServerError: FailureInitializable>: JobHooks {
    let original: Request<Response, ServerError>
    private let preparation: [any PreparationStrategy]
    private let observers: [any AttemptObserver]
    let id: String
    private let route: String
    private let coders: Coders
    private let authentication: Authentication?
    /// The unprepared request of the attempt under way: apart from `state`, whose type each access has to look up.
    private let current: Mutex<HTTPRequest>
    private let state: Mutex<State>
    /// Whether `state` has to be asked for a wish; of most jobs it never has one.
    private let hasWish = Atomic<Bool>(false)
    /// Whether `state` has to be asked for a change.
    private let hasChanged = Atomic<Bool>(false)

    private struct State {
        var value: Response?
        /// The wish of the strategy that was asked last; the engine decides whether it is met.
        var wish: Wish?
        /// The job as strategies have changed it since it began.
        var changed: Changed?
    }

    private struct Wish {
        let rule: String
        let changed: Changed
    }

    private final class Changed: Sendable {
        let request: Request<Response, ServerError>
        /// The error that a strategy has ended the job with.
        let error: ServerError?

        init(_ request: Request<Response, ServerError>, _ error: ServerError? = nil) {
            self.request = request
            self.error = error
        }
    }

    init(
        _ request: Request<Response, ServerError>,
        preparation: [any PreparationStrategy],
        observers: [any AttemptObserver],
        coders: Coders,
        id: String,
        route: Route
    ) {
        original = request
        self.coders = coders
        self.preparation = preparation
        self.observers = observers
        self.id = id
        self.route = route.name
        authentication = route.policy.authentication
        current = Mutex(request.http)
        state = Mutex(State())
    }

    var value: Response? { state.withLock { $0.value } }

    /// The request as it is now; its message is the one the program wrote.
    var request: Request<Response, ServerError> { changed?.request ?? original }

    /// The error of a strategy that has ended the job.
    var ownError: ServerError? { changed?.error }

    private var changed: Changed? {
        guard hasChanged.load(ordering: .acquiring) else { return nil }
        return state.withLock { $0.changed }
    }

    /// Asks the request as it is now, of which no copy is made.
    private func asking<Value, Problem>(
        _ body: (Request<Response, ServerError>) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        if let changed { return try body(changed.request) }
        return try body(original)
    }

    func hasSteps(_ phase: PreparationPhase) -> Bool {
        preparation.contains { $0.phase == phase }
            || asking { $0.preparation.contains { $0.phase == phase } }
    }

    func prepare(
        _ phase: PreparationPhase,
        _ request: HTTPRequest,
        number: Int
    ) async throws(Failure) -> HTTPRequest {
        current.withLock { $0 = request }
        try asking { (asked) throws(Failure) in try asked.checkFlaws() }
        var prepared = request
        if hasSteps(phase) {
            let context = PreparationContext(job: id, attempt: number, route: route)
            for step in preparation + asking({ $0.preparation }) where step.phase == phase {
                do {
                    prepared = try await step.prepare(prepared, context: context)
                } catch {
                    throw Failure.unprepared(error)
                }
            }
        }
        try prepared.checkTarget()
        if let authentication { try prepared.checkCredential(authentication) }
        return prepared
    }

    func classify(_ response: HTTPResponse) -> Failure? {
        asking { $0.errorDocument?.read(response, coders.decoder) }
    }

    func quickRecovery(_ failure: Failure, _ response: HTTPResponse?) -> HTTPResponse? {
        var seen = failure
        seen.response = seen.response ?? response
        seen.request = current.withLock { $0 }
        return asking { $0.quickRecovery(seen) }
    }

    func accept(_ response: HTTPResponse, isQuickRecovered: Bool) throws(Failure) {
        var success = TransportSuccess(request: current.withLock { $0 }, response: response)
        success.decoder = coders.decoder
        try asking { (asked) throws(Failure) in try accept(success, isQuickRecovered, asked) }
    }

    private func accept(
        _ success: TransportSuccess,
        _ isQuickRecovered: Bool,
        _ request: Request<Response, ServerError>
    ) throws(Failure) {
        if !isQuickRecovered || request.validatesQuickRecovery {
            do {
                try request.successValidator(success)
            } catch {
                throw Failure.invalid(error)
            }
        }
        do {
            let value = try request.transform(success)
            state.withLock { $0.value = value }
        } catch {
            throw Failure.undecodable(as: Response.self, error)
        }
    }

    func named(_ failure: Failure) -> Failure {
        var seen = failure
        seen.request = current.withLock { $0 }
        return asking { $0.classify(seen) }
    }

    func consult(
        _ strategy: any RecoveryStrategy,
        about failure: Failure,
        of request: HTTPRequest,
        _ context: RecoveryContext
    ) async -> RecoveryDisposition {
        if hasWish.exchange(false, ordering: .acquiringAndReleasing) { state.withLock { $0.wish = nil } }
        guard let adviser = strategy as? RequestAdviser else {
            return await strategy.recover(from: failure, of: request, context: context)
        }
        var mine = self.request
        mine.http = request
        let advice = await adviser.strategy.recover(
            from: FailedRequest(mine, failure: failure),
            context: context
        )
        switch advice {
        case .passOn: return .passOn
        case .stop(let error):
            if let failure = error as? Failure { return .stop(failure) }
            wish(Changed(mine, error), of: adviser)
            return .stop(failure.carrying(error))
        case .retry(let wanted, let wait):
            let next = wanted.encoded(by: coders.encoder)
            wish(Changed(next), of: adviser)
            return .retry(next.http, after: wait)
        }
    }

    private func wish(_ changed: Changed, of adviser: RequestAdviser) {
        state.withLock { $0.wish = Wish(rule: adviser.name, changed: changed) }
        hasWish.store(true, ordering: .releasing)
    }

    /// The job as observers see it.
    var running: RunningJob {
        RunningJob(id: id, route: route, request: current.withLock { $0 })
    }

    func attemptBegan(_ attempt: Attempt, of request: HTTPRequest) {
        current.withLock { $0 = request }
        for observer in observers { observer.attemptBegan(attempt, of: running) }
    }

    func responded(_ response: HTTPResponse, _ attempt: Attempt) {
        for observer in observers { observer.responded(response, to: attempt, of: running) }
    }

    func decided(_ attempt: Attempt) {
        if hasWish.exchange(false, ordering: .acquiringAndReleasing) {
            state.withLock { state in
                guard let wish = state.wish.take(), wish.rule == attempt.rule,
                    !attempt.heldBack.contains(where: { $0.rule == wish.rule })
                else { return }
                state.changed = wish.changed
                hasChanged.store(true, ordering: .releasing)
            }
        }
        for observer in observers { observer.decided(attempt, of: running) }
    }
}
