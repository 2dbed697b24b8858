/// How one job ended, for whoever follows many.
public struct JobEnd: Sendable {
    /// The job, as it was named.
    public let id: String
    /// The job once it is over, however it ended; the error when the relay has no such job for the caller.
    public let result: Result<Job, RelayClientError>
}

/// The ends of many jobs, as they come.
public struct JobEnds: AsyncSequence, Sendable {
    /// One job's end.
    public typealias Element = JobEnd
    /// The error that the sequence of ids throws, or that keeps the relay from being followed.
    public typealias Failure = any Error

    fileprivate let makeWatch: @Sendable () -> JobEndWatch

    /// Begins to follow the jobs; each iterator follows them anew.
    public func makeAsyncIterator() -> Iterator { Iterator(makeWatch()) }

    /// Takes the ends one by one.
    public struct Iterator: AsyncIteratorProtocol {
        /// Ends the watch when the last copy of the iterator goes.
        private final class WatchOwner: Sendable {
            let watch: JobEndWatch

            init(_ watch: JobEndWatch) { self.watch = watch }

            deinit { watch.cancel() }
        }

        private let owner: WatchOwner
        private var ends: AsyncThrowingStream<JobEnd, any Error>.Iterator

        fileprivate init(_ watch: JobEndWatch) {
            owner = WatchOwner(watch)
            ends = watch.ends.makeAsyncIterator()
        }

        /// The next end; nil after the last, and when the task is cancelled.
        ///
        /// - Throws: what the sequence of ids throws, and what keeps the relay from being followed at all.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(any Error) -> JobEnd? {
            guard let end = try await ends.next(isolation: actor) else { return nil }
            owner.watch.wasTaken()
            return end
        }

        /// The next end; nil after the last, and when the task is cancelled.
        ///
        /// - Throws: what the sequence of ids throws, and what keeps the relay from being followed at all.
        public mutating func next() async throws -> JobEnd? {
            try await next(isolation: #isolation)
        }
    }
}

extension RelayClient {
    /// Follows jobs to their ends, in whichever order they end; no single failure ends the stream.
    ///
    /// One connection tells of all of them, and each is looked at when it is named and when it has ended, so that
    /// thousands cost no more threads than a few. At most 1024 are followed at once: further ids are taken from
    /// `ids` as ends are taken from the stream. A relay that stops meanwhile is waited for.
    ///
    /// - Parameter ids: ids of jobs; one that stands twice ends twice.
    /// - Returns: the ends; the stream is over when every job of `ids` is.
    public func outcomes<IDs: AsyncSequence & Sendable>(of ids: IDs) -> JobEnds
    where IDs.Element == String {
        JobEnds { JobEndWatch(self, ids) }
    }

    /// Follows jobs to their ends, in whichever order they end; no single failure ends the stream.
    ///
    /// - Parameter ids: ids of jobs; one that stands twice ends twice.
    /// - Returns: the ends; the stream is over when every job of `ids` is.
    public func outcomes<IDs: Sequence<String> & Sendable>(of ids: IDs) -> JobEnds {
        JobEnds { JobEndWatch(self, PlainIDs(ids)) }
    }
}

/// Ids that are all there.
private struct PlainIDs<IDs: Sequence<String> & Sendable>: AsyncSequence, Sendable {
    typealias Element = String
    typealias Failure = Never

    let ids: IDs

    init(_ ids: IDs) { self.ids = ids }

    func makeAsyncIterator() -> Iterator { Iterator(ids: ids.makeIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        var ids: IDs.Iterator

        mutating func next() async -> String? { ids.next() }
    }
}
