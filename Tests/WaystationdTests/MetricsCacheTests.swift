import RelayServer
import Synchronization
import Testing

@testable import waystationd

@Suite("A caller that asks for the metrics")
struct MetricsDeskTests {
    private final class Clock: Sendable {
        let now = Atomic<Int64>(0)
        let texts = Atomic<Int>(0)

        /// Composes the next text, which takes so long.
        func compose(taking nanoseconds: Int64) -> [UInt8] {
            now.add(nanoseconds, ordering: .relaxed)
            return [UInt8(texts.add(1, ordering: .relaxed).newValue)]
        }
    }

    private let clock = Clock()

    private func desk() -> MetricsCache { MetricsCache { [clock] in clock.now.load(ordering: .relaxed) } }

    @Test("Gets the text of before for ten times as long as it took, and then another")
    func age() async {
        let (desk, clock) = (desk(), clock)
        func ask(_ format: MetricsText.Format = .prometheus) async -> [UInt8] {
            await desk.text(format) { clock.compose(taking: 100) }
        }
        #expect(await ask() == [1])
        clock.now.store(1_099, ordering: .relaxed)
        #expect(await ask() == [1])
        #expect(await ask(.openMetrics) == [2])
        clock.now.store(1_100, ordering: .relaxed)
        #expect(await ask() == [3])
    }

    @Test("Waits for the text that is being made, and has none made beside it", .timeLimit(.minutes(1)))
    func together() async {
        let (desk, clock) = (desk(), clock)
        let second = Mutex<Task<[UInt8], Never>?>(nil)
        let first = await desk.text(.prometheus) {
            // A caller that asks meanwhile gets this one's text.
            second.withLock {
                $0 = Task.immediate { await desk.text(.prometheus) { clock.compose(taking: 1) } }
            }
            return clock.compose(taking: 1_000_000)
        }
        #expect(first == [1])
        #expect(await second.withLock { $0 }?.value == [1])
        #expect(clock.texts.load(ordering: .relaxed) == 1)
    }
}
