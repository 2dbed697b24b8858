import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayTestSupport

/// Hands one request over to the world's kept jobs where a rule answers it, and refuses that now and then.
final class TrafficKeeper: RequestKeeper {
    private let world: Confined<TrafficWorld>
    private let admission: Admission
    private let job: Confined<TrafficJob>

    init(_ world: Confined<TrafficWorld>, _ admission: Admission, _ job: TrafficJob) {
        (self.world, self.admission) = (world, admission)
        self.job = Confined(job)
    }

    func keep(_ body: Body, _ past: PriorAttempts) async -> KeepAnswer {
        let (plant, checker) = (world.value.plant, world.value.checker)
        checker.isToBeKept(job.value)
        if world.value.draw.chance(10) {
            checker.keepRefused(job.value)
            return .refused("simulated")
        }
        checker.goesOn(job.value, past)
        let name = KeptJobName(admission.id)
        var told = past
        plant?.change(&told)
        switch plant {
        case .dropsKept: return .kept(name)
        case .answersEarly:
            let (admission, past) = (admission, told)
            world.value.spawn { world in
                await world.outwait(until: world.value.timeline.now + 20_000_000)
                await world.accept(admission, past)
            }
            return .kept(name)
        case .keepsTwice:
            await world.accept(admission, told)
            if let second = world.value.admitAgain(admission) { await world.accept(second, told) }
        default: await world.accept(admission, told)
        }
        admission.releaseIdempotencyKey()
        return plant == .keepsSilently ? .refused("simulated") : .kept(name)
    }
}

extension Confined where Value == TrafficWorld {
    fileprivate func accept(_ admission: Admission, _ past: PriorAttempts) async {
        do throws(Problem) {
            _ = try await value.jobs?.acceptance.accept(admission, body: .bytes([]), past: past)
        } catch {
            value.checker.fail(nil, "a request is not kept: \(error.detail)")
        }
    }
}

extension TrafficWorld {
    fileprivate func admitAgain(_ admission: Admission) -> Admission? {
        var terms = RequestTerms(forwarded: admission.fields)
        terms.wantsDurable = true
        let user = admission.context.client?.user ?? 0
        return try? daemon?.admit(TrafficWorld.route, "t", admission.context.method, terms, user: user)
    }
}
