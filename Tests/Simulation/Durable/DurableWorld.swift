import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayRoute
import RelayTestSupport

/// Routes, upstreams, callers and operators around the durable side of the engine.
final class DurableWorld: Simulated {
    private static let routeCount = 5
    private static let credentialCount = 2

    let queue = RunQueue()
    let timeline = Timeline()
    let checker: DurableChecker
    let plant: DurablePlant?
    let jobCount: Int
    var draw: SplitMix64
    private var diskDraw: SplitMix64
    /// Draws which calls can be made without a task, and which need one.
    private var promptDraw: SplitMix64
    /// Draws which routes tell others of their endings, and all that belongs to it.
    var noticeDraw: SplitMix64
    var routes: [DurableRoute] = []
    var upstreams: [DurableUpstream] = []
    let vault: CredentialVault
    var tokens = 0
    /// By credential, until when its endpoint gives none.
    var illUntil: [Int64]
    var daemon: DurableDaemon?
    var lives = 0
    private(set) var memory: MemoryJobStore?
    /// Ended by the store while no process ran.
    private var early: [JobChange] = []
    var kept: [KeptPermit] = []
    /// Calls of the store that change something, under way.
    var writes = 0
    var isFull = false { didSet { if plant != .tellsWithoutRoom { memory?.setFull(isFull) } } }
    /// Whether a full disk has room for endings, which a reserve keeps.
    var hasReserve = false
    var lastTrouble: Int64 = 0
    var isDeafToReady = false
    /// Milliseconds the wall clock is ahead of the steady one.
    private(set) var offset: Int64 = 0
    private(set) var isHealed = false
    var isOver = false
    /// When something is planned, so that the clock leaps over none of it.
    var plans: [Int64] = []
    /// Looks since all has been well; too many, and a job waits for ever.
    var audited = 0

    init(seed: UInt64, jobs: Int, plant: DurablePlant?) {
        self.plant = plant
        jobCount = jobs
        draw = SplitMix64(seed: seed &* 0xD134_2543_DE82_EF95 &+ 7)
        diskDraw = SplitMix64(seed: draw.next())
        var other = diskDraw
        promptDraw = SplitMix64(seed: other.next())
        noticeDraw = SplitMix64(seed: other.next())
        checker = DurableChecker(timeline, wanted: plant?.sentences)
        illUntil = Array(repeating: 0, count: DurableWorld.credentialCount)
        let secret = SecretReference.file("s")
        vault = CredentialVault(
            (0..<DurableWorld.credentialCount).map { index in
                var settings = OAuth2Settings(
                    grant: .clientCredentials,
                    endpoint: Upstream(name: "endpoint", origin: .endpoint(index)),
                    target: "/token",
                    clientID: "client\(index)"
                )
                settings.clientSecret = secret
                settings.failureCooldown = .milliseconds(500)
                return CredentialDefinition(name: "c\(index)", kind: .oauth2(settings))
            },
            secrets: [secret: Secret("~s")]
        )
        for number in 0..<DurableWorld.routeCount {
            let credential = number < 3 && draw.chance(70) ? draw.below(DurableWorld.credentialCount) : nil
            routes.append(DurableRoute(number, &draw, credential: credential, plant: plant))
            upstreams.append(DurableUpstream(seed: draw.next()))
        }
        drawNotices()
        checker.routes = routes
    }

    var wall: Int64 { Timeline.wall(at: timeline.now) + offset }
    var moment: JobMoment { JobMoment(wall: wall, steady: timeline.now / 1_000_000) }

    var settings: DurableJobs.Settings {
        var settings = DurableJobs.Settings()
        let years: Duration = .seconds(20 * 365 * 86_400)
        (settings.retention.succeeded, settings.retention.dead, settings.retention.bodies) = (
            years, years, years
        )
        return settings
    }

    func snapshot(_ previous: Snapshot?) -> Snapshot {
        Snapshot(
            routes: routes.filter(\.isConfigured).map(\.route),
            vault: vault,
            settings: Snapshot.Settings(),
            previous: previous
        )
    }

    func isWell(_ credential: Int) -> Bool { isHealed || timeline.now >= illUntil[credential] }

    /// Whether something needs no task, so often in a hundred times.
    func isPrompt(_ percent: Int) -> Bool { promptDraw.chance(percent) }

    func storeDelay() -> Int64 {
        if diskDraw.chance(50) { return 0 }
        return diskDraw.time(diskDraw.chance(4) ? 50...400 : 0...8)
    }

    /// Over which the clock does not leap.
    func plan(after nanoseconds: Int64, _ body: @escaping (DurableWorld) -> Void) {
        plans.append(timeline.now + nanoseconds)
        call(after: nanoseconds, body)
    }

    func end(of moment: Int64, isSleep: Bool) -> Int64 {
        let isDeaf = plant == .deafWaiters && !isSleep && checker.hasWaiter(until: moment)
        return isDeaf ? .max : moment
    }

