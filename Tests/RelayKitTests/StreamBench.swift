import RelayKit
import RelayTestSupport
import Synchronization

/// A service whose exchanges the test answers one by one.
struct StreamBench {
    let gate: GateTransport
    let service: RelayService

    init(
        observers: [any AttemptObserver] = [],
        _ status: @escaping @Sendable (String) -> Status? = { _ in nil }
    ) throws {
        gate = GateTransport(status)
        service = try RelayService(
            RoutePolicy(upstreams: [try Upstream("https://one.example/")]),
            transport: gate,
            time: VirtualTime(),
            entropy: SeededEntropy(),
            observers: observers
        )
    }
}

/// The requests as the input of a stream.
func input<Response, ServerError>(
    _ requests: [Request<Response, ServerError>]
) -> AsyncStream<Request<Response, ServerError>> {
    AsyncStream { continuation in
        for request in requests { continuation.yield(request) }
        continuation.finish()
    }
}

/// Why an input can break off.
struct InputBroken: Error {}

/// Requests one after the other, remembering how many were asked for.
final class Inputs: AsyncSequence, Sendable {
    typealias Element = PlainRequest<HTTPResponse>
    typealias Failure = InputBroken

    private let targets: [String]
    private let breaks: Bool
    private let asked = Mutex(0)
    private let onRead: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - targets: one request each.
    ///   - breaks: whether the end is an error.
    ///   - onRead: told how many requests have been given.
    init(_ targets: [String], breaks: Bool = false, onRead: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.targets = targets
        self.breaks = breaks
        self.onRead = onRead
    }

    /// How often a request was asked for.
    var reads: Int { asked.withLock { $0 } }

    func makeAsyncIterator() -> Iterator { Iterator(inputs: self) }

    struct Iterator: AsyncIteratorProtocol {
        let inputs: Inputs
        var place = 0

        mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(InputBroken) -> PlainRequest<HTTPResponse>? {
            try await next()
        }

        mutating func next() async throws(InputBroken) -> PlainRequest<HTTPResponse>? {
            inputs.asked.withLock { $0 += 1 }
            guard place < inputs.targets.count else {
                if inputs.breaks { throw InputBroken() }
                return nil
            }
            place += 1
            inputs.onRead(place)
            return Request(.get, RequestPath(inputs.targets[place - 1]))
        }
    }
}

/// Keeps how jobs ended.
final class Endings: AttemptObserver {
    private let kept = Mutex<[FinishedJob]>([])

    var jobs: [FinishedJob] { kept.withLock { $0 } }

    func finished(_ job: FinishedJob) { kept.withLock { $0.append(job) } }
}
