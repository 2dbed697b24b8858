import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore

@Suite("Content that moves")
struct ContentTimeTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func machine(timeout: Duration? = nil, moved: Duration = .zero) -> RecoveryMachine {
        let route = makeRoute {
            $0.timeouts.attempt = .seconds(10)
            $0.timeouts.total = .seconds(30)
        }
        var options = JobOptions()
        options.timeout = timeout
        return RecoveryMachine(route: route, method: .get, options: options, now: start, moved: moved)
    }

    private func seconds(_ moment: Instant) -> Int64 {
        (moment.nanoseconds - start.nanoseconds) / 1_000_000_000
    }

    @Test("The limits of attempt and request stand still while it does")
    func standsStill() {
        var machine = machine()
        var plan = machine.attemptBegan(at: start, wall: 0)
        #expect(seconds(plan.deadline) == 10 && seconds(machine.deadline) == 30)
        plan = machine.contentMoved(for: .seconds(84), plan)
        #expect(seconds(plan.deadline) == 94 && seconds(machine.deadline) == 114)
        #expect(plan.limit.text == "timeouts.attempt (10s)" && plan.end == nil)
    }

    @Test("Time in which content moved before the first attempt counts as little")
    func movedBefore() {
        let machine = machine(moved: .seconds(50))
        #expect(seconds(machine.deadline) == 80)
    }

    @Test("The next attempt has its own time, and the request what is left of its own")
    func nextAttempt() {
        var machine = machine()
        _ = machine.contentMoved(for: .seconds(60), machine.attemptBegan(at: start, wall: 0))
        let plan = machine.attemptBegan(at: start.advanced(by: .seconds(85)), wall: 0)
        #expect(seconds(plan.deadline) == 90 && plan.limit.text == "timeouts.total (30s)")
    }

    @Test("A caller that names its time has all of it bounded", arguments: [20, 40])
    func callersTime(named: Int) {
        var machine = machine(timeout: .seconds(named))
        let plan = machine.contentMoved(for: .seconds(84), machine.attemptBegan(at: start, wall: 0))
        #expect(seconds(machine.deadline) == Int64(named) && seconds(plan.deadline) == Int64(named))
        #expect(plan.end?.moment == plan.deadline && plan.limit.text == "the caller's timeout (\(named)s)")
    }

    /// Whether any of so many pieces, each after that many seconds, ends a window that was too slow.
    private func isSlow(
        _ pace: inout TransferPace,
        _ count: Int,
        times: Int,
        after seconds: Int64,
        _ floor: RateFloor
    ) -> Bool {
        (0..<times).contains { _ in pace.isTooSlow(count, after: seconds * 1_000_000_000, floor) }
    }

    @Test("A pace is the average of the time in which it was waited for")
    func pace() {
        let floor = RateFloor(bytesPerSecond: 1_000, idle: .seconds(10))
        var pace = TransferPace()
        let (early, late) = (
            isSlow(&pace, 999, times: 29, after: 1, floor), isSlow(&pace, 999, times: 1, after: 1, floor)
        )
        #expect(!early && late)
        let brisk = isSlow(&pace, 1_000, times: 300, after: 1, floor)
        // A piece that nobody waited for is not slow, however late it came; and none is where any pace will do.
        let unawaited = isSlow(&pace, 1, times: 300, after: 0, floor)
        let free = isSlow(&pace, 0, times: 300, after: 1, .none)
        #expect(!brisk && !unawaited && !free)
    }

    @Test("A pause that idle allows is no pace that is too slow")
    func pause() {
        let floor = RateFloor(bytesPerSecond: 1_000, idle: .seconds(300))
        var pace = TransferPace()
        let (first, second) = (
            isSlow(&pace, 1, times: 1, after: 290, floor), isSlow(&pace, 400_000, times: 1, after: 20, floor)
        )
        #expect(!first && !second)
    }
}
