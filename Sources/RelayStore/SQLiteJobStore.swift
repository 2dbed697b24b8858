import Glibc
package import RelayBase
package import RelayJobs
import RelayPosix
import Synchronization

/// The job store of one process: a SQLite database in WAL mode, one connection that writes, and files for large
/// bodies, all in one directory.
package final class SQLiteJobStore: JobStore {
    private let queue: CommitQueue
    let shared: StoreShared
    let reader: WorkerThread<StoreReader>
    private let reads = PendingReads()
    let fileThread: WorkerThread<BodyFiles>
    private let files: BodyFiles
    private let spools = Atomic<UInt64>(0)
    private let ended: Latch

    /// Bodies up to this size stand in their row.
    package static let inlineLimit = StoredBodyFile.pieceSize

    /// Goes up while a store is looked through, which takes long where it is large and damage has been met in it.
    package static var progress: UInt64 { Database.reads }

    /// Opens the store in a directory, making one where there is none.
    ///
    /// A limit on the size of files (RLIMIT_FSIZE) is a full disk from now on: the process no longer dies of SIGXFSZ.
    ///
    /// - Throws: `locked`, `newerSchema`, `corrupt`, `foreign`, `directory`; the files are then as they were.
    package static func open(
        _ options: StoreOptions,
        at now: JobMoment
    ) async throws(StoreError) -> SQLiteJobStore {
        _ = signal(SIGXFSZ, SIG_IGN)
        let result: Result<SQLiteJobStore, StoreError> = await withCheckedContinuation { continuation in
            do throws(PosixError) {
                try startDetachedThread("store", stackSize: 1 << 20) {
                    Self.live(options, now) { continuation.resume(returning: $0) }
                }
            } catch {
                continuation.resume(
                    returning: .failure(StoreError(.failed, "cannot start the job store's thread: \(error)"))
                )
            }
        }
        return try result.get()
    }

    /// The whole life of the writer's thread.
    private static func live(
        _ options: StoreOptions,
        _ now: JobMoment,
        opened: (Result<SQLiteJobStore, StoreError>) -> Void
    ) {
        let ended = Latch()
        // The directory is let go when everything that used it has ended.
        defer { ended.signal() }
        do throws(StoreError) {
            let directory = try StoreDirectory(options.directory)
            let ballast = ReserveFile(path: directory.ballast, limit: options.ballast)
            let writer = try Self.writer(directory, options, ballast, now)
            let files = writer.files
            let fileThread = try WorkerThread<BodyFiles>("store-files") { files }
            let path = directory.database
            let shared = writer.shared
            // Waited for: it must have the files that the writer has, whatever is put in their place later.
            let reader = try WorkerThread<StoreReader>(waiting: "store-reader") { () throws(StoreError) in
                try StoreReader(path, shared: shared, timeout: options.readTimeout)
            }
            let queue = CommitQueue()
            let commits = GroupCommit(
                writer,
                queue: queue,
                ballast: ballast,
                removeFiles: { names in fileThread.start { $0.remove(names) } }
            )
            let store = SQLiteJobStore(queue, shared, reader, fileThread, files, ended)
            store.fileThread.removeOrphans(unknownTo: reader)
            // A caller that looks at once sees since when jobs have been due.
            shared.tellOldest(writer.plain.news())
            opened(.success(store))
            commits.run()
            // In this order: what is left on the thread for files may ask the reader.
            fileThread.end()
            reader.end()
            withExtendedLifetime(directory) {}
        } catch { opened(.failure(error)) }
    }

    /// Opens with the ballast's room where there is no other.
    private static func writer(
        _ directory: StoreDirectory,
        _ options: StoreOptions,
        _ ballast: ReserveFile,
        _ now: JobMoment
    ) throws(StoreError) -> StoreWriter {
        do throws(StoreError) {
            return try StoreWriter.open(directory, options, at: now)
        } catch {
            guard error.code == .full else { throw error }
            ballast.release()
            return try StoreWriter.open(directory, options, at: now, isFull: true)
        }
    }

    private init(
        _ queue: CommitQueue,
        _ shared: StoreShared,
        _ reader: WorkerThread<StoreReader>,
        _ fileThread: WorkerThread<BodyFiles>,
        _ files: BodyFiles,
        _ ended: Latch
    ) {
        self.queue = queue
        self.shared = shared
        self.reader = reader
        self.fileThread = fileThread
        self.files = files
        self.ended = ended
    }

    deinit { queue.close() }

    package func close() async {
        shared.close()
        queue.close()
        await ended.wait()
    }
}

