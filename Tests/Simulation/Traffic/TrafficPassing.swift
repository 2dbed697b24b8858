import RelayBase
import RelayCore
import RelayEngine
import RelayRoute

/// How the requests of a world go that need only be passed on.
enum TrafficMode: String, CaseIterable, Sendable {
    case off
    /// Without the ordinary objects, unless something else comes of them.
    case on
    /// Each becomes an ordinary one right after it was sent.
    case promote
}

/// A bug put in on purpose, between what is passed through and what the core is told of it.
enum PassingPlant: String, PlantedBug {
    /// An answer that is passed on is not told to the route's traffic.
    case tellsNoTraffic = "tells-no-traffic: the route counts"
    /// A promotion takes the present for the moment of the sending.
    case readsTheClock = "reads-the-clock: the records differ"
    case losesLeave = "loses-leave: the route counts"
    case looksAway = "looks-away: the records differ | asked for patience"

    static let differ = "the records differ"
}

/// Passes requests through in a world: asks the core as the daemon's own part does, and promotes as that does.
struct TrafficPassing {
    let world: Confined<TrafficWorld>
    let daemon: SimulatedDaemon
    let admission: Admission
    let job: TrafficJob

    private var engine: Engine { daemon.engine }
    private var relay: Relay { daemon.relays[0] }

    /// The outcome of a request that is plain and may be sent at once; nil where nothing was done.
    func outcome() async -> Outcome? {
        let (entry, world) = (admission.entry, world.value)
        guard world.mode != .off, isPlain,
            let policy = PassThroughPolicy(entry.route, entry.memory.upstreams),
            !entry.state.isPausedNow, entry.state.enterPlainly()
        else { return nil }
        let began = world.timeline.now
        guard let leave = leave(policy, began) else {
            entry.state.releasePlainly()
            return nil
        }
        world.checker.note("passed through")
        engine.countRunning(true)
        let wall = relay.ports.time.wallMilliseconds()
        // The request that the world's transport reads is made by an execution of its own, which is let go.
        guard let request = adopted(nil, since: began, wall: wall)?.1 else {
            preconditionFailure("a request that is passed through can be prepared")
        }
        let early = world.mode == .promote ? adopted(leave, since: began, wall: wall)?.0 : nil
        let result: PromptResult
        do throws(Failure) {
            result = .answer(try await relay.ports.transport.send(request))
        } catch {
            result = .failure(error)
        }
        if early == nil, case .answer(let inbound) = result, passes(inbound.response, policy) {
            return passedOn(inbound, policy, leave.leave, since: began, wall: wall)
        }
        let moment = world.passingPlant == .readsTheClock ? world.timeline.now : began
        guard let execution = early ?? adopted(leave, since: moment, wall: wall)?.0 else {
            preconditionFailure("a request that is passed through can be promoted")
        }
        world.checker.note("promoted")
        let run = RequestRun(adopting: execution, engine, admission, relay, since: began)
        switch run.tell(result, Deaf()) {
        case .ended: return run.end()
        case .sent, .waits: return await run.finish()
        }
    }

    /// Whether it says nothing but what it wants of its upstream.
    private var isPlain: Bool {
        let options = admission.context.options
        return !admission.mayBeKept && job.urgency == 3
            && !admission.request(.empty).fields.contains(.idempotencyKey)
            && options.maxAttempts == nil && options.timeout == nil && !options.collectsAnswer
            && options.allowsFallback && !options.hasIdempotencyKey
    }

    /// Leave, where there is any to ask for; nil where the ordinary path has to ask.
    private func leave(_ policy: PassThroughPolicy, _ now: Int64) -> (leave: AttemptGrant?, Void)? {
        guard policy.usesTraffic else { return (nil, ()) }
        return admission.entry.memory.traffic.grantPlainly(admission.entry.route, now).map { ($0, ()) }
    }

    private func adopted(
        _ leave: (leave: AttemptGrant?, Void)?,
        since began: Int64,
        wall: Int64
    ) -> (Execution, OutboundRequest)? {
        let isLost = world.value.passingPlant == .losesLeave
        return try? relay.adopt(
            admission.request(.empty),
            admission.context,
            admission.snapshot.vault,
            since: began,
            wall: wall,
            grant: isLost ? nil : leave?.leave,
            token: nil,
            sending: Deaf()
        )
    }

    /// As the reader of plain answers decides, by status and fields.
    private func passes(_ response: HTTPResponse, _ policy: PassThroughPolicy) -> Bool {
        guard policy.takes(Int(response.status.rawValue), PassThroughPolicy.usual) else { return false }
        if case .stream = response.body { return false }
        return response.fields.entries.isEmpty || world.value.passingPlant == .looksAway
    }

    private func passedOn(
        _ inbound: InboundResponse,
        _ policy: PassThroughPolicy,
        _ leave: AttemptGrant?,
        since began: Int64,
        wall: Int64
    ) -> Outcome {
        let (entry, now) = (admission.entry, world.value.timeline.now)
        if let leave, world.value.passingPlant != .tellsNoTraffic {
            let change = entry.memory.traffic.endedPlainly(
                leave,
                asked: { admission.context.requestClass },
                of: entry.route,
                random: relay.ports.entropy.next(),
                now
            )
            if let change { relay.ports.sink.record(.breakerChanged(route: entry.route.name, change)) }
        }
        var attempt = Attempt(
            number: 1,
            upstream: policy.upstream.name,
            beganAt: wall,
            duration: .nanoseconds(now - began)
        )
        attempt.status = inbound.response.status
        attempt.exchange = inbound.exchange
        let outcome = Outcome(admission.context, inbound.response, by: .upstream, attempts: [attempt])
        relay.ports.sink.record(.ended(outcome.report))
        entry.state.releasePlainly()
        engine.countRunning(false)
        return outcome
    }
}

/// Hears nothing and stops nothing: the world's transport is waited for.
private final class Deaf: AnswerReceiver, RelayRoute.Sending {
    func received(_ result: PromptResult) {}
    func cancel() {}
}
