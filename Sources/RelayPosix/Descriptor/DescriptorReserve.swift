import Synchronization

/// The last descriptors of the process, which are left to what must get through whatever the others take.
///
/// A process is given the lowest number that is free (open(2)): a number within the reserve says that all before it are
/// taken. A part without a claim to the reserve then closes the descriptor that it was given.
package final class DescriptorReserve: Sendable {
    package static let ofProcess = DescriptorReserve()

    private let first = Atomic<Int32>(.max)

    /// Nothing is set aside.
    package init() {}

    /// Sets the reserve of a process aside that may have `limit` descriptors.
    package func setAside(of limit: UInt64) {
        first.store(DescriptorReserve.start(of: limit), ordering: .relaxed)
    }

    /// Its first number: it is the last 64 of them, or a quarter where that is less.
    package static func start(of limit: UInt64) -> Int32 {
        let limit = Int32(clamping: limit)
        return limit - min(64, limit / 4)
    }

    /// Whether the descriptor is one of the reserve.
    package func contains(_ descriptor: Int32) -> Bool {
        descriptor >= first.load(ordering: .relaxed)
    }
}