extension SQLiteJobStore {
    func write<Value: Sendable>(
        _ kind: CommitQueue.Kind,
        weight: Int,
        landed: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable (StoreWriter) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            submit(kind, weight: weight, landed: landed, { continuation.resume(returning: $0) }, body)
        }
        return try result.get()
    }

    /// The same for who has no task, and is told on the store's thread.
    private func submit<Value: Sendable>(
        _ kind: CommitQueue.Kind,
        weight: Int = 1,
        landed: @escaping @Sendable (Value) -> Void = { _ in },
        _ told: @escaping @Sendable (Result<Value, StoreError>) -> Void,
        _ body: @escaping @Sendable (StoreWriter) throws(StoreError) -> Value
    ) {
        let run: @Sendable (StoreWriter) throws(StoreError) -> @Sendable () -> Void = {
            writer throws(StoreError) in
            let value = try body(writer)
            return {
                landed(value)
                told(.success(value))
            }
        }
        queue.submit(CommitQueue.Task(kind: kind, weight: weight, run: run, fail: { told(.failure($0)) }))
    }

    package func enqueue(_ jobs: [NewJob], at now: JobMoment) async throws(StoreError) -> [EnqueueResult] {
        var jobs = jobs
        var spooled: [String] = []
        do throws(StoreError) {
            for index in jobs.indices where !jobs[index].lacksCapacity {
                if Self.needsFile(jobs[index].body) { jobs[index].body = try await spool(jobs[index].body) }
                if case .file(let file) = jobs[index].body { spooled.append(file.name) }
            }
            let accepted = jobs.map { OfferedJob($0) }
            let landed: @Sendable ([EnqueueResult]) -> Void = { [shared] answers in
                for (job, answer) in zip(accepted, answers) { shared.land(job, answer) }
            }
            // Without room a key is looked up all the same.
            let kind = jobs.allSatisfy(\.lacksCapacity) ? CommitQueue.Kind.other : .accept
            return try await write(kind, weight: accepted.count, landed: landed) {
                writer throws(StoreError) in
                try writer.enqueue(accepted, at: now)
            }
        } catch {
            // Jobs whose write failed for good may be on disk; the next start knows.
            let names = spooled
            if error.code != .failed { fileThread.start { $0.remove(names) } }
            throw error
        }
    }

    package func enqueue(
        _ offered: OfferedJob,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<EnqueueResult, StoreError>) -> Void
    ) -> Bool {
        guard case .bytes(let bytes) = offered.job.body, bytes.count <= Self.inlineLimit else { return false }
        // Without `submit`, whose closures hold each other: this is on the way of every job.
        let run: @Sendable (StoreWriter) throws(StoreError) -> @Sendable () -> Void = {
            [shared] writer throws(StoreError) in
            let answer = try writer.enqueue(offered, at: now)
            return {
                shared.land(offered, answer)
                told(.success(answer))
            }
        }
        let kind: CommitQueue.Kind = offered.job.lacksCapacity ? .other : .accept
        queue.submit(CommitQueue.Task(kind: kind, weight: 1, run: run, fail: { told(.failure($0)) }))
        return true
    }

    package func claim(
        _ route: String,
        limit: Int,
        upstream: String,
        at now: JobMoment
    ) async throws(StoreError) -> ClaimBatch {
        try await write(.claim, weight: limit) { writer throws(StoreError) in
            try writer.claim(route, limit: min(limit, 1_024), upstream: upstream, at: now)
        }
    }

    package func begin(_ next: NextAttempt, at now: JobMoment) async throws(StoreError) -> Bool {
        try await write(.other, weight: 1) { writer throws(StoreError) in try writer.begin(next, at: now) }
    }

    package func note(_ attempt: Attempt, of id: JobID, at now: JobMoment) async throws(StoreError) -> Bool {
        try await write(.other, weight: 1) { writer throws(StoreError) in
            try writer.note(attempt, of: id, at: now)
        }
    }

    package func settle(
        _ settlements: [Settlement],
        at now: JobMoment
    ) async throws(StoreError) -> [Settlement.Answer] {
        var settlements = settlements
        var spooled: [String] = []
        do throws(StoreError) {
            for index in settlements.indices {
                guard let body = settlements[index].answer?.body else { continue }
                if Self.needsFile(body) { settlements[index].answer?.body = try await spool(body) }
                if case .file(let file)? = settlements[index].answer?.body { spooled.append(file.name) }
            }
            let settled = settlements
            return try await write(.other, weight: settled.count) { writer throws(StoreError) in
                try writer.settle(settled, at: now)
            }
        } catch {
            // As with acceptance; the answer comes again with the next try, in a file of its own.
            let names = spooled
            if error.code != .failed { fileThread.start { $0.remove(names) } }
            throw error
        }
    }

    package func settle(
        _ settlement: Settlement,
        at now: JobMoment,
        _ told: @escaping @Sendable (Result<Settlement.Answer, StoreError>) -> Void
    ) -> Bool {
        switch settlement.answer?.body {
        case .bytes(let bytes)? where bytes.count > Self.inlineLimit: return false
        case .file?: return false
        case .bytes?, .expunged?, nil: break
        }
        submit(.other, told) { writer throws(StoreError) in
            try writer.settle([settlement], at: now).first ?? .stale
        }
        return true
    }

    package func apply(_ order: ActionOrder, at now: JobMoment) async throws(StoreError) -> ActionReport {
        var bounded = order
        bounded.limit = min(order.limit, 500)
        let order = bounded
        if order.isDryRun {
            return try await read { reader throws(StoreError) in try reader.count(order) }
        }
        return try await write(.other, weight: order.limit) { writer throws(StoreError) in
            try writer.apply(order, at: now)
        }
    }

    package func sweep(
        _ retention: Retention,
        limit: Int,
        at now: JobMoment
    ) async throws(StoreError) -> SweepReport {
        try await write(.sweep, weight: limit) { writer throws(StoreError) in
            try writer.sweep(retention, limit: max(1, min(limit, 500)), at: now)
        }
    }

    package func pause(_ route: String, _ pause: RoutePause?, at now: JobMoment) async throws(StoreError) {
        try await write(.other, weight: 1) { writer throws(StoreError) in
            try writer.advance(to: now)
            try writer.pause(route, pause)
        }
    }

    package func begin(_ run: ActionRun, at now: JobMoment) async throws(StoreError) -> ActionRun? {
        try await write(.other, weight: 1) { writer throws(StoreError) in try writer.begin(run, at: now) }
    }

    package func advance(
        _ run: Int64,
        by step: RunStep,
        at now: JobMoment
    ) async throws(StoreError) -> RunAdvance? {
        try await write(.other, weight: step.limit) { writer throws(StoreError) in
            try writer.advance(run, by: step, at: now)
        }
    }

    package func end(
        _ run: Int64,
        as state: ActionRun.State,
        by: Principal?,
        failure: String?,
        at now: JobMoment
    ) async throws(StoreError) -> ActionRun? {
        try await write(.other, weight: 1) { writer throws(StoreError) in
            try writer.end(run, as: state, by: by, failure: failure, at: now)
        }
    }
}

