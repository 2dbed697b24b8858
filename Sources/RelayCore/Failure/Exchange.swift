/// Facts of one exchange on the wire.
public struct Exchange: Sendable {
    /// The address that was dialled, with port; nil when none was.
    public var address: String?
    /// Whether the connection had served a request before.
    public var wasReused = false
    /// Whether the connection's chain held none of the pinned keys, and the pins only report.
    public var missedPins = false
    private var nameLookupNanoseconds: Int64 = 0
    private var connectNanoseconds: Int64 = 0
    private var firstByteNanoseconds: Int64 = -1

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

    /// Time from the first byte sent to the response head; nil when none came.
    public var firstByte: Duration? {
        get { firstByteNanoseconds < 0 ? nil : .nanoseconds(firstByteNanoseconds) }
        set { firstByteNanoseconds = newValue.map { max(0, $0.saturatedNanoseconds) } ?? -1 }
    }
}
