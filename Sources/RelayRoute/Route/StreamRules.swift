/// The treatment of an answer whose content streams to its caller.
package struct StreamRules: Sendable, Equatable {
    /// The content that an answer's head waits for; the first of these that is there counts.
    package struct Commit: Sendable, Equatable {
        /// So many events, or lines of JSON; 0 waits for none.
        ///
        /// Content without such parts waits for its first piece alone.
        package var events = 1
        /// So many bytes; what was read together with the last of them is held, too.
        package var bytes = 65_536
        /// So much time after the head; nil is all of the attempt's.
        package var time: Duration?

        package init() {}
    }

    /// Nil passes each head on at once.
    package var commit: Commit?
    /// How often who waits for an event stream is told that the relay is there; nil tells nobody.
    package var keepAlive: Duration?

    package init() {}
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
