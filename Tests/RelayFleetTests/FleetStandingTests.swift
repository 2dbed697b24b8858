import RelayBase
import RelayJobs
import RelayRecords
import Testing

@testable import RelayFleet

@Suite("The standing of a job in the database")
struct FleetStandingTests {
    private static let id = JobID(high: 1, low: 2)

    private static func machine(_ change: (inout JobStateMachine) -> Void) -> FleetStanding {
        var machine = JobStateMachine(
            runAt: 5,
            expiresAt: 1_000,
            mayRepeat: false,
            isDated: true,
            isBlocked: false,
            now: 10
        )
        change(&machine)
        return FleetStanding(machine)
    }

    private static let standings: [FleetStanding] = {
        var all = [
            machine { _ in },
            machine { _ = $0.claim(token: .max, BegunAttempt(upstream: "a", beganAt: 12), now: 12) },
            machine {
                _ = $0.claim(token: 7, BegunAttempt(upstream: "a", beganAt: 12, isResent: true), now: 12)
                _ = $0.cancel(now: 13)
            },
            machine { _ = $0.hold() },
            machine { _ = $0.cancel(.superseded, now: 13) },
            machine {
                ($0.failureKind, $0.failureStatus) = (FailureKind(rawValue: "timeout"), Status(rawValue: 504))
                ($0.attempts, $0.spentAttempts, $0.earlierAttempts, $0.crashes) = (9, 8, 7, 2)
                ($0.isInDoubt, $0.isSuperseded) = (true, true)
            },
        ]
        all[5].hasBody = false
        all[5].hasAnswer = true
        all[5].hasAnswerBody = true
        all[5].dropsContent = true
        all[5].failureUpstream = "primary"
        return all
    }()

    @Test("Every part of it is read as it was written", arguments: standings)
    func roundTrip(_ standing: FleetStanding) throws {
        #expect(try FleetStanding(sealed: standing.sealed(for: Self.id), for: Self.id) == standing)
    }

    @Test("A flipped bit and another job's bytes are found")
    func damage() {
        let bytes = Self.standings[1].sealed(for: Self.id)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(throws: RecordReader.Damage.self) { try FleetStanding(sealed: damaged, for: Self.id) }
        }
        #expect(throws: RecordReader.Damage.self) {
            try FleetStanding(sealed: bytes, for: JobID(high: 1, low: 3))
        }
    }
}
