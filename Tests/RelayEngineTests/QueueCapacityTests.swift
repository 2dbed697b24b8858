import RelayBase
import RelayCore
import RelayJobs
import Testing

@testable import RelayEngine

@Suite("Room for jobs that wait for their delivery")
struct QueueRoomTests {
    private let room = QueueCapacity()

    private func hear(_ event: (JobReport) -> JobEvent, _ state: JobState) {
        let id = JobID(milliseconds: 1, random: (2, 3))
        room.heard(event(JobReport(JobChange(id: id, route: "a", user: nil, state: state))), at: 0)
    }

    @Test(
        "A count that ran beside changes makes nobody wait for a job that is over, and hides none",
        arguments: [
            // The number before, what is told during the count, what the store says, the number after.
            (1, "", 1, 1), (1, "", 3, 3), (5, "", 2, 2),
            (1, "-", 1, 0), (1, "-", 0, 0), (9, "-", 3, 3),
            (1, "+", 1, 2), (1, "+", 2, 2), (2, "+-", 2, 2), (2, "-+", 1, 2),
        ]
    )
    func counted(before: Int, told: String, count: Int, after: Int) {
        room.counted(before, since: room.told)
        let mark = room.told
        for sign in told {
            if sign == "+" { hear(JobEvent.accepted, .queued) } else { hear(JobEvent.ended, .succeeded) }
        }
        room.counted(count, since: mark)
        #expect(room.queued == after)
    }

    @Test("A job that is on disk and not told of yet is counted once")
    func onDisk() {
        room.counted(0, since: room.told)
        room.configure(limit: 2)
        do {
            let reservation = room.reserve()
            // The store has it already when it is asked.
            room.counted(1, since: room.told)
            hear(JobEvent.accepted, .queued)
            #expect(reservation != nil && room.queued == 1)
        }
        hear(JobEvent.ended, .cancelled)
        #expect(room.queued == 0 && !room.isFull)
    }

    @Test("A notice takes the room of no job and of no user, and has as much of its own")
    func notices() {
        room.configure(limit: 1, userLimit: 1)
        room.counted(0, since: room.told)
        _ = room.beginsUserCount(Instant(nanoseconds: 0))
        room.counted([:])
        let id = JobID(milliseconds: 1, random: (2, 3))
        func hear(_ event: (JobReport) -> JobEvent, _ state: JobState) {
            let change = JobChange(id: id, route: "a", user: JobRecord.Submitter.ofNotices.user, state: state)
            room.heard(event(JobReport(change)), at: 0)
        }
        #expect(room.takesNotice)
        hear(JobEvent.accepted, .queued)
        #expect(!room.takesNotice && !room.isFull && room.queued == 0)
        let hasRoom = room.reserve(of: 1_000, isBounded: true) != nil
        #expect(hasRoom)
        let mark = room.told
        hear(JobEvent.ended, .succeeded)
        #expect(room.takesNotice)
        room.counted(0, notices: 1, since: mark)
        #expect(!room.takesNotice && !room.isFull)
        room.counted(0, notices: 0, since: room.told)
        #expect(room.takesNotice)
    }

    @Test("The first count stands, with what was accepted meanwhile")
    func first() {
        let mark = room.told
        hear(JobEvent.accepted, .queued)
        room.counted(7, since: mark)
        #expect(room.queued == 8)
    }

    @Test("One user has no more jobs waiting than it may, and others have their own")
    func users() {
        var machine = UserQuotaMachine()
        let now = Instant(nanoseconds: 0)
        machine.configured(limit: 100)
        #expect(machine.remaining(of: 1) == .max, "nobody is refused before the jobs were counted")
        let begins = [machine.beginsCount(now), machine.beginsCount(now)]
        for _ in 0..<3 { machine.ended(1) }
        machine.counted([1: 93, nil: 120])
        machine.reserve(4, of: 1)
        #expect(begins == [true, false], "one count at a time")
        #expect(machine.remaining(of: 1) == 6)
        #expect(machine.remaining(of: nil) == 0 && machine.remaining(of: 2) == 100)
        machine.reserve(-4, of: 1)
        machine.accepted(1)
        machine.ended(nil)
        #expect(machine.remaining(of: 1) == 9 && machine.remaining(of: nil) == 0)
        let again = [60, 69, 70].map { second in
            if second > 60 { machine.refused() }
            return machine.beginsCount(now.advanced(by: .seconds(second)))
        }
        #expect(again == [false, true, false], "only after a refusal, and not at once again")
        machine.counted([:])
        #expect(machine.remaining(of: nil) == 100 && machine.remaining(of: 1) == 100)
        machine.configured(limit: nil)
        #expect(machine.remaining(of: nil) == .max)
    }

