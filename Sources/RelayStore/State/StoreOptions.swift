import Glibc
import RelayBase
package import RelayJobs
import RelayPosix
import Synchronization

/// The settings of a store, and the faults that a test may give it.
package struct StoreOptions: Sendable {
    /// Must exist, and nobody but its owner may write in it.
    package var directory: String
    /// Acceptance stops when this many bytes are in use.
    package var maxSize: UInt64 = 2 << 30
    /// Disk space kept for settling when there is none left; less on a file system below eight times that size.
    package var ballast = 8 << 20
    /// How long what was erased may stay in the write-ahead log.
    package var eraseDelay: Duration = .seconds(5)
    /// How often a full store looks for room.
    package var spaceInterval: Duration = .seconds(1)
    /// Pages in the log at which they are moved into the database.
    package var checkpointPages = 1_000
    /// Ordering keys that may have changed in memory before they are written, sorted.
    package var orderingKeysInMemory = 32_768
    /// The longest time that a read may take: a longer one would hold back the writer's checkpoints.
    package var readTimeout: Duration = .milliseconds(100)
    package var sync: StoreSync = .full
    package var fault: StoreFault?
    package var events = JobStoreEvents()

    package init(directory: String) { self.directory = directory }
}

/// How much of a commit is on disk when it returns.
package enum StoreSync: String, Sendable {
    /// All of it.
    case full = "FULL"
    /// Nothing, as a control for tests that must then fail.
    case off = "OFF"
}

/// A mistake that a store makes on purpose, as a control for tests that must then fail.
package enum StoreFault: String, Sendable {
    /// A record of claims goes with the first of its jobs that comes to rest.
    case losesClaims
    /// A start decides anew whether a claim was legal.
    case decidesAgain
    /// Notices are written after the transaction of the ending.
    case tellsLater
}