extension SQLiteJobStore {
    /// Nanoseconds that one read lasts on a disk that does not answer.
    private static let readStall: Int64 = 3_000_000_000
    /// Nanoseconds after which those who wait for such a disk are told.
    private static let readTimeout: Int64 = 4_000_000_000
    /// Nanoseconds that a read may wait for others in any case.
    private static let longestRead: Int64 = 30_000_000_000

    /// Reads, and throws `stalled` when the disk does not answer: at once where it has not for seconds already.
    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (StoreReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let now = SystemClock.monotonic()
        guard reading.duration(at: now) < Self.readStall else { throw .stalled }
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            let number = reads.began(at: now) { continuation.resume(returning: .failure($0)) }
            reader.submit { [reads] reader in
                guard reads.isAwaited(number) else { return }
                let outcome = Result { () throws(StoreError) in
                    guard let reader else { throw StoreError.closed }
                    return try body(reader)
                }
                if reads.ended(number) { continuation.resume(returning: outcome) }
            }
        }
        return try result.get()
    }

    /// Tells those who have waited too long for a read; to be called again and again, from anywhere.
    ///
    /// - Returns: whether the disk does not answer.
    package func lookAtReads(at now: Int64) -> Bool {
        let isStalled = reading.duration(at: now) >= Self.readStall
        reads.giveUp(askedBy: now - (isStalled ? Self.readTimeout : Self.longestRead))
        return isStalled
    }
}

extension SQLiteJobStore {
    package func job(_ id: JobID) async throws(StoreError) -> StoredJob? {
        try await read { reader throws(StoreError) in try reader.job(id) }
    }

