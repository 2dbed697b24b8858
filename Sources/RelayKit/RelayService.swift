public import RelayBase
import RelayCore
public import RelayRoute
import Synchronization

/// Sends requests to one route and recovers from what fails: the daemon's core in a program of its own.
///
/// A service is made once and shared. Every request has exactly one outcome; between its attempts the rules of the
/// policy's `recovery` list decide, read from the top after every failure. Cancelling the task that waits for a request
/// closes its attempt and asks no rule.
///
/// With RelaySockets, whose initialiser of a service brings sockets, clocks and randomness, and RelayFoundation, which
/// brings JSON:
///
/// ```swift
/// var policy = RoutePolicy(upstreams: [try Upstream("https://books.example/api/v1/")])
/// policy.recovery = [.backoff(on: [503, .connection])]
/// let service = try RelayService(policy)
/// let book: Book = try await service.execute(Request(.get, "books/7", container: "/data"))
/// ```
public final class RelayService: Sendable {
    /// The policy that the service was made with.
    public let policy: RoutePolicy
    let relay: Relay
    let route: Route
    private let vault: CredentialVault
    private let memory = RouteMemory()
    private static let mostAtOnce = 65_535
    private let preparation: [any PreparationStrategy]
    private let observers: [any AttemptObserver]
    private let coders: Coders
    private let breached = Atomic<UInt64>(0)
    private let running = Atomic<Int>(0)

    /// Makes a service of its parts; RelaySockets has an initialiser that brings transport, time and entropy along.
    ///
    /// - Parameters:
    ///   - policy: where requests go and what happens to them.
    ///   - name: stands in messages and contexts.
    ///   - transport: sends single attempts.
    ///   - time: the clocks and every wait.
    ///   - entropy: jitter and job ids.
    ///   - credentials: what `policy.authentication` names.
    ///   - secrets: what the credentials' references stand for.
    ///   - preparation: steps before every request, in order; later ones see what earlier ones did.
    ///   - observers: told about every job, in order.
    ///   - decoder: reads values where a request names no decoder; nil leaves it to RelayFoundation's.
    ///   - encoder: writes the values of `Content.json` where that names no encoder; nil leaves it to RelayFoundation's.
    ///   - isConstrained: whether upstreams for a constrained network are to be used; asked before every attempt.
    /// - Throws: why the policy cannot hold what it promises.
    public init(
        _ policy: RoutePolicy,
        name: String = "service",
        transport: any Transport,
        time: any TimeSource,
        entropy: any Entropy,
        credentials: [CredentialDefinition] = [],
        secrets: [SecretReference: Secret] = [:],
        preparation: [any PreparationStrategy] = [],
        observers: [any AttemptObserver] = [],
        decoder: (any ContentDecoder)? = nil,
        encoder: (any ContentEncoder)? = nil,
        isConstrained: @escaping @Sendable () -> Bool = { false }
    ) throws(Refusal) {
        var policy = policy.withFittingTimes
        try policy.check(credentials: credentials.map(\.name))
        policy.upstreams = policy.confinedUpstreams
        // A program bounds what it asks for by itself; the window is for what the upstream takes.
        policy.concurrency.maxRequests = RelayService.mostAtOnce
        self.policy = policy
        route = Route(name: name, policy: policy)
        vault = CredentialVault(credentials, secrets: secrets)
        relay = Relay(
            ports: RelayPorts(
                transport: transport,
                time: time,
                entropy: entropy,
                sink: SilentSink(),
                start: { work in Task { await work() } },
                isConstrained: isConstrained
            ),
            added: RelayService.ownFields
        )
        self.preparation = preparation
        self.observers = observers
        coders = Coders(decoder: decoder, encoder: encoder)
    }

    /// The fields of a request that does not set them itself.
    private static let ownFields: HeaderFields = {
        var fields = HeaderFields()
        fields.append("User-Agent", Version.libraryUserAgent)
        return fields
    }()

    /// Failures that reached callers although the policy says `neverFails`.
    public var breaches: UInt64 { breached.load(ordering: .relaxed) }

    /// Requests that have begun and not ended.
    public var inFlight: Int { running.load(ordering: .relaxed) }

    /// Sends a request and returns its value.
    ///
    /// - Throws: the one error the job ended with, whatever stage it is from.
    public func execute<Response, ServerError>(
        _ request: Request<Response, ServerError>
    ) async throws(ServerError) -> Response {
        try await outcome(of: request).result.get()
    }

