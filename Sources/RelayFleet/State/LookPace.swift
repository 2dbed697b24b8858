/// How soon a node that hears no hints looks for work again: at once while it gets some, and ever more seldom while not.
struct LookPace: Equatable, Sendable {
    /// Nanoseconds between two looks at least and at most.
    static let shortest: Int64 = 5_000_000
    static let longest: Int64 = 1_000_000_000

    /// Nanoseconds until the next look at most.
    private(set) var wait = longest
    private var hasTaken = false
    private var hasFound = false

    /// The node has claimed something that waited.
    mutating func took() { hasTaken = true }

    /// It has looked; work that it found before and did not take is no reason to hurry.
    mutating func looked(found: Bool) {
        wait = hasTaken || found && !hasFound ? Self.shortest : min(Self.longest, wait * 2)
        (hasTaken, hasFound) = (false, found)
    }

    /// Nanoseconds until the next look.
    func next(_ random: inout some RandomNumberGenerator) -> Int64 {
        max(Self.shortest, Int64.random(in: wait / 2...wait, using: &random))
    }
}
