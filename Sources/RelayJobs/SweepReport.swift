/// The result of one sweep.
package struct SweepReport: Sendable {
    /// Jobs that waited until their time ran out.
    package var ended: [JobChange] = []
    package var removed = 0
    package var expunged = 0
    /// Whether more is due now: sweep again soon.
    package var hasMore = false
    /// How long nothing more comes due, unless the store is changed or the wall clock steps; zero where that is not known.
    package var idleTime: Duration = .zero

    package init() {}
}
