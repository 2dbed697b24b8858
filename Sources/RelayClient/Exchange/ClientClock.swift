package import RelayBase
import RelayPosix

/// The clock by which a client waits between two looks at the relay; sockets have the kernel's.
package struct ClientClock: Sendable {
    package let now: @Sendable () -> Instant
    package let sleep: @Sendable (Duration) async throws -> Void

    package init(
        now: @escaping @Sendable () -> Instant,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    package static let machine = ClientClock(
        now: { Instant(nanoseconds: SystemClock.monotonic()) },
        sleep: { try await Task.sleep(for: $0) }
    )
}
