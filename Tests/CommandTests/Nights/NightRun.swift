import RelayBase
import RelayConfig
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute
import RelayServer
import RelayTestSupport
import RelayTesting
import Synchronization

@testable import waystationd

/// All jobs of a night through the machine that serves, with the rules of one configuration.
final class NightRun: Sendable {
    private let jobs: Mutex<[ImaginedJob?]>

    init(_ night: Night, _ configuration: Configuration) {
        jobs = Mutex(Array(repeating: nil, count: night.callers.count))
        let route = configuration.routes[0]
        var plan = ForecastPlan(route, ImaginedSeries([.good]), of: configuration, wall: Night.begins)
        plan.isAmongOthers = true
        let world = ImaginedWorld(plan, chance: nil)
        let upstream = NightUpstream(night, world.time)
        let ports = RelayPorts(
            transport: upstream,
            time: world.time,
            entropy: SeededEntropy(seed: night.seed),
            sink: upstream,
            start: { work in Task(executorPreference: world.time) { await work() } },
            signer: world
        )
        world.time.run { [self, plan] in
            let (relay, memory) = (Relay(ports: ports), RouteMemory())
            for (number, caller) in night.callers.enumerated() {
                try? await world.time.sleep(until: Instant(nanoseconds: caller.comes * 1_000_000))
                var own = plan
                own.body = Array(String(number).utf8)
                Task(executorPreference: world.time) { [own] in
                    let job = await ImaginedJob(own, world, relay, memory)
                    self.jobs.withLock { $0[number] = job }
                }
            }
        }
    }

    /// Whether each of them was delivered; nil of one that came to no end.
    var delivered: [Bool?] {
        jobs.withLock {
            $0.map { job in job.flatMap { $0.machine.state.isTerminal ? $0.machine.state == .succeeded : nil }
            }
        }
    }

    /// The documents of all jobs, as the daemon gives them out.
    func documents(_ night: Night, _ route: Route) -> [Job] {
        jobs.withLock { $0 }.enumerated().compactMap { number, imagined in
            guard let imagined else { return nil }
            let created = Night.begins + night.callers[number].comes
            var job = Job()
            (job.id, job.route, job.stateWord) = (String(number), route.name, imagined.machine.state.name)
            job.end = imagined.machine.end?.rawValue
            job.createdAt = WallTime(milliseconds: created)
            job.expiresAt = imagined.machine.expiresAt.map { WallTime(milliseconds: $0) }
            job.finishedAt = imagined.machine.finishedAt.map { WallTime(milliseconds: $0) }
            (job.request.method, job.request.path) = ("POST", "/orders/\(number)")
            (job.maxAttempts, job.countedAttempts) = (imagined.maxAttempts, imagined.attempts.count)
            (job.isDurable, job.version) = (true, 1)
            job.listedAttempts = imagined.attempts.suffix(100).map { Job.Attempt($0, since: created) }
            if imagined.machine.state != .succeeded {
                job.lastFailure = imagined.failure.map {
                    Job.Failure($0, of: imagined.attempts.last?.upstream)
                }
            }
            return job
        }
    }
}
