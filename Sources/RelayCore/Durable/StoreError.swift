/// A store cannot do what it was asked.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// No room: nothing new is accepted, everything else goes on.
        case full
        /// What is on disk is not what was written; the files are left as they are.
        case corrupt
        /// Written by a newer version; the files are left as they are.
        case newerSchema = "newer_schema"
        /// Another process has the store open.
        case locked
        /// The directory or a file in it may be changed by others, or cannot be used.
        case directory
        /// The disk failed a write or a sync: nothing is acknowledged any more and the process should end.
        case failed
        /// A read took too long and was given up.
        case slow
        /// The store is closed.
        case closed
    }

    package var code: Code
    /// What failed, where, and what to do; safe to show.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }

    package static let closed = StoreError(.closed, "cannot use the job store: it is closed")
}
