/// The books of one job stream: who is under way, which outcomes wait, when the next job may begin.
///
/// At most `limit` jobs are under way or wait to be taken, so neither a slow upstream nor a slow reader makes it grow.
package struct JobOrderMachine<Result: Sendable>: Sendable {
    private let limit: Int
    private let order: JobOrder
    /// Jobs begun so far.
    package private(set) var begun = 0
    private var ended = 0
    private var taken = 0
    /// Outcomes by their turn: the place of their job, or how many jobs had ended before.
    private var waiting: [Int: (index: Int, outcome: Result)] = [:]
    private var newest: [String: Int] = [:]
    private var keys: [Int: String] = [:]

    /// A limit below 1 is 1.
    package init(limit: Int, order: JobOrder) {
        self.limit = max(1, limit)
        self.order = order
    }

    /// Whether another job may begin.
    package var mayBegin: Bool { begun - taken < limit }

    /// Whether nothing is under way and nothing waits.
    package var isIdle: Bool { begun == taken }

    /// A job began; there was a place for it.
    ///
    /// - Parameter key: the newest job of a key supersedes the one before it.
    /// - Returns: the job's place in the stream, counted from 0, and that of the job to cancel in its favour.
    package mutating func began(key: String? = nil) -> (index: Int, superseded: Int?) {
        precondition(mayBegin, "job \(begun) of a stream began without a place")
        let index = begun
        begun += 1
        guard let key else { return (index, nil) }
        keys[index] = key
        return (index, newest.updateValue(index, forKey: key))
    }

    /// A job ended.
    package mutating func ended(_ outcome: Result, at index: Int) {
        waiting[order == .input ? index : ended] = (index, outcome)
        ended += 1
        forgetKey(of: index)
    }

    private mutating func forgetKey(of index: Int) {
        if let key = keys.removeValue(forKey: index), newest[key] == index { newest[key] = nil }
    }

    /// Whether the outcome of that job, which is about to end, would be the next to report.
    package func isNext(_ index: Int) -> Bool { (order == .input ? index : ended) == taken }

    /// The job that is next ended, and its outcome is reported by who says so.
    package mutating func endedInOrder(_ index: Int) {
        precondition(isNext(index), "job \(index) of a stream ended out of its turn")
        ended += 1
        taken += 1
        if !keys.isEmpty { forgetKey(of: index) }
    }

    /// Whether an outcome may be reported.
    package var isReady: Bool { !waiting.isEmpty && waiting[taken] != nil }

    /// The outcome to report next and the place of its job; nil when none may be.
    package mutating func take() -> (index: Int, outcome: Result)? {
        guard let next = waiting.removeValue(forKey: taken) else { return nil }
        taken += 1
        return next
    }
}