    package func whole(_ id: JobID, _ extent: WholeJob.Extent) async throws(StoreError) -> WholeJob? {
        try await read { reader throws(StoreError) in try reader.whole(id, extent) }
    }

    package func jobs(
        _ filter: JobFilter,
        order: ListOrder,
        limit: Int,
        after cursor: JobCursor?
    ) async throws(StoreError) -> JobPage {
        try await read { reader throws(StoreError) in
            try reader.jobs(filter, order, min(limit, 500), cursor)
        }
    }

    package func body(of id: JobID) async throws(StoreError) -> StoredBody? {
        try await read { reader throws(StoreError) in try reader.body(of: id) }
    }

    package func answer(of id: JobID) async throws(StoreError) -> StoredAnswer? {
        try await read { reader throws(StoreError) in try reader.answer(of: id) }
    }

    package func attempts(
        of id: JobID,
        after number: Int,
        limit: Int
    ) async throws(StoreError) -> [Attempt] {
        try await read { reader throws(StoreError) in
            try reader.attempts(of: id, after: number, limit: min(limit, 500))
        }
    }

    package func counters(at now: JobMoment, withDue: Bool) async throws(StoreError) -> JobCounters {
        try await read { reader throws(StoreError) in try reader.counters(at: now, withDue: withDue) }
    }

    package func failures(
        of route: String?,
        at now: JobMoment
    ) async throws(StoreError) -> [FailureKind: [Int]] {
        try await read { reader throws(StoreError) in try reader.failures(of: route, at: now) }
    }

    package func unfinishedByUser() async throws(StoreError) -> [UInt32?: Int] {
        try await unfinishedByUser(span: 5_000)
    }

    /// The same with at most `span` jobs looked at in one read, so that other reads are not kept waiting for long.
    package func unfinishedByUser(span: Int64) async throws(StoreError) -> [UInt32?: Int] {
        var counts: [UInt32?: Int] = [:]
        var position: Int64? = 0
        while let first = position {
            let (page, next) = try await read { reader throws(StoreError) in
                try reader.unfinishedByUser(after: first, span: span)
            }
            counts.merge(page, uniquingKeysWith: +)
            position = next
        }
        return counts
    }

    package func ending(
        by end: Int64,
        of routes: [String]
    ) async throws(StoreError) -> [String: EndingJobs] {
        var found = try await read { reader throws(StoreError) in try reader.expiring(by: end) }
        // In reads of their own, so that others are not kept waiting for long.
        for route in routes {
            let limit = StoreReader.endingLimit / routes.count
            let failed = try await read { reader throws(StoreError) in
                try reader.failed(of: route, dueBy: end, limit: limit)
            }
            if !failed.isEmpty { found[route, default: EndingJobs()].failed = failed }
        }
        return found
    }

    package func pauses() async throws(StoreError) -> [String: RoutePause] {
        try await read { reader throws(StoreError) in try reader.pauses() }
    }

    package func runs() async throws(StoreError) -> [ActionRun] {
        try await read { reader throws(StoreError) in try reader.runs() }
    }

    package func piece(_ index: Int, of file: StoredBodyFile) async throws(StoreError) -> [UInt8] {
        do throws(StoreError) {
            return try await fileThread.perform { files throws(StoreError) in try files.read(index, of: file)
            }
        } catch {
            if error.code == .corrupt { shared.countCorrupt(error) }
            throw error
        }
    }

    package func spool() async throws(StoreError) -> any BodySpool {
        let number = spools.add(1, ordering: .relaxed).newValue
        let (files, thread) = (files, fileThread)
        return try await thread.perform { _ throws(StoreError) in
            try FileSpool(number, files: files, thread: thread)
        }
    }

    private static func needsFile(_ body: StoredBody) -> Bool {
        if case .bytes(let bytes) = body { bytes.count > inlineLimit } else { false }
    }

    /// Puts a large body into a file.
    private func spool(_ body: StoredBody) async throws(StoreError) -> StoredBody {
        guard case .bytes(let bytes) = body, bytes.count > Self.inlineLimit else { return body }
        let spool = try await spool()
        do throws(StoreError) {
            // By pieces: the body is in memory already, and need not be there twice.
            for start in stride(from: 0, to: bytes.count, by: StoredBodyFile.pieceSize) {
                let end = min(bytes.count, start + StoredBodyFile.pieceSize)
                try await spool.append(Array(bytes[start..<end]))
            }
            return .file(try await spool.finish())
        } catch {
            spool.discard()
            throw error
        }
    }
}
