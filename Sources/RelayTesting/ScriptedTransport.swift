public import RelayBase
public import RelayRoute
import Synchronization

/// A transport that plays a script and remembers what it was asked to send.
///
/// ```swift
/// let script = ScriptedTransport(.answer(503), .fail(.connectionTerminated, .unknown), .answer(200, [:], "{}"))
/// ```
///
/// ``sent`` are the attempts that it was asked for, each complete. A body that is a stream is not read.
public final class ScriptedTransport: Transport {
    /// The end of one attempt.
    public enum Step: Sendable {
        /// An answer with those fields and that text.
        case answer(Status, ScriptedFields = [:], String = "")
        /// No answer: the kind of failure, and how far the request got.
        case fail(FailureKind, Sent)
        /// 200 with a body that comes by pieces.
        case stream(any BodySource)
        /// Waits until `release` is called, then plays the next step.
        case hold
        /// Moves the clock, then plays the next step.
        case take(Duration)
    }

    private struct State {
        var steps: [Step]
        var sent: [OutboundRequest] = []
        var held: [Int: CheckedContinuation<Bool, Never>] = [:]
        /// Exchanges that have come to a hold.
        var holds = 0
        var isReleased = false
    }

    private let state: Mutex<State>
    private let time: VirtualTime
    /// Answers by request where a script by order will not do.
    private let answer: (@Sendable (OutboundRequest) -> Step)?

    /// A transport that plays the steps one after the other; an attempt beyond the last fails as `script_over`.
    public convenience init(_ steps: Step..., time: VirtualTime = VirtualTime()) {
        self.init(steps, time: time)
    }

    /// A transport that plays the steps one after the other; an attempt beyond the last fails as `script_over`.
    ///
    /// - Parameters:
    ///   - steps: what becomes of each attempt.
    ///   - time: the clock that ``Step/take(_:)`` moves.
    public init(_ steps: [Step], time: VirtualTime = VirtualTime()) {
        state = Mutex(State(steps: steps))
        self.time = time
        answer = nil
    }

    /// A transport that answers each attempt as it deserves.
    public init(time: VirtualTime = VirtualTime(), answer: @escaping @Sendable (OutboundRequest) -> Step) {
        state = Mutex(State(steps: []))
        self.time = time
        self.answer = answer
    }

    /// Every attempt so far, in order.
    public var sent: [OutboundRequest] { state.withLock { $0.sent } }

    /// Lets every held exchange go on.
    public func release() {
        let held = state.withLock { state in
            defer { state.held = [:] }
            state.isReleased = true
            return state.held.sorted { $0.key < $1.key }.map(\.value)
        }
        for continuation in held { continuation.resume(returning: true) }
    }

    /// The exchanges that wait in ``Step/hold``.
    public var heldCount: Int { state.withLock { $0.held.count } }

    /// Plays the next step.
    public func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        state.withLock { $0.sent.append(request) }
        var step = next(request)
        while true {
            switch step {
            case .take(let duration):
                time.advance(by: duration)
                step = next(request)
            case .hold:
                guard await hold() else { throw Failure(.cancelled, sent: .unknown, "cancelled") }
                step = next(request)
            case .fail(let kind, let sent): throw Failure(kind, sent: sent, "scripted")
            case .stream(let source):
                return InboundResponse(
                    response: HTTPResponse(status: 200, body: .stream(source)),
                    exchange: Exchange()
                )
            case .answer(let status, let pairs, let body):
                var fields = HeaderFields()
                for (name, value) in pairs.pairs { fields.append(name, value) }
                let content: Body = body.isEmpty ? .empty : .bytes(Array(body.utf8))
                return InboundResponse(
                    response: HTTPResponse(status: status, fields: fields, body: content),
                    exchange: Exchange(address: "192.0.2.1:80")
                )
            }
        }
    }

    private func next(_ request: OutboundRequest) -> Step {
        if let answer { return answer(request) }
        return state.withLock { state in
            state.steps.isEmpty ? .fail("script_over", .unknown) : state.steps.removeFirst()
        }
    }

    private func hold() async -> Bool {
        let number = state.withLock { state in
            state.holds += 1
            return state.holds
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.isReleased { return true }
                    state.held[number] = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let held = state.withLock { $0.held.removeValue(forKey: number) }
            held?.resume(returning: false)
        }
    }
}

/// The fields of an answer in a script, written as a dictionary; a name may stand more than once.
public struct ScriptedFields: Sendable, ExpressibleByDictionaryLiteral {
    let pairs: [(String, String)]

    /// The fields as they are written.
    public init(dictionaryLiteral elements: (String, String)...) { pairs = elements }

    /// Fields that are made elsewhere.
    public init(_ pairs: [(String, String)]) { self.pairs = pairs }
}
