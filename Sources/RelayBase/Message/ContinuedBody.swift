import Synchronization

/// A stream of which the beginning was read, as one stream again.
package final class ContinuedBody: BodySource {
    private let beginning: Mutex<[UInt8]?>
    private let remainder: any BodySource

    package init(_ beginning: [UInt8], _ remainder: any BodySource) {
        self.beginning = Mutex(beginning)
        self.remainder = remainder
    }

    package var length: UInt64? { nil }
    package var wasRead: Bool { true }

    package func next() async throws(Failure) -> [UInt8]? {
        let first = beginning.withLock { beginning in
            defer { beginning = nil }
            return beginning
        }
        if let first, !first.isEmpty { return first }
        return try await remainder.next()
    }

    package func cancel() { remainder.cancel() }

    package func bound(by deadline: Instant) { remainder.bound(by: deadline) }
}

extension BodySource {
    /// Reads to the end, or until more than `limit` bytes are there.
    package func beginning(limit: Int) async throws(Failure) -> (bytes: [UInt8], isWhole: Bool) {
        var bytes: [UInt8] = []
        while let piece = try await next() {
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
            if bytes.count > limit { return (bytes, false) }
        }
        return (bytes, true)
    }
}
