import CPostgres
import Glibc
import RelayPosix

/// One connection of libpq on its loop: it hears of the socket, and has batches answered one after the other.
///
/// The socket is the library's, so that the loop watches a copy of it.
@safe final class PostgresSession: Watcher {
    let raw: OpaquePointer
    let endpoint: String
    let limits: PostgresLimits
    let isPooled: Bool
    var prepared: PreparedStatements
    var statementCount: UInt64 = 0
    /// Why it is over.
    var end: PostgresError?
    /// Resumed when the connection has come about, or has not.
    var dialled: ((PostgresError?) -> Void)?
    let dialTimer = LoopTimer {}
    /// The first one is under way.
    var batches: [Batch] = []
    var onNotification: ((_ channel: String, _ payload: String) -> Void)?
    var onNotice: ((PostgresNotice) -> Void)?
    var onEnd: ((PostgresError) -> Void)?
    /// The words of the library while it reads: told on when it is done, since a receiver may close this.
    var notices: [PostgresNotice] = []
    /// The last error that came unasked, as when the server stops.
    var lastReport: ServerReport?
    /// How much of the stream had been read when the answer before was whole; negative where nobody counts.
    var answerStart: Int64 = 0

    @unsafe init(_ raw: OpaquePointer, _ settings: PostgresSettings, on loop: EventLoop) {
        unsafe self.raw = raw
        endpoint = settings.endpoint
        limits = settings.limits
        isPooled = settings.isPooled
        prepared = PreparedStatements(most: settings.limits.prepared)
        super.init(loop: loop)
        isShared = true
        unsafe relay_pq_show_states(raw)
        unsafe relay_pq_set_notice_receiver(
            raw,
            { context, notice in
                guard let context = unsafe context, let notice = unsafe notice else { return }
                let session = unsafe Unmanaged<PostgresSession>.fromOpaque(context).takeUnretainedValue()
                unsafe session.hear(ServerReport(notice))
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    deinit { if end == nil { unsafe relay_pq_finish(raw) } }

    override func ready(_ events: Events) {
        if dialled != nil { pollDial() } else { exchange() }
    }

    /// Watches a copy of the library's socket, whichever it has now.
    func register(_ events: Events) throws(PosixError) {
        loop.remove(self)
        let copy = fcntl(unsafe relay_pq_socket(raw), F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw PosixError("dup", .current) }
        try loop.add(self, FileDescriptor(copy), events)
    }

    private func hear(_ report: ServerReport) {
        if report.isFatal || report.isOfOtherServer || report.severity == "ERROR" { lastReport = report }
        guard !report.isFatal, report.severity != "ERROR" else { return }
        let notice = PostgresNotice(report)
        if notice.isWarning { batches.first?.warn() }
        if onNotice != nil { notices.append(notice) }
    }

    /// Ends it, with a reason for whoever still waits.
    func close(_ error: PostgresError) {
        guard end == nil else { return }
        end = error
        loop.remove(self)
        unsafe relay_pq_finish(raw)
        loop.cancel(dialTimer)
        let dialled = dialled
        self.dialled = nil
        dialled?(error)
        let batches = batches
        self.batches = []
        for (index, batch) in batches.enumerated() {
            loop.cancel(batch.timer)
            var failure = error
            if index == 0 {
                failure = batch.failure ?? error
                failure.isUnknown = batch.isUnknown
            } else {
                failure.kind = .lost
                failure.isUnknown = false
            }
            failure.endsConnection = true
            batch.finish(.failure(failure))
        }
        let onEnd = onEnd
        onNotification = nil
        onNotice = nil
        self.onEnd = nil
        onEnd?(error)
    }
}
