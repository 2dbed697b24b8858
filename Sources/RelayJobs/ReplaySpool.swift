package import RelayBase

/// Keeps copies of request bodies that are too large for memory while their requests are under way.
package protocol ReplaySpool: AnyObject, Sendable {
    /// Begins a copy of a body of `length` bytes, nil when only its end tells; it takes room as it grows.
    ///
    /// - Throws: `full` when it could never have the room, `failed` when the disk does not move.
    func copy(length: UInt64?) throws(StoreError) -> any ReplayCopy
}

/// A copy of one request body; it goes with its last reference.
package protocol ReplayCopy: AnyObject, Sendable {
    /// Adds what arrived next.
    ///
    /// - Throws: `full` or `failed`; the copy is then of no use any more.
    func append(_ piece: [UInt8]) async throws(StoreError)

    /// Reads `count` bytes from `offset` on, all of which were added before.
    ///
    /// - Throws: `failed`.
    func read(at offset: UInt64, count: Int) async throws(StoreError) -> [UInt8]
}
