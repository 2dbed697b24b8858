package import RelayBase
package import RelayCore
package import RelayRoute
import Synchronization

/// A transport that plays a script and remembers what it was asked to send.
package final class ScriptedTransport: Transport {
    package enum Step: Sendable {
        case answer(Status, [(String, String)] = [], String = "")
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
        var held: [CheckedContinuation<Bool, Never>] = []
        var isReleased = false
    }

    private let state: Mutex<State>
    private let time: VirtualTime
    /// Answers by request where a script by order will not do.
    private let answer: (@Sendable (OutboundRequest) -> Step)?

    package init(_ steps: [Step], time: VirtualTime) {
        state = Mutex(State(steps: steps))
        self.time = time
        answer = nil
    }

    package init(time: VirtualTime, answer: @escaping @Sendable (OutboundRequest) -> Step) {
        state = Mutex(State(steps: []))
        self.time = time
        self.answer = answer
    }

    package var sent: [OutboundRequest] { state.withLock { $0.sent } }

    /// Lets every held exchange go on.
    package func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isReleased = true
            return state.held
        }
        for continuation in held { continuation.resume(returning: true) }
    }

    package var heldCount: Int { state.withLock { $0.held.count } }

    package func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
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
                for (name, value) in pairs { fields.append(name, value) }
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
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.isReleased { return true }
                    state.held.append(continuation)
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let held = state.withLock { state in
                defer { state.held = [] }
                return state.held
            }
            for continuation in held { continuation.resume(returning: false) }
        }
    }
}

/// Keeps every event.
package final class RecordingSink: EventSink, JobListener {
    private let kept = Mutex<[JobEvent]>([])

    package init() {}

    package func record(_ event: JobEvent) { kept.withLock { $0.append(event) } }
    package func heard(_ event: JobEvent, at wall: Int64) { record(event) }

    package var events: [JobEvent] { kept.withLock { $0 } }
}
