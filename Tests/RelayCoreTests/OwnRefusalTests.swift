import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Testing

@Suite("The relay's own rules that let nothing be sent", .timeLimit(.minutes(1)))
struct OwnRefusalTests {
    private static let start = Instant(nanoseconds: 0)
    private static let own: [FailureKind] = [.breakerOpen, .rateLimited, .networkConstrained]

    private static func failure(_ kind: FailureKind, _ sent: Sent = .neverSent) -> Failure {
        Failure(kind, sent: sent, "")
    }

    @Test(
        "A breaker, a rate and a constrained network are such rules, unless the upstream spoke; other causes are not",
        arguments: [
            (.breakerOpen, .neverSent, true, true), (.rateLimited, .neverSent, true, true),
            (.networkConstrained, .neverSent, true, true), (.networkConstrained, .answered, false, false),
            (.breakerOpen, .unknown, false, false), (.preparation, .neverSent, false, true),
            (.credentialsFailed, .neverSent, false, true), (.connectionRefused, .neverSent, false, false),
            (.dnsError, .neverSent, false, false), (.httpStatus, .refused, false, false),
        ] as [(FailureKind, Sent, Bool, Bool)]
    )
    func kinds(kind: FailureKind, sent: Sent, isOwn: Bool, isFromBeforeDialling: Bool) {
        let failure = Self.failure(kind, sent)
        #expect(failure.isOwnRefusal == isOwn)
        #expect(failure.isFromBeforeDialling == isFromBeforeDialling)
    }

    @Test(
        "An attempt that comes to nothing takes the refusals along that led to it, up to the last that was none",
        arguments: own.flatMap { own in
            [
                ([own], .neverSent, []), ([own, own], .neverSent, []),
                ([.connectionRefused], .neverSent, [.connectionRefused]),
                ([.connectionRefused, own], .neverSent, [.connectionRefused]),
                ([own, .connectionRefused], .neverSent, [own, .connectionRefused]),
                ([own, .connectionRefused, own, own], .neverSent, [own, .connectionRefused]),
                ([own], .unknown, [own, .interrupted]),
            ] as [([FailureKind], Sent, [FailureKind])]
        }
    )
    func interrupted(before: [FailureKind], sent: Sent, after: [FailureKind]) {
        let route = makeRoute { $0.recovery = [rule("again", ["any"], retry(10))] }
        var machine = RecoveryMachine(route: route, method: .get, options: JobOptions(), now: Self.start)
        for kind in before {
            _ = machine.attemptBegan(at: Self.start, wall: 0)
            _ = machine.attemptFailed(
                Self.failure(kind),
                RecoveryMachine.Situation(now: Self.start, random: 0)
            )
        }
        _ = machine.attemptBegan(at: Self.start, wall: 0)
        machine.attemptInterrupted(Self.failure(.interrupted, sent), at: Self.start)
        #expect(machine.attempts.map { $0.failure?.kind } == after)
    }

    @Test(
        "A request whose attempts were all refused so has sent nothing, and any other failure is of one that has",
        arguments: own.flatMap { own in
            [
                ([], false), ([own], false), ([own, own], false), ([.connectionRefused], true),
                ([own, .connectionRefused], true), ([.connectionRefused, own], true),
            ] as [([FailureKind], Bool)]
        }
    )
    func sent(failures: [FailureKind], hasSent: Bool) throws {
        let bench = ExecutionBench(isDurable: false)
        var machine = try bench.machine(doing: retry(10, wait: .seconds(1)))
        #expect(!machine.hasSent)
        for kind in failures {
            machine.failed(Self.failure(kind), bench.moment(1))
            for event in [ExecutionEvent.recalled, .waited, .begun, .permitted] {
                bench.tell(event, to: &machine, bench.moment(1))
            }
        }
        #expect(machine.recovery.attempts.count == failures.count + 1)
        #expect(machine.hasSent == hasSent)
    }
}
