/// How much of the disk the copies of request bodies may take.
package struct SpoolQuota: Sendable {
    package private(set) var limit: UInt64
    package private(set) var used: UInt64 = 0

    package init(limit: UInt64) { self.limit = limit }

    /// The limit is another; what is over it stays until it is given back.
    package mutating func configured(limit: UInt64) { self.limit = limit }

    /// Takes so many bytes.
    ///
    /// - Returns: false when there is not that much room; nothing is taken then.
    package mutating func take(_ count: UInt64) -> Bool {
        guard used <= limit, count <= limit - used else { return false }
        used += count
        return true
    }

    package mutating func gaveBack(_ count: UInt64) { used -= min(used, count) }
}
