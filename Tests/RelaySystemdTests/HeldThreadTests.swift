import RelayPosix
import RelaySystemd
import Synchronization
import Testing

/// As under a debugger, or stopped between two system calls: it has said that it will wake the consumer, and has not.
@Suite("A thread that is held before it wakes the consumer", .timeLimit(.minutes(5)))
struct HeldThreadTests {
    /// Holds whoever wakes first until it is let go, and counts the others.
    private final class Hold: Sendable {
        private let wakes = Atomic<Int>(0)
        private let reached: EventDescriptor
        private let gate: EventDescriptor

        init() throws {
            reached = try #require(EventDescriptor())
            gate = try #require(EventDescriptor())
        }

        var others: Int { wakes.load(ordering: .relaxed) - 1 }

        func wake(_ consumer: EventDescriptor) {
            if wakes.add(1, ordering: .relaxed).oldValue == 0 {
                reached.signal()
                gate.wait(milliseconds: 60_000)
            }
            consumer.signal()
        }

        /// Returns once `body` is held on a thread of its own.
        func hold(_ body: @escaping @Sendable () -> Void) throws {
            try startDetachedThread("held") { body() }
            #expect(reached.wait(milliseconds: 30_000))
        }

        func release() { gate.signal() }
    }

    @Test("keeps nothing urgent from the consumer, nor what came before it; what is not urgent relies on it")
    func mailbox() throws {
        let hold = try Hold()
        let mailbox = try #require(Mailbox<String>(capacity: 10) { hold.wake($0) })
        try hold.hold { mailbox.offer("held") }
        mailbox.offer("later")
        #expect(hold.others == 0, "the control: nobody else wakes the consumer")
        mailbox.offer("urgent", isUrgent: true)
        #expect(hold.others == 1)
        #expect(mailbox.take(milliseconds: 30_000).elements == ["held", "later", "urgent"])
        hold.release()
    }

    @Test(
        "keeps no critical record and no flush from the journal",
        arguments: [.critical, .alert, .emergency] as [JournalRecord.Priority]
    )
    func journal(priority: JournalRecord.Priority) throws {
        let hold = try Hold()
        let recorder = try Recorder<JournalRecord>()
        let journal = Journal(wake: { hold.wake($0) }, write: { recorder.take($0) })
        try hold.hold { journal.record(JournalRecord(.info, nil, "held")) }
        for count in 1...3 {
            journal.record(JournalRecord(priority, nil, "news"))
            #expect(hold.others == count)
        }
        #expect(journal.flush(milliseconds: 30_000))
        #expect(hold.others == 4)
        #expect(recorder.elements.map(\.message) == ["held", "news", "news", "news"])
        hold.release()
    }

    @Test("keeps nothing from the service manager but a status line")
    func notifications() throws {
        let hold = try Hold()
        let recorder = try Recorder<String>()
        let notifier = ServiceNotifier(sender: { recorder.take($0) }, wake: { hold.wake($0) })
        try hold.hold { notifier.send(.status("held")) }
        for (count, urgent) in [Notification.watchdog, .ready(status: "r"), .stopping(status: "s")]
            .enumerated()
        {
            notifier.send(urgent)
            #expect(hold.others == count + 1)
        }
        #expect(notifier.flush(milliseconds: 30_000))
        #expect(recorder.elements.filter { !$0.hasPrefix("STATUS") }.count == 3)
        hold.release()
    }
}