    @Test(
        "A later count makes nobody wait for a job that is over, hides none, and sets what nothing was told of",
        arguments: [
            // Jobs that wait as far as is known, what is told during the count, what the store says, what waits then.
            (5, "", 2, 2), (2, "", 5, 5), (5, "+", 5, 6), (5, "+", 6, 6), (5, "-", 5, 4), (5, "-", 4, 4),
            (9, "-+", 3, 4), (1, "+-", 2, 1), (5, "r", 6, 5), (5, "r", 3, 3),
        ]
    )
    func usersCounted(before: Int, told: String, count: Int, after: Int) {
        var machine = UserQuotaMachine()
        machine.configured(limit: 100)
        func begins(_ second: Int) -> Bool {
            machine.beginsCount(Instant(nanoseconds: 0).advanced(by: .seconds(second)))
        }
        #expect(begins(0))
        machine.counted([1: before, 2: 50])
        machine.refused()
        #expect(begins(10))
        for sign in told {
            switch sign {
            case "+": machine.accepted(1)
            case "-": machine.ended(1)
            default: machine.reserve(1, of: 1)
            }
        }
        machine.counted([1: count, 2: 40])
        if told == "r" { machine.reserve(-1, of: 1) }
        #expect(100 - machine.remaining(of: 1) == after && machine.remaining(of: 2) == 60)
    }

    @Test("A job whose end is told before its beginning counts for nothing when both are told")
    func endFirst() {
        var machine = UserQuotaMachine()
        machine.configured(limit: 100)
        let begins = machine.beginsCount(Instant(nanoseconds: 0))
        machine.counted([:])
        for _ in 0..<5 { machine.ended(1) }
        #expect(begins && machine.remaining(of: 1) == 100)
        for _ in 0..<7 { machine.accepted(1) }
        #expect(machine.remaining(of: 1) == 98)
        hear(JobEvent.ended, .succeeded)
        hear(JobEvent.accepted, .queued)
        #expect(room.queued == 0)
    }

    @Test("A count that began under an earlier limit says nothing of the present one")
    func staleCount() {
        var machine = UserQuotaMachine()
        let now = Instant(nanoseconds: 0)
        machine.configured(limit: 100)
        let begins = machine.beginsCount(now)
        machine.configured(limit: nil)
        machine.configured(limit: 50)
        #expect(begins && !machine.beginsCount(now), "one count at a time")
        machine.counted([1: 40])
        #expect(machine.remaining(of: 1) == .max && machine.beginsCount(now))
        machine.counted([1: 10])
        #expect(machine.remaining(of: 1) == 40)
    }

    @Test("A count that the store does not answer is made again")
    func notCounted() {
        var machine = UserQuotaMachine()
        machine.configured(limit: 1)
        func begins(_ second: Int) -> Bool {
            machine.beginsCount(Instant(nanoseconds: 0).advanced(by: .seconds(second)))
        }
        #expect(begins(0))
        machine.notCounted()
        #expect(machine.remaining(of: 1) == .max && begins(0))
        machine.counted([1: 1])
        machine.refused()
        #expect(begins(10))
        machine.notCounted()
        #expect(machine.remaining(of: 1) == 0 && !begins(19))
        #expect(begins(20))
    }

    @Test(
        "Daemons that share a queue take what others have done as the store counts it, and a part of its room each"
    )
    func shared() {
        room.configure(limit: 10_000)
        let mark = room.told
        hear(JobEvent.accepted, .queued)
        room.counted(5_000, since: mark, sharedBy: 4)
        #expect(room.queued == 5_001)
        #expect(room.reserve(upTo: 9_999).count == 4_999 / 4)
        room.counted(9_900, since: room.told, sharedBy: 4)
        #expect(room.queued == 9_900, "others have added to it")
        #expect(room.reserve(upTo: 9_999).count == 100, "a batch, or as much as there is room for")
        room.counted(10_000, since: room.told, sharedBy: 4)
        #expect(room.isFull)
        room.counted(9_000, since: room.told, sharedBy: 4)
        #expect(!room.isFull && room.queued == 9_000, "others have ended some")
    }

    @Test(
        "Users of another daemon's machine take no room of this one's, and a shared queue is counted as the store has it"
    )
    func foreignUsers() {
        room.configure(limit: 10, userLimit: 2)
        room.configure(users: NodeName("east"))
        #expect(room.beginsUserCount(Instant(nanoseconds: 0), isShared: true))
        room.counted([7: 2], isShared: true)
        func end(_ node: String) {
            let id = JobID(milliseconds: 1, random: (2, 3))
            let change = JobChange(id: id, route: "a", user: 7, on: NodeName(node), state: .succeeded)
            room.heard(.ended(JobReport(change)), at: 0)
        }
        end("west")
        #expect(room.isFull(for: 7))
        end("east")
        #expect(!room.isFull(for: 7))
        #expect(
            room.beginsUserCount(Instant(nanoseconds: 1), isShared: true),
            "it is counted again and again"
        )
        room.counted([7: 2], isShared: true)
        #expect(room.isFull(for: 7))
    }

    @Test("A job that is over and begins another life takes its owner's room again")
    func revived() {
        let room = QueueCapacity()
        room.configure(limit: 10, userLimit: 1)
        #expect(room.beginsUserCount(Instant(nanoseconds: 0)), "it is to be counted")
        room.counted([:])
        let id = JobID(milliseconds: 1, random: (2, 3))
        func change(_ isRevived: Bool) {
            let report = JobReport(
                JobChange(
                    id: id,
                    route: "a",
                    user: 7,
                    state: .queued,
                    cause: .action(.retry, by: 0),
                    isRevived: isRevived
                )
            )
            room.heard(.changed(report), at: 0)
        }
        change(false)
        #expect(room.queued == 0 && !room.isFull(for: 7))
        change(true)
        #expect(room.queued == 1 && room.isFull(for: 7) && !room.isFull(for: 8))
    }
}