    func run() {
        GlobalQueue.enter(queue)
        defer { GlobalQueue.leave() }
        var events = JobStoreEvents()
        let here = Confined(self)
        events.ready = { here.value.ready($0) }
        events.ended = { here.value.ended($0) }
        hearNotices(&events)
        memory = MemoryJobStore(at: moment, events: events)
        boot()
        var at: Int64 = 0
        // Most of it within hours, some of it spread over days.
        let spread = draw.pick([120_000, 1_800_000, 36_000_000])
        for number in 0..<jobCount {
            at += draw.chance(30) ? 0 : draw.time(0...max(1, 2 * spread / jobCount))
            plan(after: at) { $0.submit(number) }
        }
        let actions = jobCount * 2 / 3
        for _ in 0..<actions { plan(after: draw.time(0...spread * 5 / 4)) { $0.meddle() } }
        plan(after: Int64(spread) * 1_300_000) { $0.heal() }
        call(after: 1_000_000_000) { $0.audit() }
        goOn(until: { checker.violation != nil })
        guard checker.violation == nil else { return }
        checker.quiet(sleeping: timeline.sleeping, isOver: isOver)
    }

    /// The store says what may be claimed: at once, or a little later, as another thread would.
    private func ready(_ work: [String: FreshWork]) {
        if plant == .losesReady || isDeafToReady { return }
        guard let daemon else { return }
        guard draw.chance(30) else { return daemon.jobs.ready(work) }
        let alive = Confined(daemon)
        call(after: draw.time(0...20)) { _ in if !alive.value.life.isDead { alive.value.jobs.ready(work) } }
    }

    private func ended(_ jobs: [JobChange]) {
        if plant == .losesEnds { return }
        if let daemon { daemon.tell(jobs) } else { early += jobs }
    }

    func boot() {
        guard let memory else { return }
        let daemon = DurableDaemon(lives, memory, self)
        daemon.tell(early)
        early = []
        lives += 1
        self.daemon = daemon
        checker.started(daemon.life.number, wall: wall)
        lastTrouble = timeline.now
        checker.tell(nil, "process \(daemon.life.number) starts")
        let alive = Confined(daemon)
        spawn { here in
            do throws(StoreError) {
                try await alive.start()
                alive.value.life.isServing = !alive.value.life.isDead
            } catch {
                if !alive.value.life.isDead { here.value.checker.fail(nil, "a start fails: \(error)") }
            }
        }
    }

    /// The process is gone from one moment to the next; the next one finds what is on disk.
    func crash() {
        guard let daemon, timeline.now - lastStep > 3_000_000_000 else { return }
        checker.tell(nil, "process \(daemon.life.number) crashes")
        checker.note("crashed with \(min(checker.flights.count, 3)) under way")
        end(daemon)
        checker.crashed(daemon.life.number)
        daemon.jobs.abort()
        restart()
    }

    func restart() {
        guard let memory else { return }
        self.memory = MemoryJobStore(afterCrashOf: memory, at: moment)
        adopt()
        boot()
    }

    func end(_ daemon: DurableDaemon) {
        checker.read(daemon)
        daemon.life.isDead = true
        daemon.life.isServing = false
        for number in daemon.life.callers.keys.sorted() { daemon.life.callers[number]?.cancel() }
        self.daemon = nil
    }

    /// Takes in what the next process has found out about the jobs that were in flight.
    func adopt() {
        guard let memory else { return }
        spawn { here in
            let jobs = (try? await memory.all()) ?? []
            for job in jobs {
                guard let facts = here.value.checker.byID[job.record.id] else { continue }
                if facts.runningSince != nil {
                    here.value.checker.tell(facts, "is found in flight: \(job.state.name)")
                    // How its attempt ended, if it did, is on no record.
                    facts.mayHaveActed = true
                }
                facts.runningSince = nil
                if job.state.isTerminal { here.value.checker.over(facts, job.state) }
            }
            await here.lookAtNotices(jobs)
        }
    }

    var lastStep: Int64 { checker.offsets.last.map { $0.from > 0 ? $0.from : -10_000_000_000 } ?? 0 }

    func step(by milliseconds: Int64) {
        checker.look(at: wall)
        offset += milliseconds
        checker.offsets.append((timeline.now, offset))
        checker.look(at: wall)
        lastTrouble = timeline.now
        checker.tell(nil, "the wall clock steps by \(milliseconds) ms")
        checker.note(milliseconds < 0 ? "clock stepped back" : "clock stepped ahead")
    }

    func heal() {
        checker.tell(nil, "all is well from now on")
        isHealed = true
        isFull = false
        lastTrouble = timeline.now
        for upstream in upstreams { upstream.isHealed = true }
        for route in routes { route.isConfigured = true }
        reload()
        for round in 0..<4 { plan(after: Int64(round) * 90_000_000_000 + 1) { $0.letGo() } }
    }

    func reload() {
        guard let daemon, !daemon.life.isDead else { return }
        daemon.engine.install(snapshot(daemon.engine.snapshot))
        daemon.jobs.configured(settings)
    }
}
