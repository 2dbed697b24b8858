package import RelayBase
import Synchronization

/// A streamed body that gives its pieces once, then ends or breaks; it remembers how it was dealt with.
package final class PieceBody: BodySource {
    package let length: UInt64?
    /// Whether somebody is said to have read from it.
    package let wasRead: Bool
    private let breaks: Bool
    private let state: Mutex<(pieces: [[UInt8]], bound: Instant?, isCancelled: Bool)>

    package init(
        _ pieces: [[UInt8]] = [],
        length: UInt64? = nil,
        breaks: Bool = false,
        wasRead: Bool = false
    ) {
        self.length = length
        self.wasRead = wasRead
        self.breaks = breaks
        state = Mutex((pieces, nil, false))
    }

    /// The moment until which it has to have come, where somebody said one.
    package var bound: Instant? { state.withLock { $0.bound } }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    package func next() async throws(Failure) -> [UInt8]? {
        let next = state.withLock { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() }
        if next == nil, breaks { throw Failure(.httpResponseIncomplete, sent: .unknown, "cut") }
        return next
    }

    package func cancel() { state.withLock { $0.isCancelled = true } }

    package func bound(by deadline: Instant) { state.withLock { $0.bound = deadline } }
}
