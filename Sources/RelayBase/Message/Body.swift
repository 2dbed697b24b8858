/// The content of a message.
public enum Body: Sendable {
    /// No content.
    case empty
    /// All of it, in memory; may be sent again.
    case bytes([UInt8])
    /// Arrives piece by piece and can be read once.
    case stream(any BodySource)

    /// Bytes in memory, of any sequence of them.
    public init(_ bytes: some Sequence<UInt8>) { self = .bytes(Array(bytes)) }

    /// Bytes in all, or nil when only the end of the stream tells.
    public var length: UInt64? {
        switch self {
        case .empty: 0
        case .bytes(let bytes): UInt64(bytes.count)
        case .stream(let source): source.length
        }
    }

    /// Whether a second attempt can send it again.
    public var isReplayable: Bool {
        switch self {
        case .empty, .bytes: true
        case .stream(let source): !source.wasRead || source.restarted() != nil
        }
    }

    /// Whether all of it is in memory.
    package var isAtHand: Bool {
        if case .stream = self { false } else { true }
    }

    /// Why it is sent once, although another attempt might want it.
    package var sentOnceBecause: String? {
        if case .stream(let source) = self { source.sentOnceBecause } else { nil }
    }

    /// The content for one attempt, from its beginning where it can begin again.
    package var fresh: Body {
        guard case .stream(let source) = self, let restarted = source.restarted() else { return self }
        return .stream(restarted)
    }
}

/// A body that arrives piece by piece; reading slowly holds the sender back.
public protocol BodySource: AnyObject, Sendable {
    /// Bytes in all where the sender said so.
    var length: UInt64? { get }

    /// Whether a piece has been taken: from then on the body cannot be sent again.
    var wasRead: Bool { get }

    /// The next piece, never empty; nil at the end.
    ///
    /// - Throws: why the rest will not come; the source is then over.
    func next() async throws(Failure) -> [UInt8]?

    /// Gives up the rest: whoever sends it is stopped, and a `next` that waits ends.
    func cancel()

    /// Bounds the whole rest: it comes by `deadline` or the source fails. Sources with nothing to wait for ignore it.
    func bound(by deadline: Instant)

    /// The same content from its beginning, however much of this source was read; nil when that is not to be had.
    func restarted() -> (any BodySource)?

    /// Why the body is sent once, although another attempt might want it; nil while it is not known to be so.
    var sentOnceBecause: String? { get }
}

extension BodySource {
    /// Does nothing: there is nothing to wait for.
    public func bound(by deadline: Instant) {}

    /// Nil: what was read is gone.
    public func restarted() -> (any BodySource)? { nil }

    /// Nil: nobody has tried to keep it.
    public var sentOnceBecause: String? { nil }
}

extension Body {
    /// Reads all of it.
    ///
    /// - Throws: `http_response_body_size` past `limit` bytes, or what the source throws.
    public func collect(limit: Int) async throws(Failure) -> [UInt8] {
        try await collect(limit: limit, key: "limits.max_response_body")
    }

    /// The same with the key that sets the limit, for the message.
    package func collect(limit: Int, key: StaticString) async throws(Failure) -> [UInt8] {
        switch self {
        case .empty: return []
        case .bytes(let bytes):
            guard bytes.count <= limit else { throw .bodyTooLarge(limit: limit, key: key) }
            return bytes
        case .stream(let source):
            if let length = source.length, length > UInt64(limit) {
                source.cancel()
                throw .bodyTooLarge(limit: limit, key: key)
            }
            var collected: [UInt8] = []
            while let piece = try await source.next() {
                guard piece.count <= limit - collected.count else {
                    source.cancel()
                    throw .bodyTooLarge(limit: limit, key: key)
                }
                if collected.isEmpty {
                    collected = piece
                    // Growing by doubling would take up to three times as much for a moment.
                    if UInt64(piece.count) != source.length {
                        collected.reserveCapacity(source.length.map { Int($0) } ?? limit)
                    }
                } else {
                    collected += piece
                }
            }
            return collected
        }
    }
}

extension Body: CustomStringConvertible, CustomReflectable {
    /// The size, never the content.
    public var description: String {
        switch self {
        case .empty: "no content"
        case .bytes(let bytes): bytes.isEmpty ? "no content" : "\(bytes.count) bytes"
        case .stream(let source): source.length.map { "a stream of \($0) bytes" } ?? "a stream"
        }
    }

    /// The size, as in the description.
    public var customMirror: Mirror { Mirror(self, children: ["size": description]) }
}
