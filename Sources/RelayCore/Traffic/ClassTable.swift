import RelayBase

/// How requests of each class fare with an upstream whose circuit breaker opens: the breaker stops those that fail, and
/// lets those through that do not.
///
/// A class whose last request was answered goes on as if the breaker were closed. One that is not known yet tries it: one
/// request at a time, at first 100 ms after the one before and later up to 15 s, twice as long after each class that fails
/// too, so that an upstream that fails at everything is not asked by each class in turn. Of a class that fails nothing is
/// sent but the breaker's own probes. Beyond 64 classes those that are not known count as failing.
struct ClassTable: Sendable {
    /// A class, as far as it is known.
    struct Entry: Sendable, Equatable {
        /// Attempts since the first that failed, and those of them that failed.
        var attempts: UInt32 = 0
        var failures: UInt32 = 0
        var state = State.trying
        /// When that was last found.
        var at: Instant

        enum State: Sendable, Equatable {
            /// One request is under way to find out.
            case trying
            case works
            case fails
        }
    }

    /// The ways a request may go while the breaker is open.
    enum Pass: Hashable, Sendable {
        case goes
        /// It goes, and finds out for its class.
        case tries
        /// Another finds out, or did a moment ago; to be asked again then.
        case waits(until: Instant)
        case fails
    }

    static let most = 64
    private static let shortest: Duration = .milliseconds(100)
    private static let longest: Duration = .seconds(15)
    /// For longer nobody waits to find out.
    private static let timeout: Duration = .seconds(1)
    /// How soon one that waits for another's answer looks again.
    private static let look: Duration = .milliseconds(5)

    private(set) var entries: [RequestClass: Entry] = [:]
    private var pause = ClassTable.shortest
    private var nextTrial = Instant(nanoseconds: .min / 2)

    /// Whether a request of a class that is not known may find out now, or one is known to be answered.
    func mayPass(_ now: Instant) -> Bool {
        nextTrial <= now && !isFull || entries.values.contains { $0.state == .works }
    }

    /// Whether no further class can be told apart; one that is answered makes room.
    private var isFull: Bool {
        entries.count >= ClassTable.most && !entries.values.contains { $0.state == .works }
    }

    /// Whether the last request of the class was answered.
    func isAnswered(_ asked: RequestClass) -> Bool { entries[asked]?.state == .works }

    /// Whether any class fails.
    var hasFailing: Bool { entries.values.contains { $0.state == .fails } }

    /// The way a request of the class may go now.
    func pass(_ asked: RequestClass, _ now: Instant) -> Pass {
        if let entry = entries[asked] {
            switch entry.state {
            case .works: return .goes
            case .fails: return .fails
            case .trying:
                // The one that finds out may hang.
                guard entry.at.duration(to: now) < ClassTable.timeout else { return .fails }
                return .waits(until: now.advanced(by: ClassTable.look))
            }
        }
        if isFull { return .fails }
        guard nextTrial <= now else {
            return pause > ClassTable.timeout ? .fails : .waits(until: nextTrial)
        }
        return .tries
    }

    /// A request finds out for its class, which may.
    mutating func tries(_ asked: RequestClass, _ now: Instant) {
        if entries.count >= ClassTable.most,
            let oldest = entries.filter({ $0.value.state == .works }).min(by: { $0.value.at < $1.value.at })
        {
            entries[oldest.key] = nil
        }
        entries[asked] = Entry(at: now)
        nextTrial = now.advanced(by: pause)
    }

    /// An attempt of the class has ended, as the one that found out for it or not; `works` is nil where nothing is known
    /// of it.
    mutating func ended(_ asked: RequestClass, works: Bool?, isTrial: Bool = true, _ now: Instant) {
        guard let works else {
            // Another's end says nothing of the one that finds out.
            if isTrial, entries[asked]?.state == .trying { entries[asked] = nil }
            return
        }
        if entries[asked] == nil {
            // Nothing has to be told of a class before it fails.
            if works { return }
            evictOldest()
        }
        if !works, entries[asked]?.state == .works {
            // One failure of a class that was answered is no reason to stop it, and one to find out anew.
            entries[asked] = nil
            nextTrial = min(nextTrial, now)
            return
        }
        var entry = entries[asked] ?? Entry(at: now)
        if entry.state == .trying, entries[asked] != nil {
            pause = works ? ClassTable.shortest : min(pause * 2, ClassTable.longest)
            nextTrial = works ? now : now.advanced(by: pause)
        }
        entry.attempts &+= 1
        if !works { entry.failures &+= 1 }
        entry.state = works ? .works : .fails
        entry.at = now
        entries[asked] = entry
    }

    /// The breaker opens: a class that was last heard of longer than `window` ago is as good as unknown.
    mutating func opened(_ window: Duration, _ now: Instant) {
        entries = entries.filter { $0.value.state != .trying && $0.value.at.duration(to: now) <= window }
        pause = ClassTable.shortest
        nextTrial = now
    }

    /// The breaker closes: a class that is answered goes on when it opens again a moment later.
    mutating func closed() {
        let answered = entries.filter { $0.value.state == .works }
        self = ClassTable()
        entries = answered
    }

    /// Forgets those of requests that are called so.
    mutating func clear(_ name: String) -> Bool {
        let before = entries.count
        entries = entries.filter { $0.key.name != name }
        return entries.count < before
    }

    /// Those that fail, most failures first.
    var failing: [(asked: RequestClass, entry: Entry)] {
        entries.filter { $0.value.state == .fails }
            .sorted { ($1.value.failures, $0.key.name) < ($0.value.failures, $1.key.name) }
            .map { ($0.key, $0.value) }
    }

    /// One that is answered.
    var working: RequestClass? {
        entries.filter { $0.value.state == .works }.max { $0.value.attempts < $1.value.attempts }?.key
    }

    private mutating func evictOldest() {
        guard entries.count >= ClassTable.most, let oldest = entries.min(by: { $0.value.at < $1.value.at })
        else { return }
        entries[oldest.key] = nil
    }
}
