import RelayBase
import RelayTestSupport

/// A world with a clock and a queue of its own, drawn from one seed.
///
/// Single-threaded: whoever made it pumps it.
protocol Simulated: AnyObject, SendableMetatype {
    var queue: RunQueue { get }
    var timeline: Timeline { get }
    var draw: SplitMix64 { get set }
    /// The wall clock, in milliseconds since 1970, and as the core is told it.
    var wall: Int64 { get }
    var toldWall: Int64 { get }
    /// Whether sleeps hear of no cancellation.
    var isDeaf: Bool { get }
    /// When a sleep, or a wait that bounds something else, ends that is to end at that moment.
    func end(of moment: Int64, isSleep: Bool) -> Int64
}

extension Simulated {
    var wall: Int64 { Timeline.wall(at: timeline.now) }
    var toldWall: Int64 { wall }
    var isDeaf: Bool { false }
    func end(of moment: Int64, isSleep: Bool) -> Int64 { moment }

    @discardableResult
    func spawn(_ work: @escaping @Sendable (Confined<Self>) async -> Void) -> Task<Void, Never> {
        let here = Confined(self)
        return Task(executorPreference: queue) { await work(here) }
    }

    func call(after nanoseconds: Int64, _ body: @escaping (Self) -> Void) {
        timeline.add(.call { [self] in body(self) }, at: timeline.now + nanoseconds)
    }

    /// Goes on until it is over or nothing is left to happen; `settle` looks at every instant in which all has happened.
    func goOn(until isOver: () -> Bool, settle: () -> Void = {}) {
        while !isOver() {
            // Events of one instant may be noticed one by one or all at once.
            if !timeline.hasMoreNow() || draw.chance(60) { queue.run() }
            if !timeline.hasMoreNow() { settle() }
            guard timeline.goOn() else { return }
        }
    }
}

/// The clocks of a world.
final class SimulatedTime<World: Simulated>: TimeSource {
    private let world: Confined<World>

    init(_ world: Confined<World>) { self.world = world }

    func now() -> Instant { Instant(nanoseconds: world.value.timeline.now) }

    func wallMilliseconds() -> Int64 { world.value.toldWall }

    func sleep(until deadline: Instant) async throws(CancellationError) {
        let end = world.value.end(of: deadline.nanoseconds, isSleep: true)
        if world.value.isDeaf {
            let world = world
            await Task(executorPreference: world.value.queue) { _ = await world.pause(until: end) }.value
        } else if await !world.pause(until: end) {
            throw CancellationError()
        }
    }

    func expire(at deadline: Instant) async throws(CancellationError) {
        if world.value.isDeaf { return try await sleep(until: deadline) }
        let end = world.value.end(of: deadline.nanoseconds, isSleep: false)
        if await !world.pause(until: end) { throw CancellationError() }
    }
}
