/// A store cannot do what it was asked.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// No room: nothing new is accepted, everything else goes on.
        case full
        /// The data on disk is not what was written; the files are left as they are.
        case corrupt
        /// Written by a newer version; the files are left as they are.
        case newerSchema = "newer_schema"
        /// Another process has the store open.
        case locked
        /// The directory or a file in it cannot be used.
        case directory
        /// The files that are there are not for this store to use: open to others, another user's, another program's.
        case foreign
        /// The disk failed a write or a sync: nothing is acknowledged any more and the process should end.
        case failed
        /// A read took too long and was given up.
        case slow
        /// The disk has not answered a read for seconds; whoever asked waits no longer.
        case stalled
        /// Its file was removed or replaced while the process had it open: nothing is acknowledged until it is back.
        case gone
        /// The server that holds the store is away, or takes no writes: nothing was done, and it heals by itself.
        case unavailable
        /// The store was asked to write, and its answer was lost: what was asked may have been done.
        case unknown
        /// The store is closed.
        case closed
    }

    package var code: Code
    /// The words that say what failed, where, and what to do; safe to show.
    package var message: String
    /// Whether it is the database's structure that is damaged, and not only one record.
    package var isStructural: Bool

    package init(_ code: Code, _ message: String, isStructural: Bool = false) {
        self.code = code
        self.message = message
        self.isStructural = isStructural
    }

    /// Whether opening would fail the same way again until somebody has done something about it.
    package var needsMending: Bool {
        switch code {
        case .corrupt, .newerSchema, .foreign: true
        case .full, .locked, .directory, .failed, .slow, .stalled, .gone, .unavailable, .unknown, .closed:
            false
        }
    }

    /// Whether the same may do better in a moment, or when somebody has made room.
    package var mayPass: Bool {
        switch code {
        case .full, .directory, .foreign, .slow, .stalled, .gone, .unavailable, .unknown: true
        case .corrupt, .newerSchema, .locked, .failed, .closed: false
        }
    }

    /// Whether it is a server that is away: it comes back in a moment, and with what it had.
    package var isAway: Bool { code == .unavailable || code == .unknown }

    package var description: String { message }

    package static let closed = StoreError(.closed, "cannot use the job store: it is closed")

    /// Its caller waits no longer, and the store has not said whether it has done what it was asked.
    package static let unconfirmed = StoreError(
        .unknown,
        "the job store has not confirmed in time what it was asked to write"
    )

    package static let stalled = StoreError(
        .stalled,
        "cannot read the job store: its disk does not answer at the moment; ask again"
    )
}
