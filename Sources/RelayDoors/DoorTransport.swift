import RelayBase
import RelayRoute

/// Sends each attempt through the client whose request it is.
final class DoorTransport: Transport {
    /// The request at hand: every attempt of it is sent in its task, or in a child of that.
    @TaskLocal static var call: (any AttemptSending)?

    private let time: any TimeSource

    init(time: any TimeSource) { self.time = time }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        guard let call = DoorTransport.call else {
            throw Failure(.preparation, sent: .neverSent, "no client is at hand to send the request")
        }
        if case .stream(let content) = request.body { _ = try? await content.next() }
        let time = time
        let result: Result<InboundResponse, Failure> = await withTaskGroup(
            of: Result<InboundResponse, Failure>?.self
        ) { group in
            group.addTask { await Self.send(request, through: call) }
            group.addTask {
                do throws(CancellationError) {
                    try await time.expire(at: request.deadline)
                } catch {
                    return nil
                }
                return .failure(
                    Failure(.httpResponseTimeout, sent: .unknown, DoorTransport.late)
                )
            }
            // The first that ends decides; where that is the time, the client is cancelled and may still answer.
            var first: Result<InboundResponse, Failure>?
            for await result in group where first == nil {
                guard let result else { continue }
                first = result
                group.cancelAll()
            }
            // Only now, since what was given up ends later.
            if case .failure(let failure)? = first, failure.detail == DoorTransport.late { call.giveUp() }
            return first ?? .failure(Failure(.cancelled, sent: .unknown, "the request was cancelled"))
        }
        return try result.get()
    }

    private static let late = "no answer came in the attempt's time"

    private static func send(
        _ request: OutboundRequest,
        through call: any AttemptSending
    ) async -> Result<InboundResponse, Failure>? {
        do throws(Failure) { return .success(try await call.send(request)) } catch { return .failure(error) }
    }
}

/// One request of a client, whatever its types.
protocol AttemptSending: Sendable {
    /// An attempt begins, which may come to nothing before it is sent.
    func attemptBegan(_ number: Int)

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse

    /// Nobody waits for the attempt any more, whatever comes of it.
    func giveUp()
}

/// Content that can be read once: the attempt that takes it is the last that can be sent with it.
final class ContentOnce: BodySource {
    private let state = ReadMark()

    var length: UInt64? { nil }

    var wasRead: Bool { state.isSet }

    func next() async throws(Failure) -> [UInt8]? {
        state.set()
        return nil
    }

    func cancel() {}
}
