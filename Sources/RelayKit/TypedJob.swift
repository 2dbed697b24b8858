import RelayBase
import RelayCore
import RelayRoute
import Synchronization

/// A request's and its service's closures as the hooks of one job, and the value that came of it.
final class TypedJob<Response: Sendable, ServerError: FailureInitializable>: JobHooks {
    let original: Request<Response, ServerError>
    private let preparation: [any PreparationStrategy]
    private let observers: [any AttemptObserver]
    private let id: String
    private let route: String
    private let coders: Coders
    private let authentication: Authentication?
    private let state: Mutex<State>
    /// Whether `state` has to be asked for a change; of most jobs it never has one.
    private let hasChanged = Atomic<Bool>(false)

    private struct State {
        var value: Response?
        /// The unprepared request of the attempt under way.
        var current: HTTPRequest
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
        state = Mutex(State(value: nil, current: request.http))
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
        state.withLock { $0.current = request }
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
        seen.request = state.withLock { $0.current }
        return asking { $0.quickRecovery(seen) }
    }

    func accept(_ response: HTTPResponse, isQuickRecovered: Bool) throws(Failure) {
        var success = TransportSuccess(request: state.withLock { $0.current }, response: response)
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
        seen.request = state.withLock { $0.current }
        return asking { $0.classify(seen) }
    }

    func consult(
        _ strategy: any RecoveryStrategy,
        about failure: Failure,
        of request: HTTPRequest,
        _ context: RecoveryContext
    ) async -> RecoveryDisposition {
        state.withLock { $0.wish = nil }
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
    }

    /// The job as observers see it.
    var running: RunningJob {
        RunningJob(id: id, route: route, request: state.withLock { $0.current })
    }

    func attemptBegan(_ attempt: Attempt, of request: HTTPRequest) {
        state.withLock { $0.current = request }
        for observer in observers { observer.attemptBegan(attempt, of: running) }
    }

    func responded(_ response: HTTPResponse, _ attempt: Attempt) {
        for observer in observers { observer.responded(response, to: attempt, of: running) }
    }

    func decided(_ attempt: Attempt) {
        state.withLock { state in
            guard let wish = state.wish.take(), wish.rule == attempt.rule,
                !attempt.heldBack.contains(where: { $0.rule == wish.rule })
            else { return }
            state.changed = wish.changed
            hasChanged.store(true, ordering: .releasing)
        }
        for observer in observers { observer.decided(attempt, of: running) }
    }
}
