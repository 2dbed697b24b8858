import RelayBase

/// The order in which users' kept jobs are claimed on a route: each user has a turn in a round, and in it one of its
/// urgencies has.
///
/// | due | claimed |
/// |---|---|
/// | user 1 with 100, user 2 with 2 | 1 2 1 2 1 1 1 … |
/// | one user, plenty of urgency 0 and of 3 | of 9 claims 8 and 1 |
///
/// A round goes by the users' numbers: what a caller does has no part in when its turn comes.
package struct ClaimTurns: Sendable {
    /// A user in the order of turns.
    ///
    /// Zero is nobody's: jobs that were accepted before there were turns share it.
    package typealias Party = Int64

    /// The party whose turn was last.
    package private(set) var last: Party = -1
    /// Of parties of which several urgencies waited at their last turn.
    private var shares: [Party: UrgencyTurns] = [:]
    /// Beyond it all are forgotten, and their shares begin anew.
    private static let limit = 4_096

    package init() {}

    package static func party(of user: UInt32?) -> Party { user.map { Party($0) + 2 } ?? 1 }

    /// Which of the urgencies that the party has due, a bit each, goes in its turn.
    package func urgency(_ party: Party, _ due: UInt8) -> Int {
        if due & (due - 1) == 0 { return due.trailingZeroBitCount }
        return (shares[party] ?? UrgencyTurns()).next(due)
    }

    /// A job of that urgency was claimed in the party's turn, of those that were due.
    package mutating func took(_ urgency: Int, _ party: Party, _ due: UInt8) {
        last = party
        guard due & (due - 1) != 0 else {
            if !shares.isEmpty { shares[party] = nil }
            return
        }
        if shares.count >= Self.limit, shares[party] == nil { shares = [:] }
        shares[party, default: UrgencyTurns()].took(urgency, due)
    }
}
