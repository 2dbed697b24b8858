import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

/// Passes on what a mutating call has answered; `#expect` would call it on a copy.
private func did(_ answer: Bool) -> Bool { answer }

@Suite("A durable job changes in legal steps only")
struct JobStateMachineTests {
    private func machine(
        _ state: JobState,
        mayRepeat: Bool = true,
        expiresAt: Int64? = nil
    ) -> JobStateMachine {
        var machine = JobStateMachine(
            runAt: state == .scheduled ? 2_000 : 1_000,
            expiresAt: expiresAt,
            mayRepeat: mayRepeat,
            isDated: false,
            isBlocked: false,
            now: 1_000
        )
        switch state {
        case .scheduled, .queued: break
        case .running: #expect(did(machine.claim(token: 9, now: 1_000)))
        case .held: #expect(did(machine.hold()))
        case .cancelled: #expect(did(machine.cancel(now: 1_000)))
        case .retrying, .succeeded, .dead, .expired:
            #expect(did(machine.claim(token: 9, now: 1_000)))
            let ending: Settlement.Ending =
                switch state {
                case .retrying: .retry(after: .seconds(1), .backoff)
                case .succeeded: .succeeded
                case .dead: .dead(.exhausted)
                default: .expired
                }
            #expect(did(machine.settle(token: 9, ending, attempts: 1, spent: 1, kind: nil, now: 1_000)))
        }
        #expect(machine.state == state)
        return machine
    }

    private enum Step: CaseIterable {
        case wake, claim, settle, recover, cancel, expire, hold, release, hurry, replay, quarantine
    }

    /// Where each step leads from each state at 3,000, when everything is due; what is not there is not legal.
    private static let table: [JobState: [Step: JobState]] = [
        .scheduled: [
            .wake: .queued, .cancel: .cancelled, .expire: .expired, .hold: .held, .hurry: .queued,
            .quarantine: .dead,
        ],
        .queued: [
            .claim: .running, .cancel: .cancelled, .expire: .expired, .hold: .held, .quarantine: .dead,
        ],
        .running: [.settle: .succeeded, .recover: .retrying, .cancel: .running, .quarantine: .dead],
        .retrying: [
            .claim: .running, .cancel: .cancelled, .expire: .expired, .hold: .held, .hurry: .queued,
            .quarantine: .dead,
        ],
        .held: [
            .cancel: .cancelled, .expire: .expired, .release: .queued, .hurry: .queued, .quarantine: .dead,
        ],
        .succeeded: [:],
        .dead: [.replay: .queued],
        .cancelled: [.replay: .queued],
        .expired: [.replay: .queued],
    ]

