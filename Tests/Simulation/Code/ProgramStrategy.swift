import RelayBase
import RelayJobs
import RelayRoute
import RelayTestSupport

/// A program's own recovery strategy, which asks for whatever its job's seed says.
final class ProgramStrategy: RecoveryStrategy {
    let name: String
    private let world: Confined<World>

    init(_ name: String, _ world: Confined<World>) { (self.name, self.world) = (name, world) }

    func recover(
        from failure: Failure,
        of request: HTTPRequest,
        context: RecoveryContext
    ) async -> RecoveryDisposition {
        let checker = world.value.checker
        let number = request.fields.jobNumber
        guard checker.jobs.indices.contains(number), let job = checker.jobs[number],
            let program = job.program
        else {
            checker.fail(number, "a strategy is asked about a job that has ended")
            return .passOn
        }
        checker.consulted(job, name, context)
        let disposition = await disposition(job, program, request)
        program.advice[name] =
            switch disposition {
            case .passOn: .passOn
            case .stop: .stop
            case .retry(_, let wait): .retry(after: max(0, wait.saturatedNanoseconds))
            }
        checker.advised(job, disposition)
        return disposition
    }

    private func disposition(
        _ job: JobRecord,
        _ program: ProgramRecord,
        _ request: HTTPRequest
    ) async -> RecoveryDisposition {
        let checker = world.value.checker
        let answer = program.draw.weighted([20, 8, 45, 6, 6, 12, 2, 2, 8])
        if answer >= 2 { program.retries += 1 }
        if program.retries > program.manners.patience { return .passOn }
        var again = request
        switch answer {
        case 0: return .passOn
        case 1:
            checker.note(.programStopped)
            return .stop(program.forged(nil))
        case 2: return .retry(request, after: .zero)
        case 3: return .retry(request, after: program.draw.pick([.seconds(-9), .seconds(Int64.min)]))
        case 4:
            return .retry(
                request,
                after: program.draw.pick([.seconds(1 << 50), .seconds(Int64.max), .seconds(70)])
            )
        case 5:
            change(&again, program)
            checker.note(.programChanged)
            return .retry(again, after: .milliseconds(program.draw.below(300)))
        case 6:
            checker.note(.programHung)
            _ = await world.pause(until: .max)
            return .retry(request, after: .zero)
        case 7:
            program.isDeaf = true
            checker.note(.programDeaf)
            await world.outwait(until: job.deadline + program.draw.time(0...2_500))
            return program.draw.chance(50) ? .retry(request, after: .zero) : .stop(program.forged(nil))
        default:
            _ = await world.pause(until: world.value.timeline.now + program.draw.time(0...300))
            return .retry(request, after: .milliseconds(program.draw.below(50)))
        }
    }

    private func change(_ request: inout HTTPRequest, _ program: ProgramRecord) {
        switch program.draw.below(4) {
        case 0: request.method = program.draw.pick([.get, .post, .put, .patch])
        case 1: request.target = "t\(program.draw.below(12))"
        case 2: if request.method != .get { request.body = .bytes(Array(#"{"c":3}"#.utf8)) }
        default:
            request.fields.remove(.idempotencyKey)
            if program.draw.chance(60) {
                request.fields.append("Idempotency-Key", "c\(program.draw.below(3))")
            }
        }
    }
}
