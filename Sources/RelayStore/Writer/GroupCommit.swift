import RelayBase
import RelayJobs
import RelayPosix

/// The writer's thread: takes what waits, puts it into one transaction, and answers once that is on disk.
final class GroupCommit {
    private let writer: StoreWriter
    private let queue: CommitQueue
    private let ballast: ReserveFile
    private let options: StoreOptions
    private let removeFiles: ([String]) -> Void
    private var isFull = true
    private var hasBallast = false
    /// Whether a file of the store was removed or replaced.
    private var isGone = false
    /// The database's pages at the end of a late transaction; looked up inside it, where that costs no locks.
    private var pages: (all: Int64, free: Int64) = (0, 0)
    /// Pages written into the log since: the database has taken no more of them, nor of those that were free.
    private var writtenPages = 0
    /// So many of them are asked for anew.
    private static let lookPages = 256
    private var disk: DiskSpace?
    /// Steady nanoseconds before which the disk is not looked at again: it is on the way of every job.
    private var nextLook: Int64 = 0
    /// Steady nanoseconds before which space is not asked for again.
    private var nextTry: Int64 = 0
    /// Nanoseconds between two looks for space: more after room that did not last.
    private var tryInterval: Int64
    /// Steady nanoseconds at which there last was room again.
    private var regainedAt: Int64 = .min
    /// Steady nanoseconds at which the log is emptied of what was erased; nil when nothing was.
    private var emptyAt: Int64?
    /// Rows changed when a transaction was last committed.
    private var committedChanges: Int64 = 0
    /// Pages in the log at which they are moved into the database: fewer where the disk is small.
    private let checkpointPages: Int

    init(
        _ writer: StoreWriter,
        queue: CommitQueue,
        ballast: ReserveFile,
        removeFiles: @escaping ([String]) -> Void
    ) {
        self.writer = writer
        self.queue = queue
        self.ballast = ballast
        options = writer.options
        checkpointPages = min(
            options.checkpointPages,
            ballast.size > 0 ? max(32, ballast.size / 16_384) : .max
        )
        if ballast.size > 0 { writer.eraseLimit = ballast.size / 4 }
        self.removeFiles = removeFiles
        tryInterval = options.spaceInterval.saturatedNanoseconds
    }

    /// Returns when the queue is closed and empty, or the store has failed.
    func run() {
        do throws(StoreError) {
            try lookAtPages()
            isFull = !checkSpace()
            lookAtDisk()
            publish()
            // The jobs that the opening has ended, and its notices.
            tell()
            while let tasks = take() {
                if !tasks.isEmpty { try commit(tasks) }
                try doOwnWork()
                if writer.database.logPages >= logLimit { try checkpoint() }
                if let emptyAt, SystemClock.monotonic() >= emptyAt { try emptyLog() }
                try regainSpace()
                lookAtDisk()
                publish()
            }
            try end()
        } catch {
            if writer.database.isInTransaction { try? writer.database.execute("ROLLBACK") }
            if error.code == .corrupt { writer.shared.suspect() }
            queue.fail(error)
            options.events.fatal(error)
        }
    }

    /// Pages that the log may hold: where room is short it is to need as little of it as it can.
    private var logLimit: Int {
        if isFull { return 1 }
        return min(checkpointPages, max(32, Int(clamping: (disk?.available ?? .max) / 8_192)))
    }

    /// The calls that wait; nil when there will be no more.
    private func take() -> [CommitQueue.Task]? {
        writer.shared.activity.end()
        defer { writer.shared.activity.begin() }
        return queue.take(waits: !hasOwnWork)
    }

