import RelayBase
import RelayCore
import RelayTestSupport
import Synchronization

/// The clock and the waits the core sees.
final class SimulatedTime: TimeSource {
    private let world: Confined<World>
    private let plant: Plant?

    /// The world's start by its calendar, in milliseconds since 1970: a second with a fraction.
    static let wallStart: Int64 = 1_800_000_000_250

    init(_ world: Confined<World>, _ plant: Plant?) {
        self.world = world
        self.plant = plant
    }

    func now() -> Instant { Instant(nanoseconds: world.value.timeline.now) }

    func wallMilliseconds() -> Int64 { SimulatedTime.wall(at: world.value.timeline.now) }

    /// The calendar's time at that moment of the timeline.
    static func wall(at moment: Int64) -> Int64 { wallStart + moment / 1_000_000 }

    func sleep(until deadline: Instant) async throws(CancellationError) {
        var at = deadline.nanoseconds
        switch plant {
        case .late: at = at.addingReportingOverflow(7_000_000).partialValue
        case .early: at -= (at - world.value.timeline.now) / 8
        case .deaf:
            let (world, until) = (world, at)
            await Task(executorPreference: world.value.queue) { _ = await world.pause(until: until) }.value
            return
        default: break
        }
        if await !world.pause(until: at) { throw CancellationError() }
    }
}

/// Seeded, and now and then at one of the two ends, but for some bits by which ids of one moment differ.
final class SimulatedEntropy: Entropy {
    private let draw: Mutex<SplitMix64>

    init(seed: UInt64) { draw = Mutex(SplitMix64(seed: seed)) }

    func next() -> UInt64 {
        draw.withLock { draw in
            switch draw.below(64) {
            case 0: draw.next() >> 40
            case 1: .max - draw.next() >> 40
            default: draw.next()
            }
        }
    }
}

/// Hands every event to the checker.
final class SimulatedSink: EventSink {
    private let world: Confined<World>

    init(_ world: Confined<World>) { self.world = world }

    func record(_ event: JobEvent) { world.value.checker.recorded(event) }
}
