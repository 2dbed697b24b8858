import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayTestSupport
import Testing

@Suite("The feed of events", .runQueue, .timeLimit(.minutes(5)))
struct EventFeedTests {
    private func feed(_ count: Int, capacity: Int = 4, first: UInt64 = 1) -> EventFeed {
        let feed = EventFeed(capacity: capacity, first: first)
        for index in 0..<count {
            feed.heard(.routeResumed(route: "r\(index + 1)"), at: Int64(index))
        }
        return feed
    }

    @Test(
        "A reader goes on where it was, and learns how many events it has missed",
        arguments: [
            (0, 0, 10, [], 0, 0), (3, 0, 10, [1, 2, 3], 0, 3), (3, 2, 10, [3], 0, 3), (3, 3, 10, [], 0, 3),
            (3, 0, 2, [1, 2], 0, 2), (10, 0, 10, [7, 8, 9, 10], 6, 10), (10, 5, 2, [7, 8], 1, 8),
            (10, 6, 10, [7, 8, 9, 10], 0, 10), (10, 0, 0, [], 6, 6),
        ] as [(Int, UInt64, Int, [UInt64], UInt64, UInt64)]
    )
    func reading(count: Int, after: UInt64, limit: Int, numbers: [UInt64], lost: UInt64, next: UInt64) {
        let reading = feed(count).events(after: after, limit: limit)
        #expect(reading.events.map(\.number) == numbers && reading.lastNumber == next)
        #expect(reading.gap == (lost > 0 ? .lost(lost) : nil))
        #expect(
            reading.events.allSatisfy { $0.event.route == "r\($0.number)" && $0.at == Int64($0.number) - 1 }
        )
    }

    @Test(
        "A reader of the process before sees all there is and learns that events may be lost",
        arguments: [
            (1, 3, [1_001, 1_002, 1_003], true), (999, 3, [1_001, 1_002, 1_003], true),
            (1_000, 3, [1_001, 1_002, 1_003], false), (1_002, 3, [1_003], false),
            (999, 6, [1_003, 1_004, 1_005, 1_006], true), (5_000, 3, [1_001, 1_002, 1_003], true),
            (0, 3, [1_001, 1_002, 1_003], false), (7, 0, [], true),
        ] as [(UInt64, Int, [UInt64], Bool)]
    )
    func earlierProcess(after: UInt64, count: Int, numbers: [UInt64], hasGap: Bool) {
        let feed = feed(count, first: 1_001)
        let reading = feed.events(after: after, limit: 10)
        #expect(reading.events.map(\.number) == numbers)
        #expect(reading.gap == (hasGap ? .unknown : nil))
        #expect(reading.lastNumber == UInt64(1_000 + count))
        // It is told once.
        #expect(feed.events(after: reading.lastNumber, limit: 10).gap == nil)
    }

    @Test("The numbers of a later process are above those of an earlier one, and exact as a JSON double")
    func numbersOfProcesses() {
        let first = EventFeed.firstNumber(at: 1_800_000_000_000)
        #expect(EventFeed.firstNumber(at: 1_800_000_000_001) > first && first > 1_000_000)
        #expect(EventFeed.firstNumber(at: .max) < 1 << 53 && EventFeed.firstNumber(at: .min) > 0)
    }

    @Test("A new reader sees what comes from now on")
    func fromNow() {
        let feed = feed(10)
        let reading = feed.events(after: nil, limit: 10)
        #expect(reading.events.isEmpty && reading.gap == nil && reading.lastNumber == 10)
        feed.heard(.notice(.configReloaded), at: 1)
        #expect(feed.events(after: reading.lastNumber, limit: 10).events.map(\.kind) == [.configReloaded])
    }

    @Test(
        "A reader that waits goes on with the next event, at the deadline or when cancelled, and nobody is left behind"
    )
    func waiting() async {
        let feed = feed(2)
        let time = VirtualTime(.manual)
        let deadline = time.now().advanced(by: .seconds(5))
        await feed.wait(after: 1, by: deadline, time)
        let woken = Task { await feed.wait(after: 2, by: deadline, time) }
        let late = Task { await feed.wait(after: 3, by: deadline, time) }
        let cancelled = Task { await feed.wait(after: 3, by: .distantFuture, time) }
        await untilIdle()
        feed.heard(.notice(.configReloaded), at: 1)
        await woken.value
        // The event has woken all; a second look is the reader's.
        await late.value
        await cancelled.value
        let again = Task { await feed.wait(after: 3, by: deadline, time) }
        let gone = Task { await feed.wait(after: 3, by: .distantFuture, time) }
        await untilIdle()
        gone.cancel()
        await gone.value
        await untilIdle()
        time.advance(by: .seconds(5))
        await again.value
        #expect(feed.waiterCount == 0 && time.sleeperCount == 0)
    }
}
