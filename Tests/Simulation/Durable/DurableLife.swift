import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayTestSupport

/// One process, from its start to its stop or crash.
final class DurableLife {
    let number: Int
    /// Whether the process is gone: nothing it does counts.
    var isDead = false
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
final class DurableDaemon: SimulatedDaemon {
    let life: DurableLife

    init(_ number: Int, _ memory: MemoryJobStore, _ world: DurableWorld) {
        let life = DurableLife(number)
        let (here, alive, queue) = (Confined(world), Confined(life), world.queue)
        self.life = life
        // Most connections are kept, and some of those turn out to be gone.
        let start: Starter = { work in Task(executorPreference: queue) { await work() } }
        let time = SimulatedTime(here)
        super.init(
            world.snapshot(nil),
            DurableStore(memory, here, alive),
            time: time,
            clock: PromptClock(time, start: start),
            transport: PromptOver(
                SimulatedTransport { (request, port) async throws(Failure) in
                    try await here.take(request, port, by: alive)
                },
                start: start,
                isGone: { here.value.isPrompt(20) }
            ),
            listener: SimulatedListener { if !alive.value.isDead { here.value.heard($0) } },
            entropy: { SimulatedEntropy(seed: world.draw.next()) },
            settings: world.settings,
            feed: 1 << 14,
            lanes: 2,
            document: { here.value.document(of: $0) },
            start: { work in
                alive.value.running += 1
                return Task(executorPreference: queue) {
                    await work()
                    alive.value.running -= 1
                }
            }
        )
    }

    /// Passes on the store's reports of jobs that are over.
    func tell(_ jobs: [JobChange]) { for job in jobs { announcer.record(.ended(JobReport(job))) } }
}

extension DurableWorld {
    /// Hears of pauses, which the checker has no other way to see begin.
    fileprivate func heard(_ event: JobEvent) {
        switch event {
        case .routePaused(let route, let pause): checker.paused(route, until: pause.until, wall: wall)
        case .routeResumed(let route, _): checker.resumed(route)
        default: break
        }
    }
}
