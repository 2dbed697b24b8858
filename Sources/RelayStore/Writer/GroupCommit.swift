import RelayCore
import RelayPosix

/// The writer's thread: takes what waits, puts it into one transaction, and answers once that is on disk.
final class GroupCommit {
    private let writer: StoreWriter
    private let queue: CommitQueue
    private let ballast: Ballast
    private let options: SQLiteJobStore.Options
    private let removeFiles: ([String]) -> Void
    private let suspect: () -> Void
    private var isFull: Bool
    private var hasBallast: Bool
    /// What the database took at the end of the last transaction; looked up inside it, where that costs no locks.
    private var pages: (all: Int64, free: Int64) = (0, 0)
    /// Steady nanoseconds before which space is not asked for again.
    private var nextTry: Int64 = 0

    init(
        _ writer: StoreWriter,
        queue: CommitQueue,
        ballast: Ballast,
        suspect: @escaping () -> Void,
        removeFiles: @escaping ([String]) -> Void
    ) {
        self.writer = writer
        self.queue = queue
        self.ballast = ballast
        options = writer.options
        self.suspect = suspect
        self.removeFiles = removeFiles
        hasBallast = ballast.take()
        isFull = !hasBallast
    }

    /// Returns when the queue is closed and empty, or the store has failed.
    func run() {
        do throws(StoreError) {
            try lookAtPages()
            publish()
            // What the opening has ended.
            tell()
            while let tasks = take() {
                if !tasks.isEmpty { try commit(tasks) }
                try doOwnWork()
                if writer.database.logPages >= options.checkpointPages { try checkpoint() }
                regainSpace()
                publish()
            }
            try end()
        } catch {
            if writer.database.isInTransaction { try? writer.database.execute("ROLLBACK") }
            if error.code == .corrupt { suspect() }
            queue.fail(error)
            options.events.fatal(error)
        }
    }

    /// What waits; nil when there will be nothing more.
    private func take() -> [CommitQueue.Task]? {
        writer.shared.activity.end()
        defer { writer.shared.activity.begin() }
        return queue.take(waits: !hasOwnWork)
    }

    private var hasOwnWork: Bool {
        // Without room the claims put dated jobs on the line anew, each a few.
        !isFull && (writer.keys.wantsStep || writer.wantsTails || writer.volatile.redateFrom != nil)
    }

    /// Takes a step of what nobody waits for, in a transaction of its own.
    private func doOwnWork() throws(StoreError) {
        guard hasOwnWork else { return }
        let keys = writer.keys
        let volatile = writer.volatile
        do throws(StoreError) {
            try writer.database.statement("BEGIN IMMEDIATE").run()
            if writer.keys.wantsStep { try writer.keys.step(in: writer.database) }
            if writer.wantsTails { try writer.stepTails() }
            if writer.volatile.redateFrom != nil { try writer.wake() }
            try writer.flushTally()
            try lookAtPages()
            try commitTransaction()
            announce()
        } catch {
            guard error.code == .full else { throw error }
            try rollBack(to: volatile)
            writer.keys = keys
            enterFull(error)
        }
    }

    private func checkpoint() throws(StoreError) {
        do throws(StoreError) {
            try writer.database.checkpoint()
        } catch {
            guard error.code == .full else { throw error }
            enterFull(error)
        }
    }

    /// Ends in order; without room for that the next start finds its way as after a crash.
    private func end() throws(StoreError) {
        do throws(StoreError) {
            try conclude()
        } catch {
            guard error.code == .full else { throw error }
            if writer.database.isInTransaction { try writer.database.execute("ROLLBACK") }
        }
    }

    private func conclude() throws(StoreError) {
        try writer.database.statement("BEGIN IMMEDIATE").run()
        try writer.setMeta("line", writer.now)
        try writer.setMeta("skew", writer.volatile.timeline.skew)
        try writer.setMeta("clean", 1)
        try commitTransaction()
        try writer.database.checkpoint(truncate: true)
    }
}

