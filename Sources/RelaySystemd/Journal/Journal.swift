import RelayPosix
import Synchronization

/// Takes records from any thread and writes them on one of its own.
///
/// A caller never waits: when journald or the terminal stalls, up to `capacity` records are kept and the rest is
/// counted, as are those that nobody took because no journal was there; the counts are written when records flow again.
package final class Journal: Sendable {
    private enum Letter: Sendable {
        case record(JournalRecord)
        case flush(EventDescriptor)
    }

    private let mailbox: Mailbox<Letter>?
    /// Of the thread that writes: each record is an operation.
    private let activity = Activity("journal")
    private let untaken = Untaken()

    /// Records that the sink did not take, ever.
    private final class Untaken: Sendable {
        let count = Atomic<Int>(0)
    }

    /// How often it is tried again to tell of records that were lost: nothing else may be recorded for long.
    private static let retry: Int32 = 1000

    /// - Parameters:
    ///   - capacity: records kept while the sink stalls.
    ///   - wake: wakes the thread that writes.
    ///   - settle: returns when what was written has been looked at.
    ///   - write: writes one record, and may block; false when nobody took it.
    package init(
        capacity: Int = 1024,
        wake: @escaping @Sendable (EventDescriptor) -> Void = { $0.signal() },
        settle: @escaping @Sendable () -> Void = {},
        write: @escaping @Sendable (JournalRecord) -> Bool
    ) {
        mailbox = Mailbox<Letter>(capacity: capacity, wake: wake)
        guard let mailbox else { return }
        do throws(PosixError) {
            try startDetachedThread("journal") { [activity, untaken] in
                Journal.deliver(from: mailbox, untaken, settle) { record in
                    activity.begin()
                    defer { activity.end() }
                    return write(record)
                }
            }
        } catch {
            mailbox.close()
        }
    }

    package convenience init(sink: JournalSink) {
        self.init(settle: { sink.settle() }, write: { sink.write($0) })
    }

    deinit { mailbox?.close() }

    /// How long the sink has not come back with the record it was given, in whole seconds.
    package var blockedSeconds: Int64 { activity.duration(at: SystemClock.monotonic()) / 1_000_000_000 }

    /// Records that were lost since the start.
    package var lost: Int { (mailbox?.dropped ?? 0) + untaken.count.load(ordering: .relaxed) }

    /// Queues a record, or drops and counts it.
    package func record(_ record: JournalRecord) {
        mailbox?.offer(
            .record(record),
            isUrgent: record.priority.rawValue <= JournalRecord.Priority.critical.rawValue
        )
    }

    /// Waits until everything recorded so far has been written; for the end of the process.
    ///
    /// - Returns: false when the time was up first.
    @discardableResult
    package func flush(milliseconds: Int32 = 1000) -> Bool {
        guard let mailbox, let done = EventDescriptor() else { return false }
        guard mailbox.offer(.flush(done), isVital: true, isUrgent: true) else { return false }
        return done.wait(milliseconds: milliseconds)
    }
}

extension Journal {
    /// Why records were lost that nobody has been told of.
    private struct Losses {
        var slow = 0
        var unheard = 0

        var areTold: Bool { slow == 0 && unheard == 0 }

        /// Tells of them as far as somebody takes it.
        mutating func tell(_ write: (JournalRecord) -> Bool) {
            if slow > 0, write(Self.record(slow, "the journal was too slow")) { slow = 0 }
            if unheard > 0, write(Self.record(unheard, "no journal took them")) { unheard = 0 }
        }

        private static func record(_ count: Int, _ cause: String) -> JournalRecord {
            var record = JournalRecord(
                .warning,
                .recordsDropped,
                "\(count) \(count == 1 ? "record was" : "records were") lost because \(cause)"
            )
            record.add(.count, count)
            return record
        }
    }

    private static func deliver(
        from mailbox: Mailbox<Letter>,
        _ untaken: Untaken,
        _ settle: () -> Void,
        _ write: (JournalRecord) -> Bool
    ) {
        var losses = Losses()
        while true {
            let batch = mailbox.take(milliseconds: losses.areTold ? nil : retry)
            var flushes: [EventDescriptor] = []
            for letter in batch.elements {
                switch letter {
                case .record(let record):
                    guard !write(record) else { continue }
                    losses.unheard += 1
                    untaken.count.add(1, ordering: .relaxed)
                case .flush(let done): flushes.append(done)
                }
            }
            losses.slow += batch.dropped
            losses.tell(write)
            if !flushes.isEmpty { settle() }
            for done in flushes { done.signal() }
            if batch.isLast { return }
        }
    }
}
