import CPostgres
import RelayBase
import RelayPosix

// How a connection comes about.
extension PostgresSession {
    /// Bytes that a server may send before it is ready.
    private static let mostGreeting: Int64 = 1 << 20

    /// Begins to connect, to that address where the host is a name.
    static func begin(
        _ settings: PostgresSettings,
        _ address: IPAddress?,
        password: String?,
        on loop: EventLoop
    ) throws(PostgresError) -> PostgresSession {
        let parameters = try settings.parameters(address, password: password)
        let keywords = CStrings(parameters.map(\.0))
        let values = CStrings(parameters.map(\.1))
        let raw = unsafe keywords.withPointers { keywords in
            unsafe values.withPointers { values in unsafe relay_pq_connect_start(keywords, values) }
        }
        guard let raw = unsafe raw else {
            throw PostgresError(.unreachable, "cannot connect to \(settings.endpoint): out of memory")
        }
        let session = unsafe PostgresSession(raw, settings, on: loop)
        guard unsafe relay_pq_status(raw) != Int32(RELAY_PQ_CONNECTION_BAD) else { throw session.refusal }
        return session
    }

    /// Waits until the connection is there.
    func established(until deadline: Int64, within: Duration) async throws(PostgresError) {
        let error: PostgresError? = await withCheckedContinuation { continuation in
            dialled = { continuation.resume(returning: $0) }
            dialTimer.action = { [unowned self] in
                let time = DurationText.text(within)
                close(PostgresError(.timeout, "\(endpoint) did not let us in within \(time)"))
            }
            loop.schedule(dialTimer, at: deadline)
            watchDial(.writable)
        }
        if let error { throw error }
    }

    func pollDial() {
        guard relay_pq_read_count(descriptor) <= Self.mostGreeting else {
            return close(PostgresError(.protocolError, "\(endpoint) sent too much before it was ready"))
        }
        switch unsafe relay_pq_connect_poll(raw) {
        case Int32(RELAY_PQ_POLLING_READING): watchDial(.readable)
        case Int32(RELAY_PQ_POLLING_WRITING): watchDial(.writable)
        case Int32(RELAY_PQ_POLLING_OK): welcome()
        default: close(refusal)
        }
    }

    private func watchDial(_ events: Events) {
        do throws(PosixError) {
            try register(events)
        } catch {
            close(PostgresError(.unreachable, "cannot connect to \(endpoint): \(error)"))
        }
    }

    private func welcome() {
        guard unsafe relay_pq_enter_pipeline(raw) else { return close(refusal) }
        watchDial(.readable)
        guard end == nil else { return }
        loop.cancel(dialTimer)
        let dialled = dialled
        self.dialled = nil
        beginAnswer()
        dialled?(nil)
    }

    /// The error in which the library says why the connection did not come about.
    private var refusal: PostgresError {
        let report = ServerReport(ofConnection: unsafe plainText(relay_pq_error_message(raw)))
        let state = report.sqlState.map { " (\($0))" } ?? ""
        var error = PostgresError(
            report.sqlState == nil ? .unreachable : .refused,
            "cannot connect to \(endpoint): \(report.message)\(state)",
            sqlState: report.sqlState
        )
        error.endsConnection = true
        return error
    }
}

extension CStrings {
    /// Lends the pointers as C's constant strings.
    fileprivate borrowing func withPointers<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R
    ) -> R {
        unsafe UnsafeRawPointer(pointers).withMemoryRebound(to: UnsafePointer<CChar>?.self, capacity: 1) {
            unsafe body($0)
        }
    }
}