extension GroupCommit {
    /// A transaction that cannot be: because of one task, or of all.
    private struct Setback: Error {
        var error: StoreError
        var task: Int?
    }

    private func commit(_ waiting: [CommitQueue.Task]) throws(StoreError) {
        // Claims first: a claim that is answered early sees nothing that is not on disk yet, and finds the same jobs
        // again should the transaction have to be repeated.
        var tasks = waiting.filter { $0.kind == .claim } + waiting.filter { $0.kind != .claim }
        var told: Set<Int> = []
        var isOver = isOver
        let volatile = writer.volatile
        while !tasks.isEmpty {
            if isOver {
                refuse(&tasks)
                if tasks.isEmpty { return }
            }
            let answers: [CommitQueue.Answer]
            do throws(Setback) {
                answers = try attempt(tasks, &told)
            } catch {
                try rollBack(to: volatile)
                if error.error.code == .full, !isFull {
                    enterFull(error.error)
                    isOver = true
                    continue
                }
                if error.error.code == .full, error.task == nil, told.isEmpty {
                    // Nothing of it is on disk, and nobody was told otherwise: it can all be asked again.
                    for task in tasks { task.fail(error.error) }
                    return
                }
                guard let index = error.task, error.error.code == .corrupt || error.error.code == .full,
                    !told.contains(index)
                else {
                    for (index, task) in tasks.enumerated() where !told.contains(index) {
                        task.fail(error.error)
                    }
                    // Nobody believes anything that is not on disk: what found no room may be asked for again.
                    if error.error.code == .full, told.isEmpty { return }
                    throw error.error
                }
                tasks[index].fail(error.error)
                tasks.remove(at: index)
                told = Set(told.map { $0 > index ? $0 - 1 : $0 })
                continue
            }
            // Who is answered and then looks sees the times that the answer was given by.
            publish()
            for answer in answers { answer.give() }
            try cancelAbandoned()
            announce()
            return
        }
    }

    /// Cancels what was accepted when its caller had stopped to wait, before anybody can claim it.
    private func cancelAbandoned() throws(StoreError) {
        let abandoned = writer.shared.takeAbandoned()
        guard !abandoned.isEmpty else { return }
        let volatile = writer.volatile
        do throws(StoreError) {
            try cancel(abandoned)
        } catch {
            guard error.code == .full else { throw error }
            try rollBack(to: volatile)
            // The ballast's room is for what has to be written all the same.
            enterFull(error)
            try cancel(abandoned)
        }
    }

    private func cancel(_ jobs: [JobID]) throws(StoreError) {
        try writer.database.statement("BEGIN IMMEDIATE").run()
        for id in jobs { try writer.cancelAbandoned(id) }
        try writer.flushTally()
        try lookAtPages()
        try commitTransaction()
    }

    private func refuse(_ tasks: inout [CommitQueue.Task]) {
        let error = StoreError(
            .full,
            "cannot accept jobs: the job store \(writer.database.path) has no room; free space on its disk, or raise "
                + "storage.max_size"
        )
        for task in tasks where task.kind == .accept { task.fail(error) }
        // Claims stand first, so that their places do not change.
        tasks.removeAll { $0.kind == .accept }
    }

    private func attempt(
        _ tasks: [CommitQueue.Task],
        _ told: inout Set<Int>
    ) throws(Setback) -> [CommitQueue.Answer] {
        var answers: [CommitQueue.Answer] = []
        answers.reserveCapacity(tasks.count)
        var current: Int?
        do throws(StoreError) {
            try writer.database.statement("BEGIN IMMEDIATE").run()
            for (index, task) in tasks.enumerated() {
                current = index
                let answer = try task.run(writer)
                if told.contains(index) { continue }
                if answer.isEarly, !isFull {
                    answer.give()
                    told.insert(index)
                } else {
                    answers.append(answer)
                }
            }
            current = nil
            try writer.flushTally()
            try lookAtPages()
        } catch { throw Setback(error: error, task: current) }
        do throws(StoreError) {
            try commitTransaction()
        } catch {
            // Whether it is on disk is not known, unless there was no room for it.
            throw Setback(error: error.code == .full ? error : error.fatal, task: nil)
        }
        return answers
    }

