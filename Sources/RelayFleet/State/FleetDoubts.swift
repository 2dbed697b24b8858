import RelayBase

/// From where on claims are looked for that a node may still hold: however many it has had, few are from there on.
struct FleetReach: Equatable, Sendable {
    /// The position from which on jobs may have been claimed with their acceptance.
    var floor: Int64
    /// The number from which on others may have been claimed.
    var tokens: Int64
    /// The positions of what it ran when the two were taken.
    var held: [Int64] = []

    /// Also what the other one reaches.
    mutating func add(_ other: FleetReach) {
        (floor, tokens) = (min(floor, other.floor), min(tokens, other.tokens))
        held += other.held
    }
}

/// Whether statements of which no reply has come may still commit: a look that is made later sees all that they did.
struct FleetHorizon: Equatable, Sendable {
    /// From when on none of them is on its way to the server any more, in monotonic milliseconds.
    let arrival: Int64
    /// The first transaction that had not begun when all of them had.
    private var horizon: Int64?

    init(arrival: Int64) { self.arrival = arrival }

    /// At `asked` the oldest open transaction was `low`, and the first that had not begun `next`.
    ///
    /// - Returns: whether all of them are over.
    mutating func isOver(asked: Int64, low: Int64, next: Int64) -> Bool {
        if let horizon { return low >= horizon }
        if asked >= arrival { horizon = next }
        return false
    }
}

/// Claims that may stand in the database though nobody here holds them.
struct FleetDoubts: Sendable {
    struct Doubt: Sendable {
        /// The numbers of which such a claim has one.
        let tokens: ClosedRange<Int64>
        /// The jobs that may have been claimed with their acceptance; others are found by their numbers.
        var ids: Set<JobID> = []
        /// The position from which on these are.
        var floor = Int64.max
        fileprivate var horizon: FleetHorizon
    }

    private(set) var all: [Doubt] = []

    var isEmpty: Bool { all.isEmpty }

    var reach: FleetReach {
        FleetReach(
            floor: all.map(\.floor).min() ?? .max,
            tokens: claims.map(\.tokens.lowerBound).min() ?? .max
        )
    }

    /// Those that are found by their numbers.
    var claims: [Doubt] { all.filter(\.ids.isEmpty) }

    /// The jobs that are found by their ids.
    var ids: Set<JobID> { all.reduce(into: []) { $0.formUnion($1.ids) } }

    mutating func add(_ tokens: ClosedRange<Int64>, arrival: Int64) {
        all.append(Doubt(tokens: tokens, horizon: FleetHorizon(arrival: arrival)))
    }

    /// The jobs, which lie from `floor` on, may have been claimed with their acceptance under such a number.
    mutating func add(_ ids: [JobID], _ tokens: ClosedRange<Int64>, from floor: Int64, arrival: Int64) {
        all.append(
            Doubt(tokens: tokens, ids: Set(ids), floor: floor, horizon: FleetHorizon(arrival: arrival))
        )
    }

    /// The jobs may lie from there on.
    mutating func lower(to floor: Int64) {
        for index in all.indices where !all[index].ids.isEmpty {
            all[index].floor = min(all[index].floor, floor)
        }
    }

    /// Whether such a claim of the job is one of them: the same job may be claimed anew meanwhile.
    func has(_ token: UInt64, of id: JobID) -> Bool {
        all.contains {
            $0.tokens.contains(Int64(bitPattern: token)) && ($0.ids.isEmpty || $0.ids.contains(id))
        }
    }

    /// All that stood there has been given back: as `FleetHorizon` has it.
    mutating func looked(asked: Int64, low: Int64, next: Int64) {
        all = all.compactMap { doubt in
            var doubt = doubt
            return doubt.horizon.isOver(asked: asked, low: low, next: next) ? nil : doubt
        }
    }
}
