import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

/// A copy in the spool that counts as its caller's.
final class ChargedCopy: ReplayCopy {
    private let copy: any ReplayCopy
    private let limits: CallerLimits
    private let charge: CallerBytes

    init(_ copy: any ReplayCopy, _ share: CallerShare, _ limits: CallerLimits) {
        self.copy = copy
        self.limits = limits
        charge = CallerBytes(share, 0)
    }

    /// - Throws: what the copy throws, or `full` when the caller has more than it may.
    func append(_ piece: [UInt8]) async throws(StoreError) {
        charge.grow(by: piece.count)
        if charge.isOver(limits) {
            throw StoreError(.full, "its caller has as many bytes as \(CallerBound.bytes.rawValue) allows")
        }
        try await copy.append(piece)
    }

    func read(at offset: UInt64, count: Int) async throws(StoreError) -> [UInt8] {
        try await copy.read(at: offset, count: count)
    }
}
