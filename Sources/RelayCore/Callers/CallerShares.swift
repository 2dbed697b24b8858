package import RelayBase
package import RelayRoute
import Synchronization

/// The callers that are known: those that have a connection, something under way, or came too fast a moment ago.
package final class CallerShares: Sendable {
    private struct Known {
        let share: CallerShare
        var connections = 0
    }

    /// How a caller stands.
    package struct Standing: Sendable {
        /// Nil stands for all callers of ports.
        package let user: UInt32?
        package let connections: Int
        package let requests: Int
        package let bytes: Int
        /// By the bound: how often it was refused something.
        package let refusals: [CallerBound: Int]
    }

    /// The refusals that are to be told of a caller that came to a bound.
    package struct Refused: Sendable {
        package let user: UInt32?
        package let bound: CallerBound
        /// Refusals since the last time.
        package let count: Int
    }

    private let known = Mutex<[UInt32?: Known]>([:])

    package init() {}

    /// The share of a caller that has one connection more; `release` is to be told of its end.
    package func enter(_ user: UInt32?) -> CallerShare {
        known.withLock { known in
            let share = known[user]?.share ?? CallerShare(user: user)
            known[user, default: Known(share: share)].connections += 1
            return share
        }
    }

    package func release(_ share: CallerShare) { known.withLock { $0[share.user]?.connections -= 1 } }

    /// Requests under way of all of them; costs a look at each.
    package var requests: Int { known.withLock { $0.values.reduce(0) { $0 + $1.share.requests } } }

    /// The callers, by user.
    package var standings: [Standing] {
        let known = known.withLock { Array($0.values) }
        return known.map { known in
            Standing(
                user: known.share.user,
                connections: known.connections,
                requests: known.share.requests,
                bytes: known.share.bytes,
                refusals: known.share.refusals.mapValues(\.total)
            )
        }
        .sorted { ($0.user.map(Int64.init) ?? .max) < ($1.user.map(Int64.init) ?? .max) }
    }

    /// When `look` has something to tell.
    package var due: Instant? { known.withLock { $0.values.compactMap(\.share.due).min() } }

    /// The refusals that are to be told of now; forgets callers of whom nothing is left.
    package func look(_ now: Instant) -> [Refused] {
        known.withLock { known in
            var told: [Refused] = []
            for (user, entry) in known {
                for (bound, count) in entry.share.takeRefusals(now) {
                    told.append(Refused(user: user, bound: bound, count: count))
                }
                if entry.connections == 0, entry.share.isIdle(now) { known[user] = nil }
            }
            return told
        }
    }
}
