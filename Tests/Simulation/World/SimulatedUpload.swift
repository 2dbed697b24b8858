import RelayBase
import Synchronization

/// The content of a request that can be read once.
final class SimulatedUpload: BodySource {
    let length: UInt64?
    private let hidesReading: Bool
    private let pieces = Mutex(0)

    init(announced: Bool, hidesReading: Bool) {
        length = announced ? 8 : nil
        self.hidesReading = hidesReading
    }

    /// Whether it was read, as the core is told.
    var wasRead: Bool { !hidesReading && isGone }

    var isGone: Bool { pieces.withLock { $0 > 0 } }

    func next() async throws(Failure) -> [UInt8]? {
        let index = pieces.withLock { pieces in
            pieces += 1
            return pieces
        }
        return index <= 2 ? [1, 2, 3, 4] : nil
    }

    func cancel() {}
}
