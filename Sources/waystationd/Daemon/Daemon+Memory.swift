import Glibc
import RelayBase
import RelayEngine
import RelayPosix
import RelayRoute
import RelayServer
import RelaySystemd

// The steps against a shortage of memory; on the control loop.
extension Daemon {
    var controlInstant: Instant { Instant(nanoseconds: controlLoop.now) }

    /// Looks how much the process and its bodies take.
    func lookAtMemory() {
        let bodies = memory.usage
        let sight = PressureMachine.MemorySample(
            resident: ProcessFigures.memory?.resident ?? 0,
            bodies: bodies.used,
            bodiesLimit: bodies.limit
        )
        let change = engine.shedding.looked(sight, controlInstant)
        relieve(change, dropsCaches: change?.isSevere ?? false)
    }

    /// Says what has begun, become worse or ended, and lets go of what only saves work.
    func relieve(_ change: Shedding.Change?, dropsCaches: Bool) {
        if dropsCaches {
            engine.snapshot.dropCaches()
            ProcessLimits.trimMemory()
        }
        let reports = engine.shedding.standing.reports
        let verb = reports ? "would be refused (mode report)" : "is refused"
        switch change {
        case .began(let cause):
            var record = JournalRecord(
                .warning,
                .sheddingBegan,
                "memory is short: \(cause.rawValue); new work \(verb), the least urgent first"
            )
            record.add(.detail, cause.rawValue)
            journal.record(record)
        case .worsened(let cause):
            var record = JournalRecord(
                .warning,
                .sheddingBegan,
                "memory is shorter than it was: \(cause.rawValue); more new work \(verb), all in the end"
            )
            record.add(.detail, cause.rawValue)
            journal.record(record)
        case .ended(let lasted, let refused):
            var record = JournalRecord(
                .notice,
                .sheddingEnded,
                "memory is no longer short, after \(lasted.components.seconds) s: new work is taken, "
                    + "\(refused) request\(refused == 1 ? " was" : "s were") refused"
            )
            record.add(.count, refused)
            journal.record(record)
        case nil: return
        }
        if !engine.isDraining { notifier.send(.status(report.line)) }
    }
}
