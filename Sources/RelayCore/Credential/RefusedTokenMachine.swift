package import RelayBase

/// The record of an upstream that refuses even freshly fetched tokens: while it does, they are fetched ever more
/// rarely, and not once for every request.
package struct RefusedTokenMachine: Sendable {
    /// No token is fetched for that long after the first fresh one was refused, then twice as long each time.
    package static let firstWait: Duration = .seconds(1)
    /// The longest that no token is fetched.
    package static let longestWait: Duration = .seconds(300)

    /// Of the newest token that is known to be refused; nil when none is, or one was taken since.
    package private(set) var generation: UInt64?
    private var wait = RefusedTokenMachine.firstWait
    private var until = Instant(nanoseconds: 0)

    package init() {}

    /// The upstream refused a token, fresh when it was fetched because an older one was refused.
    ///
    /// - Returns: for how long no other is fetched; nil when one may be, or a newer one is there.
    package mutating func refused(_ refused: UInt64, isFresh: Bool, now: Instant) -> Duration? {
        if isFresh, generation.map({ refused > $0 }) ?? true {
            if generation != nil { wait = min(wait + wait, RefusedTokenMachine.longestWait) }
            generation = refused
            until = now.advanced(by: wait)
        }
        guard let known = generation, refused >= known, now < until else { return nil }
        // The newer token fared no better, whoever fetched it.
        generation = refused
        return now.duration(to: until)
    }

    /// The upstream took a token.
    package mutating func accepted(_ accepted: UInt64) {
        guard let known = generation, accepted >= known else { return }
        self = RefusedTokenMachine()
    }
}
