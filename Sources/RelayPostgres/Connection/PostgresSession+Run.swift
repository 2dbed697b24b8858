import CPostgres
import RelayBase
import RelayPosix

// How batches go out and their answers come in.
extension PostgresSession {
    /// Puts a batch behind those that wait.
    func start(_ batch: Batch, until deadline: Int64, within: Duration) {
        if let end {
            var error = end
            error.kind = .lost
            error.isUnknown = false
            return batch.finish(.failure(error))
        }
        batch.timer.action = { [unowned self, unowned batch] in timeOut(batch, within) }
        loop.schedule(batch.timer, at: deadline)
        batches.append(batch)
        if batches.count == 1 { send(batch) }
    }

    /// A pooler's session has no settings of ours, and those that decide about plans hold for one transaction.
    private static let pooledSettings =
        "SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)"

    private func timeOut(_ batch: Batch, _ within: Duration) {
        let count = batch.statements.count
        let subject = count == 1 ? "a statement" : "\(count) statements"
        let time = DurationText.text(within)
        var error = PostgresError(.timeout, "\(endpoint) did not answer \(subject) within \(time)")
        guard batches.first !== batch else { return close(error) }
        // Those before it have their own time.
        error.endsConnection = false
        batches.removeAll { $0 === batch }
        batch.finish(.failure(error))
    }

    private func send(_ batch: Batch) {
        let bound = batch.statements.map { BoundParameters($0.parameters) }
        for (index, statement) in batch.statements.enumerated() {
            let parameters = bound[index]
            guard parameters.types.count <= Int(UInt16.max), parameters.size < Int(Int32.max) / 2 else {
                return reject(batch, index, "it has more parameters than the protocol can carry")
            }
            guard !statement.text.utf8.contains(0) else {
                return reject(batch, index, "its text holds a zero byte")
            }
        }
        batch.isBegun = true
        prepared.beginBatch()
        if isPooled {
            guard unsafe relay_pq_send_statement(raw, Self.pooledSettings, 0, nil, nil, nil, nil) else {
                return fail()
            }
            batch.expected.append(.settings)
        }
        for (index, statement) in batch.statements.enumerated() {
            guard write(statement, bound[index], index, batch) else { return fail() }
        }
        batch.expected.append(.sync)
        guard unsafe relay_pq_send_sync(raw) else { return fail() }
        flush()
    }

    /// A batch that cannot be sent; nothing of it was.
    private func reject(_ batch: Batch, _ index: Int, _ reason: String) {
        let subject = "statement \(index + 1) of \(batch.statements.count)"
        var error = PostgresError(.protocolError, "cannot send \(subject): \(reason)", statement: index)
        error.endsConnection = false
        finish(batch, .failure(error))
    }

    private func write(
        _ statement: PostgresStatement,
        _ parameters: BoundParameters,
        _ index: Int,
        _ batch: Batch
    ) -> Bool {
        let entry = isPooled ? nil : prepared.entry(statement.text, parameters.types)
        defer { batch.expected.append(.statement(index)) }
        guard let entry else {
            return unsafe parameters.withPointers { values, lengths, formats in
                unsafe relay_pq_send_statement(
                    raw,
                    statement.text,
                    parameters.count,
                    parameters.types,
                    values,
                    lengths,
                    formats
                )
            }
        }
        if !entry.isPrepared, !entry.isSent {
            guard
                closeUnused(batch),
                unsafe relay_pq_send_prepare(
                    raw,
                    entry.name,
                    statement.text,
                    parameters.count,
                    parameters.types
                )
            else { return false }
            entry.isSent = true
            batch.expected.append(.preparation(entry, statement: index))
        }
        return unsafe parameters.withPointers { values, lengths, formats in
            unsafe relay_pq_send_prepared(raw, entry.name, parameters.count, values, lengths, formats)
        }
    }

    /// Has the server forget what makes room for another prepared statement; again, where a batch before was rolled back.
    private func closeUnused(_ batch: Batch) -> Bool {
        for name in prepared.unused where !batch.closes(name) {
            guard unsafe relay_pq_send_statement(raw, "DEALLOCATE \(name)", 0, nil, nil, nil, nil) else {
                return false
            }
            batch.expected.append(.closing(name))
        }
        return true
    }

    /// Hands to the system what it takes, and asks to hear of room for the rest.
    private func flush() {
        switch unsafe relay_pq_flush(raw) {
        case 0:
            batches.first?.isSent = true
            loop.watch(self, for: .readable)
        case 1: loop.watch(self, for: [.readable, .writable])
        default: fail()
        }
    }

    /// Reads what is there, and goes on.
    func exchange() {
        let batch = batches.first
        var isAlive = unsafe relay_pq_consume(raw)
        while isAlive, unsafe relay_pq_buffered(raw) > 0 { isAlive = unsafe relay_pq_consume(raw) }
        takeResults()
        takeNotifications()
        tellNotices()
        guard end == nil else { return }
        guard isAlive else { return fail() }
        // An answer that is whole is none of a flood.
        guard batch !== batches.first || !isFlooded else { return fail() }
        if let batch = batches.first {
            if !batch.isSent { flush() }
        } else if lastReport != nil {
            // The server has said that it stops.
            fail()
        }
    }

