/// An action that is to be taken on kept jobs.
package struct ActionOrder: Sendable {
    package var action: JobAction
    package var filter: JobFilter
    /// Jobs at most, the oldest first.
    package var limit: Int
    /// Where to go on.
    package var cursor: JobCursor?
    /// The jobs that it is for, of those that match; nil is for all.
    package var scope: ActionRun.Scope?
    /// How jobs that are retried are spread; nil makes them due at once.
    package var spacing: JobSpacing?
    /// Whether it is only counted.
    package var isDryRun = false
    package var origin: ActionOrigin

    package init(_ action: JobAction, _ filter: JobFilter, limit: Int, by origin: ActionOrigin) {
        self.action = action
        self.filter = filter
        self.limit = limit
        self.origin = origin
    }
}
