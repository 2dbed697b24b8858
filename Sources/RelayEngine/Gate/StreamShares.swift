package import RelayBase

/// Answers of a route that are on their way to their callers, and whether a caller has its share of the permits with those
/// that stream.
///
/// An answer streams from its head on where that says so (`text/event-stream`), and any other as long as it is not over ten
/// seconds after its head. A caller's share is all but an eighth of the permits, and all but one of a few.
///
/// | permits | share |
/// |---|---|
/// | 1 | 1 |
/// | 8 | 7 |
/// | 256 | 224 |
package struct StreamShares: Sendable {
    package typealias Caller = FairQueue.Caller

    /// How long after its head an answer of no certain end begins to count.
    package static let gracePeriod: Duration = .seconds(10)
    /// How long a caller's requests are taken for streams after one that nobody could have known ended for another's sake.
    static let caution: Duration = .seconds(60)

    private struct Answer {
        let id: UInt64
        let caller: Caller
        /// From when on it streams.
        let since: Instant
    }

    /// In the order of their heads.
    private var answers: [Answer] = []
    private var cautions: [Caller: Instant] = [:]

    package init() {}

    /// Whether none is on its way.
    package var isEmpty: Bool { answers.isEmpty }

    package static func share(of permits: Int) -> Int { max(1, permits - max(1, permits / 8)) }

    /// Whether the caller has its share, or would have if all its answers streamed.
    package func isFull(_ caller: Caller, of permits: Int, _ now: Instant) -> Bool {
        !answers.isEmpty && count(of: caller, by: now) >= Self.share(of: permits)
    }

    /// Whether some caller may have its share.
    package func mayBeFull(of permits: Int) -> Bool {
        guard answers.count >= Self.share(of: permits) else { return false }
        return Set(answers.map(\.caller)).contains {
            count(of: $0, by: .distantFuture) >= Self.share(of: permits)
        }
    }

    /// Whether a request of the caller is taken for one whose answer streams, whatever it says.
    package func isCautious(of caller: Caller, _ now: Instant) -> Bool {
        !answers.isEmpty && cautions[caller].map { $0 > now } ?? false
    }

    /// The head of an answer is out, and the rest is to follow.
    package mutating func began(_ id: UInt64, _ caller: Caller, isEndless: Bool, _ now: Instant) {
        let since = isEndless ? now : now.advanced(by: Self.gracePeriod)
        answers.append(Answer(id: id, caller: caller, since: since))
    }

    /// The answer is over.
    package mutating func ended(_ id: UInt64) { answers.removeAll { $0.id == id } }

    /// The answer that ends since one for another caller waits: the latest of who has most beyond its share.
    package mutating func recall(for waiting: Caller, of permits: Int, _ now: Instant) -> UInt64? {
        let share = Self.share(of: permits)
        guard answers.count > share else { return nil }
        let excess = Dictionary(grouping: answers.filter { $0.since <= now }, by: \.caller).filter {
            $0.key != waiting && $0.value.count > share
        }
        guard let most = excess.max(by: { $0.value.count < $1.value.count }), let last = most.value.last
        else { return nil }
        ended(last.id)
        cautions = cautions.filter { $0.value > now }
        cautions[most.key] = now.advanced(by: Self.caution)
        return last.id
    }

    /// When the next answer begins to stream that may be one too many; nil where none will.
    package func nextRecall(of permits: Int, _ now: Instant) -> Instant? {
        guard answers.count > Self.share(of: permits) else { return nil }
        return answers.lazy.map(\.since).filter { $0 > now }.min()
    }

    private func count(of caller: Caller, by now: Instant) -> Int {
        answers.count { $0.caller == caller && $0.since <= now }
    }
}
