/// Facts of one exchange on the wire.
public struct Exchange: Sendable {
    /// The address that was dialled, with port; nil when none was.
    public var address: String?
    /// Whether the connection had served a request before.
    public var wasReused = false
    /// Whether the connection's chain held none of the pinned keys, and the pins only report.
    public var missedPins = false
    /// Whether the request went out once more, on a connection made for it, because the peer had closed a kept one
    /// without a byte of an answer (RFC 9112 §9.3.1).
    public var wasResent = false
    /// The TLS handshake that its connection was made with; nil without one, and on a reused connection.
    package var handshake: Handshake?
    private var nameLookupNanoseconds: Int64 = 0
    private var connectNanoseconds: Int64 = 0
    private var firstByteNanoseconds: Int64 = -1
    private var uploadNanoseconds: Int64 = 0

    /// How two parties come to their keys.
    package enum Handshake: Sendable {
        case full
        /// With a ticket of an earlier connection, which saves the certificates.
        case resumed
    }

    /// Facts of an exchange whose times are not known; a scripted transport needs no more.
    public init(address: String? = nil, wasReused: Bool = false) {
        self.address = address
        self.wasReused = wasReused
    }

    /// Time to look up the name; zero when it was not.
    public var nameLookup: Duration {
        get { .nanoseconds(nameLookupNanoseconds) }
        set { nameLookupNanoseconds = newValue.saturatedNanoseconds }
    }

    /// Time to connect, TLS included; zero on a reused connection.
    public var connect: Duration {
        get { .nanoseconds(connectNanoseconds) }
        set { connectNanoseconds = newValue.saturatedNanoseconds }
    }

    /// Time in which the request's content moved, which no limit but those of its pace counts; zero of content that went
    /// out at once.
    package var upload: Duration {
        get { .nanoseconds(uploadNanoseconds) }
        set { uploadNanoseconds = newValue.saturatedNanoseconds }
    }

    /// Time from the first byte sent to the response head; nil when none came.
    public var firstByte: Duration? {
        get { firstByteNanoseconds < 0 ? nil : .nanoseconds(firstByteNanoseconds) }
        set { firstByteNanoseconds = newValue.map { max(0, $0.saturatedNanoseconds) } ?? -1 }
    }
}

extension Exchange: CustomStringConvertible {
    /// Where the attempt went and what it took.
    public var description: String {
        guard let address else { return "nothing dialled" }
        var parts = [address, wasReused ? "reused connection" : "connect \(connect)"]
        if nameLookup > .zero { parts.append("name look-up \(nameLookup)") }
        if let firstByte { parts.append("first byte \(firstByte)") }
        if missedPins { parts.append("pins missed") }
        if wasResent { parts.append("sent once more after a kept connection was closed") }
        return parts.joined(separator: ", ")
    }
}
