/// The common part of all checkers: the clock, how often each kind of thing happened, the trace, the first broken promise.
class SimulatedChecker<Kind: Hashable> {
    let timeline: Timeline
    var hash = TraceHash()
    private(set) var coverage: [Kind: Int] = [:]
    private(set) var violation: Violation?
    /// Parts of the sentences of which it must say one, where a bug is planted; nil takes every sentence.
    private let wanted: [String]?

    init(_ timeline: Timeline, wanted: [String]?) { (self.timeline, self.wanted) = (timeline, wanted) }

    var now: Int64 { timeline.now }

    func note(_ kind: Kind) { coverage[kind, default: 0] += 1 }

    /// Keeps the first broken promise; a planted bug breaks more than one, and is to be known by its own.
    func fail(_ job: Int, _ sentence: String, story: () -> [String]) {
        guard violation == nil, wanted?.contains(where: sentence.contains) ?? true else { return }
        violation = Violation(job: job, at: now, sentence: sentence, timeline: story())
    }
}

/// A promise that was broken.
struct Violation {
    /// -1 where it is of no job.
    let job: Int
    let at: Int64
    let sentence: String
    let timeline: [String]
}

/// A hash of everything that passed the ports, in order: equal for equal runs.
struct TraceHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func mix(_ number: UInt64) {
        value = (value ^ number) &* 0x9E37_79B9_7F4A_7C15
        value ^= value >> 29
    }

    mutating func mix(_ word: String) { mix(word.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }) }
}
