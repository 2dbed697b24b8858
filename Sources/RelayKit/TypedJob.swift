import RelayBase
import RelayCore
import RelayRoute
import Synchronization

/// A request's and its service's closures as the hooks of one job, and the value that came of it.
final class TypedJob<Response: Sendable>: JobHooks {
    private let request: Request<Response>
    private let preparation: [any PreparationStrategy]
    private let observers: [any AttemptObserver]
    private let id: String
    private let route: String
    private let authentication: Authentication?
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
        route: Route
    ) {
        self.request = request
        self.preparation = preparation
        self.observers = observers
        self.id = id
        self.route = route.name
        authentication = route.policy.authentication
        state = Mutex(State(value: nil, current: request.http))
    }

    var value: Response? { state.withLock { $0.value } }

    func hasSteps(_ phase: PreparationPhase) -> Bool { preparation.contains { $0.phase == phase } }

    func prepare(
        _ phase: PreparationPhase,
        _ request: HTTPRequest,
        number: Int
    ) async throws(Failure) -> HTTPRequest {
        if let flaw = self.request.headerFlaw ?? self.request.pathFlaw { throw flaw }
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
        if let authentication { try prepared.checkCredential(authentication) }
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
        for observer in observers { observer.decided(attempt, of: running) }
    }
}
