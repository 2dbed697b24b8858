package import RelayBase

/// Which job goes on with a request.
package struct KeptJobName: Hashable, Sendable {
    package let id: JobID
    /// Whether the idempotency key was known: the job is an earlier one.
    package let isReplayed: Bool

    package init(_ id: JobID, isReplayed: Bool = false) {
        self.id = id
        self.isReplayed = isReplayed
    }
}
