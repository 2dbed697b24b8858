import Synchronization

/// A stream of which the beginning was read, as one stream again.
final class ContinuedBody: BodySource {
    private let beginning: Mutex<[UInt8]?>
    private let rest: any BodySource

    init(_ beginning: [UInt8], _ rest: any BodySource) {
        self.beginning = Mutex(beginning)
        self.rest = rest
    }

    var length: UInt64? { nil }
    var wasRead: Bool { true }

    func next() async throws(Failure) -> [UInt8]? {
        let first = beginning.withLock { beginning in
            defer { beginning = nil }
            return beginning
        }
        if let first, !first.isEmpty { return first }
        return try await rest.next()
    }

    func cancel() { rest.cancel() }

    func bound(by deadline: Instant) { rest.bound(by: deadline) }
}

extension BodySource {
    /// Reads to the end, or until more than `limit` bytes are there.
    func beginning(limit: Int) async throws(Failure) -> (bytes: [UInt8], isWhole: Bool) {
        var bytes: [UInt8] = []
        while let piece = try await next() {
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
            if bytes.count > limit { return (bytes, false) }
        }
        return (bytes, true)
    }
}
