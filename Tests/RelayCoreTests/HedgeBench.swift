import RelayJobs
import RelayTestSupport
import RelayTesting
import Synchronization
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

/// Answers each sending when the test says so.
final class Held: Transport {
    private struct State {
        var sent: [OutboundRequest] = []
        var waiting: [Int: CheckedContinuation<Result<InboundResponse, Failure>, Never>] = [:]
        var cancelled: [Int] = []
        var atOnce = false
    }

    private let state = Mutex(State())

    var sent: [OutboundRequest] { state.withLock { $0.sent } }
    var waiting: Int { state.withLock { $0.waiting.count } }
    /// The sendings that were given up, by their number from 0.
    var cancelled: [Int] { state.withLock { $0.cancelled } }

    /// Answers 200 to each at once, or waits.
    func answersAtOnce(_ is: Bool) { state.withLock { $0.atOnce = `is` } }

    func end(_ number: Int, _ end: Result<InboundResponse, Failure>) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: end)
    }

    func answer(_ number: Int, _ status: UInt16) { end(number, .success(Held.response(status))) }

    func fail(_ number: Int, _ kind: FailureKind) {
        end(number, .failure(Failure(kind, sent: .unknown, "as the test has it")))
    }

    static func response(_ status: UInt16) -> InboundResponse {
        InboundResponse(
            response: HTTPResponse(status: Status(rawValue: status), fields: HeaderFields(), body: .empty),
            exchange: Exchange()
        )
    }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        let (number, atOnce) = state.withLock { state in
            if !state.atOnce { state.sent.append(request) }
            return (state.sent.count - 1, state.atOnce)
        }
        if atOnce { return Held.response(200) }
        let end: Result<InboundResponse, Failure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isCancelled { continuation.resume(returning: Held.givenUp) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.cancelled.append(number)
                return state.waiting.removeValue(forKey: number)
            }
            waiting?.resume(returning: Held.givenUp)
        }
        return try end.get()
    }

    private static let givenUp = Result<InboundResponse, Failure>.failure(
        Failure(.cancelled, sent: .unknown, "cancelled")
    )
}

/// Waits until nothing can go on, and it has to be so then.
func settled(_ isSo: () -> Bool, _ place: SourceLocation = #_sourceLocation) async {
    await untilIdle()
    #expect(isSo(), sourceLocation: place)
}

/// A route that hedges, its memory with 20 answers, and requests whose sendings the test answers.
struct Yard {
    let transport = Held()
    let memory = RouteMemory(meter: RouteMeter(shards: 1))
    let route: Route
    let bench: Bench
    let time = VirtualTime(.manual)

    init(_ change: (inout RoutePolicy) -> Void = { _ in }) async {
        route = makeRoute {
            $0.hedging = Hedging()
            change(&$0)
        }
        bench = Bench([], time: time).over(PromptOver(transport))
        transport.answersAtOnce(true)
        for method in [Method.get, .post] {
            for _ in 0..<HedgeTimes.enough { _ = await perform(method, keyed: true) }
        }
        transport.answersAtOnce(false)
    }

    func perform(
        _ method: Method = .get,
        keyed: Bool = false,
        body: Body = .empty,
        options: JobOptions = JobOptions()
    ) async -> Outcome {
        var fields = HeaderFields()
        if keyed { fields.append("Idempotency-Key", "\"k\"") }
        return await bench.perform(
            method,
            on: route,
            fields: fields,
            body: body,
            options: options,
            memory: memory
        )
    }

    /// Lets the first sending be late.
    func late() async {
        await settled { transport.waiting == 1 && time.sleeperCount == 1 }
        time.advance(by: .milliseconds(50))
    }

    func both() async { await settled { transport.waiting == 2 } }

    func count(_ end: HedgeEnd) -> UInt64 { memory.meter.figures.account.hedges[end] ?? 0 }

    /// The sendings that the traffic of each upstream knows of.
    var underWay: [Int] { memory.traffic.tell(route, time.now()) { $0.upstreams.map(\.underWay) } }
}
