import RelayBase

/// The order in which a route claims its kept jobs: users take turns, and a user's turns are shared among its urgencies.
///
/// | due | claimed |
/// |---|---|
/// | user 1 with 100 jobs, user 2 with 2 | 1 2 1 2 1 1 1 … |
/// | one user, many jobs of urgency 0 and 3 | 8 of urgency 0, then 1 of urgency 3 |
///
/// A round follows the users' numbers, so that no caller can bring its turn forward.
package struct ClaimTurns: Sendable {
    /// A user's place in a round: 0 for jobs that were accepted before there were turns, 1 for callers without a user,
    /// and for others the user's number plus 2.
    package typealias Party = Int64

    /// The party whose turn was last; below every party before the first claim.
    package private(set) var last: Party = -1
    /// How the turns of a party are shared among its urgencies, where several waited at its last turn.
    private struct Share {
        var turns = UrgencyTurns()
        /// The round of that turn.
        var round: UInt64
    }

    private var shares: [Party: Share] = [:]
    /// The shares of parties beyond this number are not remembered: each follows the rounds.
    private let maxShares: Int
    private var round: UInt64 = 0

    package init(maxShares: Int = 4_096) { self.maxShares = maxShares }

    package static func party(of user: UInt32?) -> Party { user.map { Party($0) + 2 } ?? 1 }

    /// The urgency whose job the party claims now; bit n of `due` is set where a job of urgency n is due, and one is.
    package func urgency(_ party: Party, _ due: UInt8) -> Int {
        if due.nonzeroBitCount == 1 { return due.trailingZeroBitCount }
        if let share = shares[party] { return share.turns.next(due) }
        return isFull ? urgency(inRoundOf: party, due) : UrgencyTurns().next(due)
    }

    /// The urgency that the number of the round gives: in one round of 2ⁿ, n below the most urgent.
    ///
    /// These are about the shares of `UrgencyTurns`, without a memory.
    private func urgency(inRoundOf party: Party, _ due: UInt8) -> Int {
        let first = due.trailingZeroBitCount
        let lowest = min(7, first + (round &+ UInt64(party)).trailingZeroBitCount)
        return lowest - (due << (7 - lowest)).leadingZeroBitCount
    }

    private var isFull: Bool { shares.count >= maxShares }

    /// The party claimed a job of that urgency while those of `due` waited.
    package mutating func took(_ urgency: Int, _ party: Party, _ due: UInt8) {
        if party <= last { beginRound() }
        last = party
        guard due.nonzeroBitCount > 1 else {
            // The check spares most claims the hash of a party.
            if !shares.isEmpty { shares[party] = nil }
            return
        }
        guard var share = shares[party] ?? (isFull ? nil : Share(round: round)) else { return }
        share.turns.took(urgency, due)
        share.round = round
        shares[party] = share
    }

    /// A party that had no turn in a whole round has nothing that waits.
    private mutating func beginRound() {
        round += 1
        if isFull { shares = shares.filter { $0.value.round + 1 >= round } }
    }
}