    private func commitTransaction() throws(StoreError) {
        try writer.database.statement("COMMIT").run()
        writer.keys.commit()
        writer.tails.commit()
    }

    private func rollBack(to volatile: StoreWriter.Volatile) throws(StoreError) {
        if writer.database.isInTransaction { try writer.database.execute("ROLLBACK") }
        try lookAtPages()
        writer.volatile = volatile
        writer.keys.rollBack()
        writer.tails.rollBack()
        // Routes named in this transaction have no row.
        try writer.loadRoutes()
    }

    /// Tells what the transaction has changed for others.
    private func announce() {
        let ready = writer.volatile.ready
        let orphans = writer.volatile.orphans
        writer.volatile.ready = []
        writer.volatile.orphans = []
        if !orphans.isEmpty { removeFiles(orphans) }
        if !ready.isEmpty { options.events.ready(ready) }
        tell()
        writer.commits += 1
    }

    /// Tells what has happened to jobs that nobody asked about.
    private func tell() {
        let (ended, untold, notices) = (
            writer.volatile.ended, writer.volatile.untold, writer.volatile.notices
        )
        writer.volatile.ended = []
        writer.volatile.untold = 0
        writer.volatile.notices = []
        for notice in notices { options.events.notice(notice) }
        if !ended.isEmpty { options.events.ended(ended) }
        if untold > 0 {
            options.events.notice("\(untold) more jobs came to their end at once; look for them in the list")
        }
    }
}

extension GroupCommit {
    private func enterFull(_ error: StoreError) {
        if !isFull { options.events.notice("\(error.message); no job is accepted until there is room again") }
        isFull = true
        hasBallast = false
        ballast.release()
        nextTry = SystemClock.monotonic() + options.spaceInterval.saturatedNanoseconds
    }

    /// Looks now and then whether there is room again: on the disk, or in pages of the database that became free.
    private func regainSpace() {
        guard !hasBallast, SystemClock.monotonic() >= nextTry else { return }
        nextTry = SystemClock.monotonic() + options.spaceInterval.saturatedNanoseconds
        hasBallast = ballast.take()
        guard isFull, hasBallast || freeBytes >= 2 * ballast.size else { return }
        isFull = false
        options.events.notice("the job store \(writer.database.path) has room again and accepts jobs")
    }

    /// Whether nothing may be accepted; without the ballast, free pages of its size have to be left for settling.
    private var isOver: Bool {
        isFull || usedBytes >= writer.shared.facts.maxBytes || !hasBallast && freeBytes < ballast.size
    }

    private func lookAtPages() throws(StoreError) {
        pages.all = try writer.database.number("PRAGMA page_count")
        pages.free = try writer.database.number("PRAGMA freelist_count")
    }

    /// Bytes that hold something.
    private var usedBytes: UInt64 {
        UInt64(max(0, pages.all - pages.free)) * 4_096 + UInt64(max(0, writer.volatile.fileBytes))
    }

    /// Bytes of the database that hold nothing.
    private var freeBytes: Int { Int(pages.free) * 4_096 }

    private func publish() {
        let used = usedBytes
        let isOver = isOver
        let log = UInt64(writer.database.logPages) * 4_120
        writer.shared.update(writer.volatile.timeline) { facts in
            facts.usedBytes = used
            facts.isFull = isOver
            facts.commits = writer.commits
            facts.operations = writer.volatile.operations
            facts.logBytes = log
        }
    }
}

extension StoreError {
    /// The same, of a transaction whose fate is unknown.
    var fatal: StoreError { StoreError(.failed, message) }
}