    /// Sends a request and returns its value, or what `replacement` makes of its error; for callers that cannot
    /// accept one.
    public func value<Response, ServerError>(
        of request: Request<Response, ServerError>,
        replacing replacement: @Sendable (ServerError) -> Response
    ) async -> Response {
        switch await outcome(of: request).result {
        case .success(let value): value
        case .failure(let error): replacement(error)
        }
    }

    /// Sends a request and tells everything about how it ended.
    public func outcome<Response, ServerError>(
        of request: Request<Response, ServerError>
    ) async -> JobOutcome<Response, ServerError> {
        running.add(1, ordering: .relaxed)
        defer { running.subtract(1, ordering: .relaxed) }
        let entropy = relay.ports.entropy
        let id = JobID(
            milliseconds: relay.ports.time.wallMilliseconds(),
            random: (entropy.next(), entropy.next())
        )
        let began = relay.ports.time.now()
        let total = request.options.timeout.map { min($0, policy.timeouts.total) } ?? policy.timeouts.total
        let job = TypedJob(
            coders.encoder == nil ? request : request.encoded(by: coders.encoder),
            preparation: preparation,
            observers: observers,
            coders: coders,
            id: id.description,
            route: route
        )
        let outcome = await run(job, id, job.original.http, request.options, began: began, total)
        let finished = finish(outcome, job)
        if !observers.isEmpty {
            let told = finished.finished(job.running)
            for observer in observers {
                observer.finished(job.request, with: finished)
                observer.finished(told)
            }
        }
        return finished
    }
}

extension RelayService {
    private func run<Response, ServerError>(
        _ job: TypedJob<Response, ServerError>,
        _ id: JobID,
        _ http: HTTPRequest,
        _ options: RequestOptions,
        began: Instant,
        _ total: Duration
    ) async -> Outcome {
        var settings = JobOptions(options)
        settings.collectsAnswer = true
        let context = { [route, memory, settings] (request: HTTPRequest) in
            JobContext(
                id: id,
                route: route,
                method: request.method,
                target: request.target,
                options: settings,
                client: nil,
                memory: memory,
                hooks: job
            )
        }
        let request: HTTPRequest
        let deadline = began.advanced(by: total)
        switch await relay.ports.prepared(.job, http, job, by: deadline) {
        case .success(let prepared): request = prepared
        case .failure(var failure):
            failure.isPastDeadline = failure.kind != .cancelled && relay.ports.time.now() >= deadline
            return Outcome(context(http), failure)
        }
        return await relay.perform(request, context: context(request), vault: vault, since: began)
    }

    /// The job's outcome in the words of the request.
    private func finish<Response, ServerError>(
        _ outcome: Outcome,
        _ job: TypedJob<Response, ServerError>
    ) -> JobOutcome<Response, ServerError> {
        func ended(_ value: Response, _ source: AnswerSource?) -> JobOutcome<Response, ServerError> {
            JobOutcome(
                id: job.id,
                result: .success(value),
                failure: nil,
                source: source,
                attempts: outcome.attempts
            )
        }
        var failure: Failure
        if let found = outcome.failure {
            failure = found
            failure.response = failure.response ?? outcome.answer
        } else {
            if let value = job.value {
                return ended(value, outcome.report.source)
            }
            failure = Failure(.decoding, sent: .answered, "the answer was not transformed")
        }
        let request = job.request
        failure.request = failure.request ?? request.http
        if failure.kind != .cancelled, let value = request.placeholder(failure) {
            return ended(value, .placeholder)
        }
        if policy.neverFails, request.options.allowsFallback, failure.kind != .cancelled {
            breached.add(1, ordering: .relaxed)
        }
        // The relay alone says that time was wanting, whatever the request makes of the failure for its caller.
        var named = request.mapFailure(failure)
        named.isPastDeadline = failure.isPastDeadline
        var error = job.ownError ?? request.error(of: named)
        // An error of a program's type may have become a failure again.
        if var own = error as? Failure {
            own.isPastDeadline = failure.isPastDeadline
            named = own
            if let own = own as? ServerError { error = own }
        }
        return JobOutcome(
            id: job.id,
            result: .failure(error),
            failure: named,
            source: nil,
            attempts: outcome.attempts
        )
    }
}

extension JobOptions {
    fileprivate init(_ options: RequestOptions) {
        self.init()
        timeout = options.timeout
        attemptTimeout = options.attemptTimeout
        maxAttempts = options.maxAttempts
        allowsFallback = options.allowsFallback
        constrained = options.constrained
        lightRequest = options.lightRequest
        hasIdempotencyKey = options.isRepeatable
    }
}

/// A program hears of its jobs by their outcomes and its observers.
private final class SilentSink: EventSink {
    func record(_ event: JobEvent) {}
}
