import RelayPosix

/// Takes records from any thread and writes them on one of its own.
///
/// A caller never waits: when journald or the terminal stalls, up to `capacity` records are kept and the rest is
/// counted, and the count is written when records flow again.
package final class Journal: Sendable {
    private enum Letter: Sendable {
        case record(JournalRecord)
        case flush(EventDescriptor)
    }

    private let mailbox: Mailbox<Letter>?
    /// Of the thread that writes: each record is an operation.
    private let activity = Activity("journal")

    /// - Parameters:
    ///   - capacity: records kept while the sink stalls.
    ///   - write: writes one record; may block.
    package init(capacity: Int = 1024, write: @escaping @Sendable (JournalRecord) -> Void) {
        mailbox = Mailbox<Letter>(capacity: capacity)
        guard let mailbox else { return }
        do throws(PosixError) {
            try startDetachedThread("journal") { [activity] in
                Journal.deliver(from: mailbox) { record in
                    activity.begin()
                    write(record)
                    activity.end()
                }
            }
        } catch {
            mailbox.close()
        }
    }

    package convenience init(sink: JournalSink) {
        self.init { sink.write($0) }
    }

    deinit { mailbox?.close() }

    /// How long the sink has not come back with the record it was given, in whole seconds.
    package var blockedSeconds: Int64 { activity.duration(at: SystemClock.monotonic()) / 1_000_000_000 }

    /// Records that were lost since the start.
    package var lost: Int { mailbox?.dropped ?? 0 }

    /// Queues a record, or drops and counts it.
    package func record(_ record: JournalRecord) {
        mailbox?.offer(.record(record))
    }

    /// Waits until everything recorded so far has been written; for the end of the process.
    ///
    /// - Returns: false when the time was up first.
    @discardableResult
    package func flush(milliseconds: Int32 = 1000) -> Bool {
        guard let mailbox, let done = EventDescriptor() else { return false }
        guard mailbox.offer(.flush(done), isVital: true) else { return false }
        return done.wait(milliseconds: milliseconds)
    }

    private static func deliver(from mailbox: Mailbox<Letter>, _ write: (JournalRecord) -> Void) {
        while true {
            let batch = mailbox.take(milliseconds: nil)
            var flushes: [EventDescriptor] = []
            for letter in batch.elements {
                switch letter {
                case .record(let record): write(record)
                case .flush(let done): flushes.append(done)
                }
            }
            if batch.dropped > 0 { write(dropped(batch.dropped)) }
            for done in flushes { done.signal() }
            if batch.isLast { return }
        }
    }

    private static func dropped(_ count: Int) -> JournalRecord {
        var record = JournalRecord(
            .warning,
            .recordsDropped,
            "\(count) \(count == 1 ? "record was" : "records were") lost because the journal was too slow"
        )
        record.add(.count, count)
        return record
    }
}
