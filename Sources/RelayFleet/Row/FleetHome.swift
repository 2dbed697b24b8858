import RelayBase
import RelayJobs

/// A node as the home of users, by the number that the database has given its name; 0 where users are shared.
struct FleetHome: Hashable, Sendable {
    var number: Int64 = 0
    var name = NodeName.none

    /// Bits of a party that tell users apart; those above them are the node's number.
    private static let bits: Int64 = 33

    /// The party by which a user of this node takes turns and is counted; callers of ports are one over the fleet.
    func party(of user: UInt32?) -> Int64 { Self.party(of: user, at: number) }

    static func party(of user: UInt32?, at number: Int64) -> Int64 {
        ClaimTurns.party(of: user) | (user == nil ? 0 : number << bits)
    }

    /// Whether a party is of this node's users, or of nobody's in particular; of all where users are shared.
    func has(_ party: Int64) -> Bool { number == 0 || party >> Self.bits == number || party < 2 }

    /// The user that a party stands for; nil for callers of ports.
    static func user(of party: Int64) -> UInt32? {
        let user = party & (1 << bits - 1)
        return user >= 2 ? UInt32(clamping: user - 2) : nil
    }
}
