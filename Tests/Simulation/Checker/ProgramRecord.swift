import RelayBase
import RelayRoute
import RelayTestSupport

/// The checker's knowledge of a program's code in the way of one job, and of what that code is about to do.
final class ProgramRecord {
    /// Where the observers of the attempt at hand are.
    enum Phase { case decided, began, responded }

    enum Advice {
        case passOn, stop
        case retry(after: Int64)
    }

    struct Sending {
        var method: Method
        var key: String?
    }

    var draw: SplitMix64
    let manners: ProgramManners
    var phase = Phase.decided
    /// Whether code that makes the attempt's request has begun and not ended.
    var isPreparing = false
    var isUnprepared = false
    /// Whether some of the code does not heed its cancellation.
    var isDeaf = false
    var retries = 0
    /// Attempts up to the one at hand that were never sent.
    var unsentInARow = 0
    /// When the first strategy was asked about the attempt at hand.
    var askedAt: Int64?
    var advice: [String: Advice] = [:]
    /// The key of every request it made, and whether it made one with another.
    var madeKey: String??
    var changesKey = false
    /// Whether its code calls the failure at hand a failed preparation.
    var isRenamed = false
    var sending: Sending?
    /// The key of a request that may have had its effect and is repeated for its key alone.
    var neededKey: String?
    /// Whether the attempt at hand may have reached an upstream.
    var hasReached = false
    var accepted: UInt16?

    init(_ manners: ProgramManners, seed: UInt64) {
        self.manners = manners
        draw = SplitMix64(seed: seed)
    }
}

struct ProgramManners {
    enum Preparing: CaseIterable {
        case nothing, otherMethod, freshKey, steadyKey, otherTarget, otherBody, fails, waits, hangs
        case isDeaf
    }

    let preparing: Preparing
    /// Of a hundred answers, how many are called a failure, turned into a success, or not taken.
    let classifies: Int
    let recovers: Int
    let rejects: Int
    /// Of a hundred failures, how many are called something else.
    let renames: Int
    let patience: Int

    init(_ draw: inout SplitMix64) {
        preparing = Preparing.allCases[draw.weighted([50, 9, 9, 8, 6, 5, 4, 5, 2, 2])]
        classifies = draw.pick([0, 0, 10, 40])
        recovers = draw.pick([0, 0, 0, 15])
        rejects = draw.pick([0, 0, 0, 25])
        renames = draw.pick([0, 0, 30, 100])
        patience = draw.below(2_000) == 0 ? 2_000 : draw.pick([2, 5, 12, 25])
    }
}
