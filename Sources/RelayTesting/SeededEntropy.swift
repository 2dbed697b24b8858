public import RelayBase
import Synchronization

/// Random numbers that repeat in every run.
public final class SeededEntropy: Entropy {
    private let numbers: Mutex<SplitMix64>

    /// Numbers that follow from `seed`.
    public init(seed: UInt64 = 1) { numbers = Mutex(SplitMix64(seed: seed)) }

    /// The next number.
    public func next() -> UInt64 { numbers.withLock { $0.next() } }
}

/// Random numbers that repeat with their seed (SplitMix64; Steele, Lea and Flood, 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
