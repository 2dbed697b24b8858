import Synchronization

/// A request's and its service's closures as the hooks of one job, and the value that came of it.
final class TypedJob<Response: Sendable>: JobHooks {
    private let request: Request<Response>
    private let preparation: [any PreparationStrategy]
    private let observers: [any AttemptObserver]
    private let id: String
    private let route: String
    private let state: Mutex<State>

    private struct State {
        var value: Response?
        /// The unprepared request of the attempt under way.
        var current: HTTPRequest
    }

    init(
        _ request: Request<Response>,
        preparation: [any PreparationStrategy],
        observers: [any AttemptObserver],
        id: String,
        route: String
    ) {
        self.request = request
        self.preparation = preparation
        self.observers = observers
        self.id = id
        self.route = route
        state = Mutex(State(value: nil, current: request.http))
    }

    var value: Response? { state.withLock { $0.value } }

    func hasSteps(_ phase: PreparationPhase) -> Bool { preparation.contains { $0.phase == phase } }

    func prepare(
        _ phase: PreparationPhase,
        _ request: HTTPRequest,
        number: Int
    ) async throws(Failure) -> HTTPRequest {
        if let flaw = self.request.flaw { throw flaw }
        state.withLock { $0.current = request }
        var prepared = request
        let context = PreparationContext(job: id, attempt: number, route: route)
        for step in preparation where step.phase == phase {
            do {
                prepared = try await step.prepare(prepared, context: context)
            } catch {
                throw Failure.unprepared(error)
            }
        }
        try prepared.checkTarget()
        return prepared
    }

    func classify(_ response: HTTPResponse) -> Failure? { request.errorDocument?.read(response) }

    func quickRecovery(_ failure: Failure, _ response: HTTPResponse?) -> HTTPResponse? {
        var seen = failure
        seen.response = seen.response ?? response
        seen.request = state.withLock { $0.current }
        return request.quickRecovery(seen)
    }

    func accept(_ response: HTTPResponse, isQuickRecovered: Bool) throws(Failure) {
        let success = TransportSuccess(request: state.withLock { $0.current }, response: response)
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
        return request.classify(seen)
    }

    func attemptBegan(_ attempt: Attempt) {
        for observer in observers { observer.attemptBegan(attempt, of: id) }
    }

    func responded(_ response: HTTPResponse, _ attempt: Attempt) {
        for observer in observers { observer.responded(response, to: attempt, of: id) }
    }

    func decided(_ attempt: Attempt) {
        for observer in observers { observer.decided(attempt, of: id) }
    }
}
