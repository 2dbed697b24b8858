import Synchronization

/// The notes of a test's closures, in order.
package final class Log: Sendable {
    private let kept = Mutex<[String]>([])

    package init() {}

    package func note(_ line: String) { kept.withLock { $0.append(line) } }

    package var lines: [String] { kept.withLock { $0 } }
}
