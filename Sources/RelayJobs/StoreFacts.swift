package import RelayBase

/// Facts about a store for status and metrics.
package struct StoreFacts: Hashable, Sendable {
    /// Bytes in use, bodies in files included.
    package var usedBytes: UInt64 = 0
    /// The bytes in use at which acceptance stops.
    package var maxBytes: UInt64 = 0
    /// The file system it is on, as of the last sweep; nil where that cannot be known.
    package var disk: DiskSpace?
    /// Whether there is no room: nothing is accepted until there is again.
    package var isFull = false
    /// Whether its file was removed or replaced: nothing is accepted or delivered until it is back.
    package var isGone = false
    /// Why the server that holds it is away; nil while it is not.
    package var absence: String?
    /// Daemons of the fleet that run, this one included; 0 where there is none.
    package var nodes = 0
    /// The routes that others of them have.
    package var routesElsewhere: Set<String> = []
    /// Since when it is full, gone or away, in milliseconds since 1970 UTC; nil while it is none of them.
    package var refusesSince: Int64?
    /// Whether it has work left that it does beside the next sweeps: something erased to be overwritten, room to be found.
    package var wantsSweeps = false
    /// Transactions since the store was opened.
    package var commits: UInt64 = 0
    /// Jobs accepted, claims and settlements in those transactions.
    package var operations: UInt64 = 0
    /// Statements sent to the server that holds it.
    package var statements: UInt64 = 0
    /// Records found damaged since the store was opened.
    package var corruptRecords: UInt64 = 0
    /// Endings of jobs of which another route is still to be told.
    package var owedNotices = 0
    /// Bytes of the write-ahead log on disk.
    package var logBytes: UInt64 = 0
    /// How long transactions took to get to the disk.
    package var commitTimes = DurationCounts()
    /// Facts of the database that holds it; nil of a store on a disk of its own.
    package var database: DatabaseFacts?
    /// The failures by their reason: failed writes, reads that took too long, damage.
    package var errors: [StoreError.Code: UInt64] = [:]

    package init() {}
}

/// Facts about a node of a fleet and its database.
package struct DatabaseFacts: Hashable, Sendable {
    /// The name of the node.
    package var node: String
    /// When the last renewal of its lease was sent that succeeded, on the monotonic clock.
    package var renewedAt: Instant?
    /// For how long a renewal holds.
    package var lease = Duration.zero
    package var connections = 0
    /// Replies that were waited for, and connections that were made, since the store was opened.
    package var roundTrips: UInt64 = 0
    package var connects: UInt64 = 0
    /// Jobs that statements went on without: their rows could not be read, or the server refused each alone.
    package var putAside: UInt64 = 0
    /// The share of the database's queue of notifications that is in use, in millionths.
    package var notificationQueue: Int64 = 0
    /// The session that has kept the oldest snapshot for a while: the database gives no room back behind it.
    package var holder: SnapshotHolder?

    package init(node: String) { self.node = node }
}

/// A session of a database that others see by its snapshot.
package struct SnapshotHolder: Hashable, Sendable {
    package var process: Int64
    package var application: String
    /// Since when it has been seen with it, on the monotonic clock.
    package var since: Instant

    package init(process: Int64, application: String, since: Instant) {
        self.process = process
        self.application = application
        self.since = since
    }
}

/// Bytes of a file system.
package struct DiskSpace: Hashable, Sendable {
    package var size: UInt64
    /// The bytes that the user of this process may still write.
    package var available: UInt64

    package init(size: UInt64, available: UInt64) {
        self.size = size
        self.available = available
    }
}