    @Test(
        "Every step from every state leads where the table says, or changes nothing",
        arguments: JobState.allCases
    )
    func table(state: JobState) {
        for step in Step.allCases {
            // A job that is past its time cannot be claimed.
            var machine = machine(state, expiresAt: step == .expire ? 2_500 : nil)
            let before = machine
            let isLegal =
                switch step {
                case .wake: machine.wake(now: 3_000)
                case .claim: machine.claim(token: 10, now: 3_000)
                case .settle:
                    machine.settle(token: 9, .succeeded, attempts: 1, spent: 1, kind: nil, now: 3_000)
                case .recover: machine.recover(now: 3_000)
                case .cancel: machine.cancel(now: 3_000)
                case .expire: machine.expire(now: 3_000)
                case .hold: machine.hold()
                case .release: machine.release(isBlocked: false, now: 3_000)
                case .hurry: machine.hurry(isBlocked: false, now: 3_000)
                case .replay: machine.replay(isBlocked: false, now: 3_000)
                case .quarantine: machine.quarantine(now: 3_000)
                }
            let expected = Self.table[state]?[step]
            #expect(isLegal == (expected != nil), "\(step) in \(state)")
            #expect(machine.state == expected ?? state, "\(step) in \(state)")
            if isLegal { #expect(machine.version == before.version + 1) } else { #expect(machine == before) }
        }
    }

    @Test("A job released in its backoff waits for the rest of it", arguments: [1_500, 3_000] as [Int64])
    func releasedBackoff(now: Int64) {
        var machine = machine(.retrying)
        #expect(did(machine.hold()))
        #expect(did(machine.release(isBlocked: false, now: now)))
        #expect(machine.state == .retrying && machine.runAt == 2_000)
        #expect(machine.reason == (now < 2_000 ? .backoff : nil))
    }

    @Test("A job that is retried at a rate keeps its date where its turn comes later")
    func datedRetry() {
        var machine = JobStateMachine(
            runAt: 5_000,
            expiresAt: nil,
            mayRepeat: true,
            isDated: true,
            isBlocked: false,
            now: 1_000
        )
        #expect(!did(machine.hurry(isBlocked: false, runAt: 5_000, now: 1_000)))
        #expect(!did(machine.hurry(isBlocked: false, runAt: 9_000, now: 1_000)))
        #expect(machine.state == .scheduled && machine.reason == .notBefore && machine.isDated)
        #expect(did(machine.redate(runAt: 7_000)))
        #expect(did(machine.hurry(isBlocked: false, runAt: 6_000, now: 1_000)))
        #expect(machine.reason == .throttled && machine.runAt == 6_000)
        #expect(!did(machine.redate(runAt: 8_000)))
    }

    @Test("A job that was due once, or got another life, is no longer moved with its date")
    func redated() {
        var machine = JobStateMachine(
            runAt: 5_000,
            expiresAt: nil,
            mayRepeat: true,
            isDated: true,
            isBlocked: false,
            now: 1_000
        )
        var cancelled = machine
        machine.wake(now: 5_000)
        #expect(!did(machine.redate(runAt: 9_000)))
        #expect(did(cancelled.cancel(now: 1_000)))
        #expect(!did(cancelled.redate(runAt: 9_000)))
        #expect(did(cancelled.replay(isBlocked: false, runAt: 3_000, now: 1_000)))
        #expect(!did(cancelled.redate(runAt: 2_000)) && cancelled.runAt == 3_000)
    }

    @Test("Only the live token settles", arguments: [0, 8, 10] as [UInt64])
    func tokens(token: UInt64) {
        var machine = machine(.running)
        #expect(!did(machine.settle(token: token, .succeeded, attempts: 1, spent: 1, kind: nil, now: 2_000)))
    }

    @Test("A job that is not due, blocked or past its time is not claimed")
    func notDue() {
        var early = machine(.queued)
        #expect(!did(early.claim(token: 1, now: 999)))
        var late = machine(.queued, expiresAt: 1_500)
        #expect(!did(late.claim(token: 1, now: 1_500)))
        var blocked = JobStateMachine(
            runAt: 1_000,
            expiresAt: nil,
            mayRepeat: true,
            isDated: false,
            isBlocked: true,
            now: 1_000
        )
        #expect(!did(blocked.claim(token: 1, now: 5_000)))
        blocked.wake(now: 5_000)
        #expect(did(blocked.claim(token: 1, now: 5_000)))
    }

    @Test(
        "Crashes that cut looks at an operation off do not end the job, which waits from the third in a row on"
    )
    func looks() {
        var machine = machine(.running)
        let ending = Settlement.Ending.retry(after: .zero, .following)
        #expect(did(machine.settle(token: 9, ending, attempts: 1, spent: 1, kind: nil, now: 1_000)))
        for (crash, runAt) in [1_000, 1_000, 61_000, 121_000].enumerated() {
            #expect(did(machine.claim(token: 9, now: machine.runAt)) && machine.waitReason == nil)
            machine.recover(now: machine.runAt)
            #expect(machine.crashes == UInt32(crash + 1) && machine.runAt == Int64(runAt))
            #expect(machine.state == .retrying && machine.waitReason == .following)
        }
        // The request itself, which is sent again under such a claim, counts.
        let begun = BegunAttempt(upstream: "one", beganAt: 1)
        #expect(did(machine.claim(token: 9, now: machine.runAt)))
        #expect(did(machine.begin(token: 9, begun, attempts: 0, spent: 0, kind: nil)))
        machine.recover(now: machine.runAt)
        #expect(machine.state == .dead && machine.end == .poison)
    }

    @Test("Crashes count only in a row: an ending starts the count again")
    func crashCount() {
        var machine = machine(.running)
        for _ in 0..<2 {
            machine.recover(now: 1_000)
            #expect(did(machine.claim(token: 9, now: 1_000)))
        }
        #expect(machine.crashes == 2)
        let isSettled = machine.settle(
            token: 9,
            .requeued(after: .zero, .throttled),
            attempts: 0,
            spent: 0,
            kind: nil,
            now: 1_000
        )
        #expect(isSettled)
        // The attempts that the crashes cut short are on record.
        #expect(machine.crashes == 0 && machine.attempts == 2 && machine.state == .retrying)
    }
}

@Suite("The store's line goes on evenly while the wall clock steps")
struct JobTimelineTests {
    @Test(
        "It goes with the steady clock, and tells of steps of a second and more",
        arguments: [
            (500, false), (-500, false), (1_000, true), (-1_000, true), (-1_800_000_000_000, true),
        ] as [(Int64, Bool)]
    )
    func steps(step: Int64, isStep: Bool) {
        var line = StoreClock(at: JobMoment(wall: 1_800_000_000_000, steady: 50))
        #expect(!did(line.advance(to: JobMoment(wall: 1_800_000_001_000, steady: 1_050))))
        let moment = JobMoment(wall: 1_800_000_002_000 + step, steady: 2_050)
        #expect(did(line.advance(to: moment)) == isStep)
        #expect(line.now == 1_800_000_002_000)
        #expect(!did(line.advance(to: moment)))
        if isStep { #expect(line.wall(ofLine: line.now) == moment.wall) }
    }

    @Test("A caller that read the clocks before another does not take the time back")
    func lateCallers() {
        var line = StoreClock(at: JobMoment(wall: 10_000, steady: 0))
        #expect(!did(line.advance(to: JobMoment(wall: 15_000, steady: 5_000))))
        #expect(!did(line.advance(to: JobMoment(wall: 11_000, steady: 1_000))))
        #expect(line.now == 15_000)
    }

    @Test(
        "It never goes back over a restart, wherever the wall clock is",
        arguments: [0, 5_000, 20_000] as [Int64]
    )
    func restart(wall: Int64) {
        let line = StoreClock(line: 10_000, skew: 0, at: JobMoment(wall: wall, steady: 3))
        #expect(line.now == max(10_000, wall))
        #expect(line.wall(ofLine: line.now) == wall)
    }

    @Test("Times at the end of the numbers saturate")
    func extremes() {
        #expect(StoreClock.advance(.max - 5, by: .seconds(1)) == .max)
        #expect(StoreClock.advance(5, by: .seconds(-9)) == 5)
        #expect(StoreClock.advance(5, by: .nanoseconds(1)) == 6)
    }

    @Test(
        "The text of an id is read back, in either case; nothing else is",
        arguments: [
            "01K9ZQ3V7N4T0C8R5B2M6XW1HD", "00000000000000000000000000", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        ]
    )
    func ids(text: String) {
        #expect(JobID(text: text)?.description == text)
        #expect(JobID(text: text.lowercased())?.description == text)
        for wrong in [text + "0", String(text.dropLast()), "8" + text.dropFirst(), text.dropLast() + "U", ""]
        {
            #expect(JobID(text: wrong) == nil)
        }
    }
}
