import RelayJobs

/// The queue of one party's waiting jobs of one priority, in the order in which they are due.
///
/// The column `lane` has the party above four bits and the priority in the lowest three, so that an index keeps the queues
/// of a party together. The fourth bit stays clear: 8 and 9 mark scheduled and running jobs (`JobRow`).
struct JobQueue: Hashable {
    let value: Int64

    init(value: Int64) { self.value = value }

    init(_ party: ClaimTurns.Party, _ priority: Int) { value = party << 4 | Int64(priority) }

    var party: ClaimTurns.Party { value >> 4 }
    var priority: Int { Int(truncatingIfNeeded: value & 7) }
    /// The queue of that priority whose jobs were accepted by a version without turns of users; `giveTurns` moves them.
    var beforeTurns: JobQueue { JobQueue(value: value & 7) }
}
