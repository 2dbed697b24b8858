import RelayBase
import RelayTestSupport
import Synchronization

/// Seeded, and now and then at one of the two ends, but for some bits by which ids of one moment differ.
final class SimulatedEntropy: Entropy {
    private let draw: Mutex<SplitMix64>

    init(seed: UInt64) { draw = Mutex(SplitMix64(seed: seed)) }

    func next() -> UInt64 {
        draw.withLock { draw in
            switch draw.below(64) {
            case 0: draw.next() >> 40
            case 1: .max - draw.next() >> 40
            default: draw.next()
            }
        }
    }
}
