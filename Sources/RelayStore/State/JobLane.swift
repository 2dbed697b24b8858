import RelayJobs

/// Where jobs of one priority wait of one party: all whose turn comes together, in the order they are due in.
///
/// As a number the party stands above the priority, so that the lanes of a party are neighbours in an index, and a lane
/// of party zero is the priority alone.
struct JobLane: Hashable {
    let value: Int64

    init(value: Int64) { self.value = value }

    init(_ party: ClaimTurns.Party, _ priority: Int) { value = party << 4 | Int64(priority) }

    var party: ClaimTurns.Party { value >> 4 }
    var priority: Int { Int(truncatingIfNeeded: value & 7) }
    /// The lane of that priority whose jobs were accepted before there were turns.
    var unowned: JobLane { JobLane(value: value & 7) }
}
