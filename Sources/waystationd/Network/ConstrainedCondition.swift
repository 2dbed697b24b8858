import Glibc
import RelayConfig
import RelayCore
import RelayEngine
import RelayInterface
import RelayPosix
import RelayServer
import RelaySystemd
import Synchronization

/// Whether the network counts as constrained: asked on every loop before an attempt, decided elsewhere.
final class ConstrainedCondition: Sendable {
    private let flag = Atomic<Bool>(false)
    private let machine = Mutex(ConstrainedMachine())
    private let journal: Journal
    private let onChange = Mutex<(@Sendable () -> Void)?>(nil)

    init(journal: Journal) { self.journal = journal }

    /// Has `body` called whenever the verdict has changed; on any thread.
    func whenChanged(_ body: @escaping @Sendable () -> Void) { onChange.withLock { $0 = body } }

    /// Costs one load.
    var isConstrained: Bool { flag.load(ordering: .relaxed) }

    /// Takes the sources of a configuration and looks at its files; may block.
    func install(_ sources: ConstrainedSources) {
        let seen = sources.files.map(ConstrainedCondition.look)
        change(by: nil) { machine in
            machine.sourcesChanged(to: sources.files, control: sources.control)
            machine.looked(at: sources.files, seen)
        }
    }

    /// Whether there are files to be looked at.
    var watchesFiles: Bool { machine.withLock { !$0.files.isEmpty } }

    /// Looks at the files, if there are any; may block.
    func look() {
        let files = machine.withLock { $0.files }
        guard !files.isEmpty else { return }
        let seen = files.map(ConstrainedCondition.look)
        change(by: nil) { $0.looked(at: files, seen) }
    }

    /// - Returns: whether the configuration gives operators a say.
    func order(_ order: ConstrainedOrder, by client: ClientIdentity?) -> Bool {
        change(by: client) { $0.ordered(order) }
    }

    /// The document of `/v1/constrained`.
    var document: [UInt8] {
        let machine = machine.withLock { $0 }
        let verdict = machine.verdict
        var sources: [ConstrainedReport.Source] = zip(machine.files, machine.observations).map {
            if case .hidden(let reason) = $1 {
                ($0, false, false, reason)
            } else {
                ($0, false, $1 == .present, nil)
            }
        }
        if machine.control { sources.append((nil, true, verdict.order == .on, nil)) }
        return ConstrainedReport.members.bytes(
            of: (verdict.isConstrained, verdict.order, verdict.reason, sources)
        )
    }

    /// Changes what is known and publishes and records what that makes of it.
    private func change<Result: Sendable>(
        by client: ClientIdentity?,
        _ body: (inout ConstrainedMachine) -> Result
    ) -> Result {
        let (result, isOther) = machine.withLock { machine in
            let before = machine.verdict
            let result = body(&machine)
            let after = machine.verdict
            // Under the lock, so that neither the flag nor the records fall behind a later change.
            flag.store(after.isConstrained, ordering: .relaxed)
            if (before.isConstrained, before.order) != (after.isConstrained, after.order) {
                journal.record(ConstrainedCondition.record(after, client))
            }
            return (result, before.isConstrained != after.isConstrained)
        }
        if isOther { onChange.withLock { $0 }?() }
        return result
    }

    private static func record(
        _ verdict: ConstrainedMachine.Verdict,
        _ client: ClientIdentity?
    ) -> JournalRecord {
        let verb = verdict.isConstrained ? "counts" : "does not count"
        var record = JournalRecord(
            .notice,
            .constrainedChanged,
            "the network \(verb) as constrained: \(verdict.reason)"
        )
        record.add(.detail, verdict.reason)
        record.add(.clientUser, client?.user)
        record.add(.clientProcess, client?.process)
        record.add(.clientUnit, client?.unit)
        return record
    }

    private static func look(_ path: String) -> ConstrainedMachine.NetworkObservation {
        var facts = stat()
        if unsafe stat(path, &facts) == 0 { return .present }
        let reason = Errno.current
        return reason.rawValue == ENOENT || reason.rawValue == ENOTDIR
            ? .absent : .hidden(reason: reason.description)
    }
}