    private var hasOwnWork: Bool {
        // Without room the claims put dated jobs on the line anew, each a few.
        guard !isFull, !isGone else { return false }
        return writer.keys.wantsStep || writer.wantsTails || writer.volatile.redateFrom != nil
            || writer.volatile.hasUnturned
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
            if writer.volatile.hasUnturned { try writer.giveTurns() }
            try writer.flushTally()
            if wantsPages { try lookAtPages() }
            try commitTransaction()
            announce()
            options.events.changed()
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

    /// Leaves nothing in the log that was erased; where somebody reads, in a second.
    private func emptyLog() throws(StoreError) {
        emptyAt = SystemClock.monotonic() + 1_000_000_000
        do throws(StoreError) {
            if try writer.database.emptyLog() { emptyAt = nil }
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
        try writer.keepTimeline()
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
        guard isLinked() else {
            publish()
            for task in waiting { task.fail(gone) }
            return
        }
        var tasks = waiting
        if mayBeOver { try lookAtPages() }
        var isOver = isOver
        let volatile = writer.volatile
        while !tasks.isEmpty {
            writer.isFull = isOver
            if isOver {
                // A caller that is refused and then looks sees why.
                publish()
                refuse(&tasks)
                if tasks.isEmpty { return }
            }
            let answers: [@Sendable () -> Void]
            do throws(Setback) {
                answers = try attempt(tasks)
            } catch {
                try rollBack(to: volatile)
                if error.error.code == .full, !isFull {
                    enterFull(error.error)
                    isOver = true
                    continue
                }
                if error.error.code == .full, error.task == nil {
                    // Nothing of it is on disk, and nobody was told otherwise: it can all be asked again.
                    for task in tasks { task.fail(error.error) }
                    return
                }
                if error.error.code != .full { writer.shared.countError(error.error) }
                guard let index = error.task, error.error.code == .corrupt || error.error.code == .full else {
                    for task in tasks { task.fail(error.error) }
                    throw error.error
                }
                tasks[index].fail(error.error)
                tasks.remove(at: index)
                continue
            }
            // Only who is told that a job is kept has to know that a start would find it.
            let isKept = !tasks.contains { $0.kind == .accept } || isLinked()
            // A caller that is answered and then looks sees the times that the answer was given by.
            publish()
            for (task, answer) in zip(tasks, answers) {
                if isKept || task.kind != .accept { answer() } else { task.fail(gone) }
            }
            try giveUpAbandoned()
            announce()
            if tasks.contains(where: { $0.kind != .sweep }) { options.events.changed() }
            return
        }
    }

    /// Whether the files that are written are those that a start would find.
    private func isLinked() -> Bool {
        let isLinked = writer.standing.allSatisfy(\.isThere)
        guard isLinked == isGone else { return isLinked }
        isGone = !isLinked
        let path = writer.database.path
        if isGone {
            options.events.notice(gone.message)
        } else {
            options.events.relief("the files of the job store \(path) are back: it accepts jobs")
        }
        return isLinked
    }

    private var gone: StoreError {
        StoreError(
            .gone,
            "cannot keep jobs: a file of the job store \(writer.database.path) was removed or replaced while waystationd "
                + "had it open; put back the one that was there, or stop waystationd, restore a backup and start it"
        )
    }

    /// Cancels what was accepted when its caller had stopped to wait, or has it wait, before anybody can claim it.
    private func giveUpAbandoned() throws(StoreError) {
        let abandoned = writer.shared.takeAbandoned()
        guard !abandoned.isEmpty else { return }
        let volatile = writer.volatile
        do throws(StoreError) {
            try giveUp(abandoned)
        } catch {
            guard error.code == .full else { throw error }
            try rollBack(to: volatile)
            // The ballast's room is for what has to be written all the same.
            enterFull(error)
            try giveUp(abandoned)
        }
    }

    private func giveUp(_ jobs: [StoreShared.Abandoned]) throws(StoreError) {
        try writer.database.statement("BEGIN IMMEDIATE").run()
        for job in jobs { try writer.giveUp(job) }
        try writer.flushTally()
        if wantsPages { try lookAtPages() }
        try commitTransaction()
    }

    private func refuse(_ tasks: inout [CommitQueue.Task]) {
        let error = StoreError(
            .full,
            "cannot accept jobs: the job store \(writer.database.path) has no room; free space on its disk, or raise "
                + "storage.max_size"
        )
        for task in tasks where task.kind == .accept { task.fail(error) }
        tasks.removeAll { $0.kind == .accept }
    }

    private func attempt(_ tasks: [CommitQueue.Task]) throws(Setback) -> [@Sendable () -> Void] {
        var answers: [@Sendable () -> Void] = []
        answers.reserveCapacity(tasks.count)
        var current: Int?
        do throws(StoreError) {
            try writer.database.statement("BEGIN IMMEDIATE").run()
            for (index, task) in tasks.enumerated() {
                current = index
                answers.append(try task.run(writer))
            }
            current = nil
            try writer.flushTally()
            // The sweep that comes after the last jobs looks up the pages that they have taken.
            if wantsPages || tasks.contains(where: { $0.kind == .sweep }) { try lookAtPages() }
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
        let began = SystemClock.monotonic()
        let before = writer.database.logPages
        try writer.database.statement("COMMIT").run()
        let after = writer.database.logPages
        // A log that begins anew holds this transaction alone.
        writtenPages += after < before ? after : after - before
        let changes = writer.database.allChanges
        // A sweep that found nothing to do asks nothing of the disk.
        if changes != committedChanges {
            committedChanges = changes
            writer.shared.committed(after: .nanoseconds(SystemClock.monotonic() - began))
        }
        writer.keys.commit()
        writer.tails.commit()
    }

    private func rollBack(to volatile: StoreWriter.Volatile) throws(StoreError) {
        if writer.database.isInTransaction { try writer.database.execute("ROLLBACK") }
        try lookAtPages()
        writer.volatile = volatile
        writer.forgetRows()
        writer.keys.rollBack()
        writer.tails.rollBack()
        // Routes named in this transaction have no row.
        try writer.loadRoutes()
        _ = try writer.loadPlain()
    }

    /// Tells what the transaction has changed for others.
    private func announce() {
        let ready = writer.volatile.ready
        let orphans = writer.volatile.orphans
        writer.volatile.ready = []
        writer.volatile.orphans = []
        writer.volatile.erased = 0
        if !orphans.isEmpty { removeFiles(orphans) }
        if !ready.isEmpty { options.events.ready(writer.named(ready)) }
        if writer.volatile.hasErased {
            writer.volatile.hasErased = false
            emptyAt =
                emptyAt ?? SystemClock.monotonic() + options.eraseDelay.saturatedNanoseconds
        }
        tell()
        writer.commits += 1
    }

    /// Tells what has happened to jobs that nobody asked about.
    private func tell() {
        let (ended, untold, notices) = (
            writer.volatile.ended, writer.volatile.untold, writer.volatile.notices
        )
        if !writer.volatile.noticed.isEmpty {
            options.events.noticed(writer.volatile.noticed)
            writer.volatile.noticed = []
        }
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
        let (now, interval) = (SystemClock.monotonic(), options.spaceInterval.saturatedNanoseconds)
        if !isFull {
            // An operator that hears each second of room that is gone at once learns nothing.
            let hasLasted = now - 10 * interval >= regainedAt
            tryInterval = hasLasted ? interval : min(2 * tryInterval, 8 * interval)
        }
        isFull = true
        // A second try has to end jobs, and may owe what it tells of them.
        writer.isFull = true
        hasBallast = false
        ballast.release()
        nextTry = now + tryInterval
    }

    /// Looks now and then whether there is room again: on the disk, or in pages of the database that became free.
    private func regainSpace() throws(StoreError) {
        guard !hasBallast, SystemClock.monotonic() >= nextTry else { return }
        nextTry = SystemClock.monotonic() + tryInterval
        // The space that the log takes on the disk is room as well.
        if isFull { try emptyLog() }
        guard checkSpace(), isFull else { return }
        isFull = false
        regainedAt = SystemClock.monotonic()
        options.events.relief("the job store \(writer.database.path) has room again and accepts jobs")
    }

    /// Takes the ballast where there is room for it.
    ///
    /// A start asks for as much as a store that was full: or another one would accept what this process refuses.
    /// - Returns: whether there is room for jobs.
    private func checkSpace() -> Bool {
        let (size, available) = (UInt64(ballast.size), ballast.disk?.available ?? .max)
        let hasPages = 2 * freeBytes >= 3 * ballast.size && available >= size / 2
        // Without it free pages are there to be settled into, and the log has the disk to itself.
        if ballast.isHeld || available >= 2 * size || !hasPages { hasBallast = ballast.take() }
        return hasBallast || hasPages
    }

    /// Whether nothing may be accepted; without the ballast, free pages of its size have to be left for settling.
    private var isOver: Bool {
        isFull || usedBytes >= writer.shared.maxBytes || !hasBallast && freeBytes < ballast.size
    }

    private func lookAtPages() throws(StoreError) {
        pages.all = try writer.database.number("PRAGMA page_count")
        pages.free = try writer.database.number("PRAGMA freelist_count")
        writtenPages = 0
    }

    /// Whether what the last look has told may not do any more.
    private var wantsPages: Bool {
        writtenPages >= Self.lookPages || isFull || !hasBallast || mayBeOver
    }

    /// Whether what was written since the last look may have come to all there is.
    private var mayBeOver: Bool {
        writtenPages > 0 && usedBytes + UInt64(writtenPages) * 4_096 >= writer.shared.maxBytes
    }

    private func lookAtDisk() {
        let now = SystemClock.monotonic()
        guard now >= nextLook else { return }
        nextLook = now + options.spaceInterval.saturatedNanoseconds
        disk = ballast.disk
    }

    /// Bytes that hold something.
    private var usedBytes: UInt64 {
        UInt64(max(0, pages.all - pages.free)) * 4_096 + UInt64(max(0, writer.volatile.fileBytes))
    }

    /// Bytes of the database that hold nothing.
    private var freeBytes: Int { Int(pages.free) * 4_096 }

    private func publish() {
        let (used, disk) = (usedBytes, disk)
        let (isOver, isGone) = (isOver, isGone)
        let wantsSweeps = emptyAt != nil || !hasBallast || hasOwnWork
        let log = UInt64(writer.database.logPages) * 4_120
        let owed = writer.volatile.owed
        writer.shared.tellOldest(writer.plain.news())
        writer.shared.update(writer.volatile.timeline) { facts in
            facts.usedBytes = used
            facts.disk = disk
            facts.isFull = isOver
            facts.isGone = isGone
            facts.refusesSince =
                isOver || isGone ? facts.refusesSince ?? SystemClock.wall() / 1_000_000 : nil
            facts.wantsSweeps = wantsSweeps
            facts.commits = writer.commits
            facts.operations = writer.volatile.operations
            facts.logBytes = log
            facts.owedNotices = owed
        }
    }
}

extension StoreError {
    /// The same, of a transaction whose fate is unknown.
    var fatal: StoreError { StoreError(.failed, message) }
}
