/// A counter that a vital loop moves on every turn.
package struct Heartbeat: Sendable {
    /// For the record when it stands still: `loop 0`, `journal`.
    package let name: String
    /// The counter's present value.
    package let count: @Sendable () -> UInt64
    /// Wakes the loop, so that an idle one moves too.
    package let poke: @Sendable () -> Void

    package init(
        name: String,
        count: @escaping @Sendable () -> UInt64,
        poke: @escaping @Sendable () -> Void
    ) {
        self.name = name
        self.count = count
        self.poke = poke
    }
}
