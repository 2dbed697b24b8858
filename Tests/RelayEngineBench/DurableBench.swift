package import RelayBase
package import RelayCore
package import RelayEngine
package import RelayJobs
package import RelayRoute
import RelayServer
package import RelayTestSupport
import Synchronization
package import Testing

/// A daemon's durable side with one route, and everything behind it under the test's control.
package final class DurableBench: Sendable {
    /// Where the store finds the jobs that are made from it.
    private final class Shared: Sendable {
        let jobs = Mutex<DurableJobs?>(nil)
        let announcer = Mutex<Announcer?>(nil)
    }

    /// Counts the tasks of the loops.
    private final class Tasks: Sendable {
        let count = Atomic<Int>(0)
        /// Those that the relay has started, in all.
        let started = Atomic<Int>(0)
    }

    package let time: VirtualTime
    package let transport: ScriptedTransport
    package let sink = RecordingSink()
    package let store: MemoryJobStore
    package var faults: StoreFaults { store.faults }
    package let engine: Engine
    package let jobs: DurableJobs
    package let room: QueueCapacity
    private let relays: [Relay]
    /// Of the first loop.
    package var ports: RelayPorts { relays[0].ports }
    private let shared: Shared
    private let tasks = Tasks()
    /// Whether the network is constrained.
    private let network = Flag()

    /// The connection that a run finds; with one that is alive it needs no task while it only waits for its upstream.
    package enum Connections: Sendable, CaseIterable {
        case alive
        /// A kept one turns out to be gone.
        case gone
        /// Runs of this transport have tasks.
        case ofTasks
    }

    /// With `earlier` the next process after that one's crash.
    package init(
        after earlier: DurableBench? = nil,
        connections: Connections = .alive,
        maxQueued: Int = 100,
        maxQueuedPerUser: Int? = nil,
        vault: CredentialVault = CredentialVault([], secrets: [:]),
        listeners: [any JobListener] = [],
        _ change: (inout RoutePolicy) -> Void = { _ in },
        answer: @escaping @Sendable (OutboundRequest) -> ScriptedTransport.Step
    ) {
        let time = earlier?.time ?? VirtualTime(.manual)
        self.time = time
        let shared = earlier?.shared ?? Shared()
        self.shared = shared
        // Nobody of the process that crashed hears of anything.
        shared.jobs.withLock { $0 = nil }
        engine = Engine(
            snapshot: DurableBench.snapshot(vault: vault, change),
            time: time,
            entropy: SeededEntropy()
        )
        let audience = Listeners(engine, feed: EventFeed())
        room = audience.capacity
        let announcer = audience.announcer(and: [sink] + listeners)
        shared.announcer.withLock { $0 = announcer }
        var events = JobStoreEvents()
        events.ready = { routes in shared.jobs.withLock { $0 }?.ready(routes) }
        events.ended = { jobs in
            for job in jobs { shared.announcer.withLock { $0 }?.record(.ended(JobReport(job))) }
        }
        store =
            earlier.map { MemoryJobStore(afterCrashOf: $0.store, at: JobMoment(time)) }
            ?? MemoryJobStore(at: JobMoment(time), events: events)
        transport = ScriptedTransport(time: time, answer: answer)
        var settings = DurableBench.settings(maxQueued: maxQueued)
        settings.maxQueuedPerUser = maxQueuedPerUser
        jobs = DurableJobs(store: store, audience, announcer, settings: settings, digest: { $0 })
        let (transport, tasks, network, engine) = (transport, tasks, network, engine)
        let clock: any TimeSource =
            connections == .ofTasks ? time : PromptClock(time) { DurableBench.start($0, tasks) }
        relays = (1...2).map { seed in
            Relay(
                ports: RelayPorts(
                    transport: DurableBench.over(transport, connections, tasks),
                    time: clock,
                    entropy: SeededEntropy(seed: UInt64(seed)),
                    sink: announcer,
                    start: { work in
                        tasks.started.add(1, ordering: .relaxed)
                        return DurableBench.start(work, tasks)
                    },
                    execute: { work in _ = DurableBench.start({ work() }, tasks) },
                    isConstrained: { network.isSet },
                    presentUse: { engine.constrainedUse(of: $0) }
                )
            )
        }
        let jobs = jobs
        shared.jobs.withLock { $0 = jobs }
    }

    /// The network is constrained from now on, or not any more.
    package func constrain(_ isConstrained: Bool, tells: Bool = true) {
        network.set(isConstrained)
        if tells { jobs.networkChanged() }
    }

    /// Another configuration comes into force, as a reload has it.
    package func reconfigure(_ change: (inout RoutePolicy) -> Void) {
        engine.install(DurableBench.snapshot(previous: engine.snapshot, change))
        jobs.configured(DurableBench.settings(maxQueued: 100))
    }

    private static func start(
        _ work: @escaping @Sendable () async -> Void,
        _ tasks: Tasks
    ) -> Task<Void, Never> {
        tasks.count.add(1, ordering: .relaxed)
        return Task {
            await work()
            tasks.count.subtract(1, ordering: .relaxed)
        }
    }

    private static func over(
        _ transport: ScriptedTransport,
        _ connections: Connections,
        _ tasks: Tasks
    ) -> any Transport {
        if connections == .ofTasks { return transport }
        return PromptOver(
            transport,
            start: { start($0, tasks) },
            isGone: { connections == .gone }
        )
    }

    /// Tasks that the relay has needed so far.
    package var tasksStarted: Int { tasks.started.load(ordering: .relaxed) }

    package static func settings(maxQueued: Int) -> DurableJobs.Settings {
        var settings = DurableJobs.Settings()
        settings.maxQueued = maxQueued
        return settings
    }

    package static func snapshot(
        previous: Snapshot? = nil,
        vault: CredentialVault = CredentialVault([], secrets: [:]),
        names: [String] = ["hooks", "other"],
        _ change: (inout RoutePolicy) -> Void = { _ in }
    ) -> Snapshot {
        var policy = RoutePolicy(upstreams: [Upstream(name: "one", origin: .unix(path: "/one"))])
        policy.delivery.mode = .durable
        var retry = RetryPolicy()
        retry.maxAttempts = 4
        retry.backoff = Backoff(schedule: .list([.seconds(5), .seconds(60), .seconds(3600)]), jitter: .none)
        policy.recovery = [RecoveryRule(name: "later", on: FailureMatcher([.any]), action: .retry(retry))]
        change(&policy)
        return Snapshot(
            routes: names.map { Route(name: $0, policy: policy) },
            vault: vault,
            settings: Snapshot.Settings(),
            previous: previous
        )
    }

    package func start() async throws { try await jobs.start(on: relays.map { DeliveryLoop($0) }) }

    /// Ends everything.
    ///
    /// - Returns: whether nothing was left behind: no task, no waiter, no place.
    package func stop() async -> Bool {
        shared.jobs.withLock { $0 = nil }
        jobs.abort()
        await untilIdle()
        return tasks.count.load(ordering: .relaxed) == 0 && time.sleeperCount == 0 && transport.heldCount == 0
            && jobs.inFlight == 0
            && engine.snapshot.routes.values.allSatisfy { $0.state.load == (0, 0) }
    }

    package func admit(
        _ fields: [(String, String)] = [],
        route: String = "hooks",
        method: Method = .put,
        target: String = "x",
        user: UInt32 = 1000,
        share: CallerShare? = nil
    ) throws(Problem) -> Admission {
        var all = HeaderFields()
        for (name, value) in fields { all.append(name, value) }
        return try engine.admit(
            route: route,
            target: target,
            method: method,
            terms: RequestTerms(all),
            length: 0,
            client: ClientIdentity(user: user, process: 7, groups: [], unit: "shop.service"),
            share: share
        )
    }

    @discardableResult
    package func submit(
        _ fields: [(String, String)] = [],
        route: String = "hooks",
        method: Method = .put,
        target: String = "x",
        body: String = "hello"
    ) async throws(Problem) -> JobID {
        let admission = try admit(fields, route: route, method: method, target: target)
        return try await jobs.acceptance.accept(admission, body: .bytes(Array(body.utf8))).id
    }

    /// Accepts a job for a caller that waits only so long for the disk.
    package func acceptPatiently(_ admission: Admission) async throws(Problem) -> Acceptance.Accepted {
        let patience = StorageDeadline(relays[0].ports, admission.context.options)
        return try await jobs.acceptance.accept(admission, body: .bytes([]), patience)
    }

    /// A request that waits for its answer.
    package func answer() async throws -> Outcome {
        await engine.run(try admit(), body: .empty, relay: relays[0])
    }

    /// A request that waits for its answer, and that a rule may keep then.
    package func run(_ admission: Admission, body: Body = .bytes(Array("hello".utf8))) async -> Outcome {
        let keeper = StandInKeeper.made(admission, jobs, relays[0].ports)
        return await engine.run(admission, body: body, relay: relays[0], keeper: keeper)
    }

    /// Lets everybody go on who can, and expects it to be so then.
    package func until(
        _ isSo: () async throws -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async rethrows {
        await untilIdle()
        #expect(try await isSo(), sourceLocation: sourceLocation)
    }

    /// Lets time pass in tenths of a second, and expects it to be so within a minute.
    package func eventually(_ isSo: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async {
        for _ in 0..<600 {
            await untilIdle()
            if isSo() { return }
            time.advance(by: .milliseconds(100))
        }
        Issue.record("it is not so after a minute", sourceLocation: sourceLocation)
    }

    /// Lets everybody go on who can, and expects the job to be in that state then.
    ///
    /// - Returns: the job then.
    @discardableResult
    package func job(
        _ id: JobID,
        is state: JobState,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> StoredJob {
        await untilIdle()
        let job = try #require(try await store.job(id), sourceLocation: sourceLocation)
        #expect(job.state == state, sourceLocation: sourceLocation)
        return job
    }

    /// The targets of what was sent, in order.
    package var sent: [String] { transport.sent.map(\.target) }

    /// The reports of jobs that are over.
    package var ends: [JobReport] {
        sink.events.compactMap { if case .ended(let report) = $0 { report } else { nil } }
    }

    package func feed(_ kind: EventKind) -> [JobEvent] {
        jobs.feed.events(after: 0, limit: 10_000).events.map(\.event).filter { $0.kind == kind }
    }
}
