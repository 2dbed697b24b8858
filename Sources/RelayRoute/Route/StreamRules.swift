/// The treatment of an answer whose content streams to its caller.
public struct StreamRules: Sendable, Equatable {
    /// The content that an answer's head waits for; the first of these that is there counts.
    public struct Commit: Sendable, Equatable {
        /// So many events, or lines of JSON; 0 waits for none.
        ///
        /// Content without such parts waits for its first piece alone.
        public var events = 1
        /// So many bytes; what was read together with the last of them is held, too.
        public var bytes = 65_536
        /// So much time after the head; nil is all of the attempt's.
        public var time: Duration?

        /// The defaults of every property.
        public init() {}
    }

    /// Nil passes each head on at once.
    public var commit: Commit?
    /// How often who waits for an event stream is told that the relay is there; nil tells nobody.
    public var keepAlive: Duration?

    /// The defaults of every property.
    public init() {}
}

/// The event that has ended the wait of an answer's head.
package enum HeadRelease: String, CaseIterable, Sendable {
    case event, bytes, time
    /// All of the answer was there.
    case whole
    /// There was no room to hold it.
    case memory
    /// The attempt had failed.
    case failed
}
