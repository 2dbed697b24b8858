/// Decides when a daemon that serves counts as well: once, after ten minutes without an end.
package struct HealthMachine {
    private var began: Int64?
    private var isTold = false

    /// Nanoseconds.
    private static let timeout: Int64 = 600_000_000_000

    package init() {}

    /// It serves at `now`, in monotonic nanoseconds.
    ///
    /// - Returns: true the first time that it is well.
    package mutating func looked(now: Int64) -> Bool {
        guard let began else {
            began = now
            return false
        }
        guard !isTold, now - began >= Self.timeout else { return false }
        isTold = true
        return true
    }
}
