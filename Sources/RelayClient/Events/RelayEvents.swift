extension RelayClient {
    /// The events at the relay, as they happen: those that concern the caller's own jobs, or all of them for a caller
    /// with the role `read`.
    ///
    /// A connection that breaks is made again, going on after the last event; what was missed meanwhile and is no
    /// longer to be had shows as a gap. The relay never waits for a reader. Every iterator has a connection of its
    /// own, and a thread of its own while it waits for the next event.
    ///
    /// - Parameter id: the event to go on after; nil begins with what comes, `"0"` with what the relay remembers.
    /// - Returns: notices without end; iterating throws when the relay is not there to begin with or refuses.
    public func events(after id: String? = nil) -> RelayEvents { RelayEvents(client: self, after: id) }
}

/// A stream of events that goes on until its reader has enough.
public struct RelayEvents: AsyncSequence, Sendable {
    /// An event, or the notice that events are gone.
    public typealias Element = RelayEventNotice
    /// The error that keeps the relay from being read.
    public typealias Failure = RelayClientError

    fileprivate let client: RelayClient
    fileprivate let after: String?

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Takes the notices one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private var reader: EventReader

        fileprivate init(_ events: RelayEvents) {
            reader = EventReader(client: events.client, after: events.after)
        }

        /// The next notice.
        ///
        /// - Throws: `cancelled` when the task is; what keeps the relay from being read.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(RelayClientError) -> RelayEventNotice? {
            try await reader.notice()
        }

        /// The next notice.
        ///
        /// - Throws: `cancelled` when the task is; what keeps the relay from being read.
        public mutating func next() async throws(RelayClientError) -> RelayEventNotice? {
            try await reader.notice()
        }
    }
}
