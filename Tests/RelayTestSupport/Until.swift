import RelayPosix

/// An end of a test's patience.
package struct NeverCame: Error, CustomStringConvertible {
    package var description: String { "what the test waits for has not come within two minutes" }
}

/// As long as a machine may take that has many other things to do, from now on.
private func end() -> Int64 { SystemClock.monotonic() + 120_000_000_000 }

/// Asks until it is so.
///
/// A loop of a test's own would go on for ever where it never is, and take a processor from all others.
package func until(_ isSo: () async throws -> Bool) async throws {
    let end = end()
    while try await !isSo() {
        try Task.checkCancellation()
        guard SystemClock.monotonic() < end else { throw NeverCame() }
    }
}

/// Asks on a thread that may wait until it is so.
package func blockUntil(_ isSo: () throws -> Bool) throws {
    let end = end()
    while try !isSo() { guard SystemClock.monotonic() < end else { throw NeverCame() } }
}