    /// Whether an answer, or a message that nobody asked for, is longer than it may be.
    ///
    /// The library reads a message whole, up to two gigabytes, while it comes faster than it is read. A Unix socket is not
    /// measured: its server is this machine's own. The copy of the socket outlives the library's.
    private var isFlooded: Bool {
        answerStart >= 0 && relay_pq_read_count(descriptor) - answerStart > Int64(limits.answer)
    }

    /// Counts from here on as one answer.
    func beginAnswer() {
        if answerStart >= 0 { answerStart = relay_pq_read_count(descriptor) }
    }

    private func takeResults() {
        var empty = 0
        while end == nil, let batch = batches.first, !(unsafe relay_pq_is_busy(raw)) {
            guard let result = unsafe relay_pq_next_result(raw) else {
                // The results of a statement end with a null pointer; two are the end of all.
                empty += 1
                guard empty < 2 else { return fail() }
                continue
            }
            defer { unsafe relay_pq_clear(result) }
            empty = 0
            unsafe take(result, batch)
        }
    }

    @unsafe private func take(_ result: OpaquePointer, _ batch: Batch) {
        switch unsafe relay_pq_result_status(result) {
        case Int32(RELAY_PQ_COMMAND_OK), Int32(RELAY_PQ_TUPLES_OK), Int32(RELAY_PQ_EMPTY_QUERY):
            switch batch.next {
            case .closing(let name): prepared.closed(name)
            case .preparation(let entry, _): entry.isPrepared = true
            case .statement: unsafe batch.add(PostgresResult(copying: result))
            case .settings, .rollback: break
            case .sync, nil: return violate()
            }
            batch.answered += 1
        case Int32(RELAY_PQ_PIPELINE_ABORTED): batch.answered += 1
        case Int32(RELAY_PQ_PIPELINE_SYNC):
            guard case .sync? = batch.next else { return violate() }
            batch.answered += 1
            synced(batch)
        case Int32(RELAY_PQ_FATAL_ERROR), Int32(RELAY_PQ_BAD_RESPONSE):
            let report = unsafe ServerReport(result)
            // The library itself has nothing to say but that the connection is over.
            guard report.sqlState != nil else { return fail() }
            if batch.failure != nil, case .rollback? = batch.next { return fail() }
            batch.fail(report, at: endpoint)
            forget(report, batch)
            if case .sync? = batch.next {} else { batch.answered += 1 }
        default: violate()
        }
    }

    /// A plan that does not hold any more, or a statement that is not there, is prepared anew the next time.
    private func forget(_ report: ServerReport, _ batch: Batch) {
        guard ["0A000", "26000"].contains(report.sqlState) else { return }
        if case .closing(let name)? = batch.next { prepared.closed(name) }
        guard let index = batch.failure?.statement else { return }
        prepared.forget(batch.statements[index].text, isHeld: report.sqlState == "0A000")
    }

    /// The pipeline is through: the connection is ready again, or in a transaction that failed.
    private func synced(_ batch: Batch) {
        for case .preparation(let entry, _) in batch.expected { entry.isSent = false }
        guard let failure = batch.failure else { return finish(batch, .success(batch.finalResults)) }
        guard !failure.endsConnection else { return close(failure) }
        let status = unsafe relay_pq_transaction_status(raw)
        guard status != Int32(RELAY_PQ_TRANSACTION_IDLE) else { return finish(batch, .failure(failure)) }
        batch.expected += [.rollback, .sync]
        batch.isSent = false
        guard unsafe relay_pq_send_statement(raw, "ROLLBACK", 0, nil, nil, nil, nil),
            unsafe relay_pq_send_sync(raw)
        else { return fail() }
        flush()
    }

    private func finish(_ batch: Batch, _ result: Result<[PostgresResult], PostgresError>) {
        loop.cancel(batch.timer)
        batches.removeFirst()
        beginAnswer()
        batch.finish(result)
        if let next = batches.first { send(next) }
    }

    /// The peer does what no server does, or was asked for what this layer cannot do.
    private func violate() {
        close(
            PostgresError(
                .protocolError,
                "\(endpoint) gave an answer that was not asked for; COPY cannot be used here"
            )
        )
    }

    /// The connection is over: what the server said before, or else what the library says.
    private func fail() {
        // The library may have read the whole flood, and stumbled over its end.
        guard !isFlooded else {
            let error = PostgresError(
                .protocolError,
                "\(endpoint) sent an answer of more than \(limits.answer) bytes; the connection is closed"
            )
            return close(error)
        }
        if let report = lastReport {
            let state = report.sqlState.map { " (\($0))" } ?? ""
            return close(
                PostgresError(
                    .lost,
                    "\(endpoint) ended the connection: \(report.message)\(state)",
                    sqlState: report.sqlState
                )
            )
        }
        let reason = unsafe plainText(relay_pq_error_message(raw))
        close(
            PostgresError(
                .lost,
                "the connection to \(endpoint) was lost\(reason.isEmpty ? "" : ": \(reason)")"
            )
        )
    }

    private func takeNotifications() {
        while end == nil, let notification = unsafe relay_pq_next_notification(raw) {
            if batches.isEmpty { beginAnswer() }
            let channel = unsafe plainText(notification.pointee.channel)
            let payload = unsafe String(cString: notification.pointee.payload)
            unsafe relay_pq_free_notification(notification)
            onNotification?(channel, payload)
        }
    }

    private func tellNotices() {
        let told = notices
        notices = []
        if !told.isEmpty, batches.isEmpty { beginAnswer() }
        for notice in told { onNotice?(notice) }
    }
}
