import RelayCore
import RelayEngine
import RelayJobs
import RelayTestSupport

/// One process, from its start to its stop or crash.
final class DurableLife {
    let number: Int
    /// Whether the process is gone: nothing it does counts.
    var isDead = false
    /// Whether it takes up work.
    var isServing = false
    /// Tasks of its loops.
    var running = 0
    /// Tasks of its callers.
    var callers: [Int: Task<Void, Never>] = [:]
    var nextCaller = 0
    /// The last event of the feed that was read.
    var read: UInt64 = 0

    init(_ number: Int) { self.number = number }
}

/// The engine of one process, with its durable side.
final class DurableDaemon {
    let life: DurableLife
    let memory: MemoryJobStore
    let store: DurableStore
    let engine: Engine
    let jobs: DurableJobs
    private let announcer: Announcer
    let relays: [Relay]

    init(_ number: Int, _ memory: MemoryJobStore, _ world: DurableWorld) {
        let life = DurableLife(number)
        let (here, alive) = (Confined(world), Confined(life))
        self.life = life
        self.memory = memory
        store = DurableStore(memory, here, alive)
        let time = DurableTime(here)
        engine = Engine(
            snapshot: world.snapshot(nil),
            time: time,
            entropy: SimulatedEntropy(seed: world.draw.next())
        )
        let audience = Audience(engine, feed: EventFeed(capacity: 1 << 14))
        let announcer = audience.announcer(and: [DurableListener(here, alive)])
        self.announcer = announcer
        jobs = DurableJobs(store: store, audience, announcer, settings: world.settings, digest: { $0 })
        let queue = world.queue
        // Most connections are kept, and some of those turn out to be gone.
        let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never> = { work in
            Task(executorPreference: queue) { await work() }
        }
        let transport = PromptOver(
            DurableTransport(here, alive),
            start: start,
            isGone: { here.value.isPrompt(20) }
        )
        let clock = PromptClock(time, start: start)
        relays = (0..<2).map { _ in
            Relay(
                ports: RelayPorts(
                    transport: transport,
                    time: clock,
                    entropy: SimulatedEntropy(seed: world.draw.next()),
                    sink: announcer,
                    start: { work in
                        alive.value.running += 1
                        return Task(executorPreference: queue) {
                            await work()
                            alive.value.running -= 1
                        }
                    }
                )
            )
        }
    }
}

extension DurableDaemon {
    /// Passes on the store's reports of jobs that are over.
    func tell(_ jobs: [JobChange]) { for job in jobs { announcer.record(.ended(JobReport(job))) } }
}

/// Hears of pauses, which the checker has no other way to see begin.
final class DurableListener: JobListener {
    private let world: Confined<DurableWorld>
    private let life: Confined<DurableLife>

    init(_ world: Confined<DurableWorld>, _ life: Confined<DurableLife>) {
        self.world = world
        self.life = life
    }

    func heard(_ event: JobEvent, at wall: Int64) {
        guard !life.value.isDead else { return }
        switch event {
        case .routePaused(let route, let pause):
            world.value.checker.paused(route, until: pause.until, wall: world.value.wall)
        case .routeResumed(let route, _): world.value.checker.resumed(route)
        default: break
        }
    }
}
