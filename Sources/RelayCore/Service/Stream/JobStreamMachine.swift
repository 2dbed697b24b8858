/// In which order the outcomes of a job stream come.
public enum JobOrder: String, CaseIterable, Sendable {
    /// As the jobs end.
    case completion
    /// As the requests came; an outcome waits for those before it.
    case input
}

/// The books of one job stream: who is under way, which outcomes wait, when the next request may be read.
///
/// At most `limit` jobs are under way or waiting to be taken, so neither a slow upstream nor a slow reader makes it
/// grow.
struct JobStreamMachine<Value: Sendable> {
    let limit: Int
    let order: JobOrder
    /// Requests read so far.
    private(set) var begun = 0
    private var running = 0
    private var waiting: [Int: JobOutcome<Value>] = [:]
    private var finished: [Int] = []
    private var nextOut = 0
    private var newest: [String: Int] = [:]
    private var keys: [Int: String] = [:]

    init(limit: Int, order: JobOrder) {
        self.limit = max(1, limit)
        self.order = order
    }

    /// Whether another request may be read.
    var hasPlace: Bool { running + waiting.count < limit }

    /// Whether nothing is under way and nothing waits.
    var isIdle: Bool { running == 0 && waiting.isEmpty }

    /// A request was read.
    ///
    /// - Parameter key: the newest job of a key supersedes the one before it.
    /// - Returns: the job's place in the stream, and that of the job to cancel in its favour.
    mutating func began(key: String?) -> (index: Int, superseded: Int?) {
        let index = begun
        begun += 1
        running += 1
        guard let key else { return (index, nil) }
        keys[index] = key
        return (index, newest.updateValue(index, forKey: key))
    }

    /// A job ended.
    mutating func ended(_ outcome: JobOutcome<Value>, at index: Int) {
        var outcome = outcome
        outcome.index = index
        running -= 1
        waiting[index] = outcome
        finished.append(index)
        if let key = keys.removeValue(forKey: index), newest[key] == index { newest[key] = nil }
    }

    /// The outcome to report next; nil when none may be.
    mutating func take() -> JobOutcome<Value>? {
        switch order {
        case .completion:
            guard !finished.isEmpty else { return nil }
            return waiting.removeValue(forKey: finished.removeFirst())
        case .input:
            guard let outcome = waiting.removeValue(forKey: nextOut) else { return nil }
            nextOut += 1
            return outcome
        }
    }
}
