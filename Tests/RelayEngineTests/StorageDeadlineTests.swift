import RelayBase
import RelayCore
import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayEngine

@Suite("How long a caller waits for the disk", .runQueue, .timeLimit(.minutes(5)))
struct PatienceTests {
    private func patience(_ time: VirtualTime, _ limit: Duration) -> StorageDeadline {
        let ports = RelayPorts(
            transport: ScriptedTransport([], time: time),
            time: time,
            entropy: SeededEntropy(),
            sink: RecordingSink(),
            start: { work in Task { await work() } }
        )
        return StorageDeadline(ports, atMost: limit)
    }

    /// A write that takes that long by a clock that the test moves.
    private func write(
        _ time: VirtualTime,
        _ duration: Duration,
        _ patience: inout StorageDeadline
    ) async -> Bool {
        let end = time.now().advanced(by: duration)
        var waiting = patience
        let task = Task { () -> (Bool, StorageDeadline) in
            let isDone = await waiting.wait { () -> Bool in
                try? await time.sleep(until: end)
                return true
            }
            return (isDone == true, waiting)
        }
        await untilIdle()
        time.advance(by: min(duration, patience.limit))
        let (isDone, left) = await task.value
        patience = left
        time.advance(by: .seconds(3_600))
        return isDone
    }

    @Test("A disk that works takes as long as it takes, whatever the number of pieces")
    func usual() async {
        let time = VirtualTime(.manual)
        var patience = patience(time, .seconds(2))
        for _ in 0..<100 { #expect(await write(time, .milliseconds(200), &patience)) }
    }

    @Test("All slow pieces together last no longer than it does")
    func whole() async {
        let time = VirtualTime(.manual)
        var patience = patience(time, .seconds(2))
        #expect(await write(time, .milliseconds(900), &patience))
        #expect(await write(time, .milliseconds(900), &patience))
        #expect(await !write(time, .milliseconds(900), &patience))
        #expect(patience.limit == .zero)
    }

    @Test(
        "A caller whose time is over as the store says its word waits for that word, however long it is on its way"
    )
    func onItsWay() async {
        let place = AcceptanceWaits.Waiter(deadline: .init(nanoseconds: 0))
        place.end()
        #expect(await place.pending.value() == nil)
        let late = Task { await place.pending.value() }
        await untilIdle()
        place.end()
        await untilIdle()
        place.pending.give(.success(.accepted))
        #expect(await late.value == .success(.accepted))
    }
}
