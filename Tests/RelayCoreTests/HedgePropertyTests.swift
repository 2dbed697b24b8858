import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

@Suite("However two sendings of a request end", .closedRunQueue, .timeLimit(.minutes(2)))
struct HedgePropertyTests {
    /// An event of the world, as far as a sending that is under way sees it.
    private enum Event: CaseIterable {
        case firstGood, firstBad, firstConflict, firstLost, secondGood, secondBad, secondConflict, secondLost
        case callerGone, deadline

        /// The sending that it ends, from 0; nil where it ends both.
        var sending: Int? {
            switch self {
            case .firstGood, .firstBad, .firstConflict, .firstLost: 0
            case .secondGood, .secondBad, .secondConflict, .secondLost: 1
            case .callerGone, .deadline: nil
            }
        }

        var isGood: Bool { self == .firstGood || self == .secondGood }

        func end() -> Result<InboundResponse, Failure> {
            switch self {
            case .firstGood, .secondGood: .success(Held.response(200))
            case .firstBad, .secondBad: .success(Held.response(503))
            case .firstConflict, .secondConflict: .success(Held.response(409))
            case .firstLost, .secondLost: .failure(Failure(.connectionTerminated, sent: .unknown, "lost"))
            case .callerGone: .failure(Failure(.cancelled, sent: .unknown, "gone"))
            case .deadline: .failure(Failure(.httpResponseTimeout, sent: .unknown, "late"))
            }
        }
    }

    /// The number of the attempt that is judged, told by the events alone.
    private func judged(_ events: [Event]) -> Int {
        var failed: (sending: Int, event: Event)?
        for event in events {
            guard let sending = event.sending else {
                // Both, or the one that is left.
                if let failed { return 2 - failed.sending }
                return event == .callerGone ? 1 : 2
            }
            // It had ended before.
            if failed?.sending == sending { continue }
            if event.isGood { return sending + 1 }
            guard let before = failed else {
                failed = (sending, event)
                continue
            }
            let isDoubt = before.event == .firstBad || before.event == .firstLost
            return event == .secondConflict && isDoubt ? 1 : sending + 1
        }
        preconditionFailure("a series without an end")
    }

    @Test("One is judged and stands last, nothing is under way after it, and no permit is kept")
    func property() async {
        var random = SplitMix64(seed: 20_261_130)
        var seen = Set<Int>()
        for _ in 0..<15 {
            let yard = await Yard {
                ($0.traffic.budget.percent, $0.traffic.window.isEnabled) = (100, false)
                $0.traffic.breaker.isEnabled = false
                // Fifteen of them leave the load in the budget's memory.
                $0.timeouts.attempt = .milliseconds(500)
            }
            for _ in 0..<15 {
                var events: [Event] = []
                for _ in 0..<3 { events.append(Event.allCases[Int(random.next() % 10)]) }
                events.append(random.next() % 2 == 0 ? .callerGone : .deadline)
                let wanted = judged(events)
                seen.insert(wanted)
                let before = yard.transport.sent.count
                let task = Task { await yard.perform() }
                await yard.late()
                await yard.both()
                for event in events where yard.transport.waiting > 0 {
                    let ends = event.sending.map { [$0] } ?? [0, 1]
                    if event == .deadline { yard.time.advance(by: yard.route.policy.timeouts.attempt) }
                    if event == .callerGone { task.cancel() }
                    for sending in ends {
                        yard.transport.end(before + sending, event.end())
                        await untilIdle()
                    }
                }
                let ended = await task.value
                let standing = yard.memory.traffic.tell(yard.route, yard.time.now()) { $0.hedging }
                #expect(ended.attempts.map(\.number) == [3 - wanted, wanted], "\(events)")
                #expect(ended.attempts.map { $0.next == .hedge } == [true, false], "\(events)")
                #expect(yard.underWay == [0, 0] && standing == 0, "\(events)")
                #expect(yard.transport.waiting == 0 && yard.transport.sent.count == before + 2)
            }
        }
        #expect(seen == [1, 2])
    }
}
