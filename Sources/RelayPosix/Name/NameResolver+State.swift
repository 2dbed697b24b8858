/// One name's turn to be looked up.
struct NameRequest: Sendable {
    let host: String
    let zone: Substring
    /// Whether its last look-up took long or ended without a word of the name servers.
    let wasSlow: Bool

    init(_ host: String, wasSlow: Bool) {
        self.host = host
        self.wasSlow = wasSlow
        zone = NameRequest.zone(of: host)
    }

    /// The zone that the same name servers likely serve: all but the first label, where that leaves two.
    static func zone(of host: String) -> Substring {
        guard let dot = host.firstIndex(of: ".") else { return host[...] }
        let rest = host[host.index(after: dot)...]
        return rest.dropLast().contains(".") ? rest : host[...]
    }
}

extension NameResolver {
    /// The answers that a resolver knows and the look-ups that it has under way.
    struct State {
        typealias Receiver = @Sendable (Result<[IPAddress], NameError>) -> Void

        private struct Entry {
            var answer: Result<[IPAddress], NameError>
            var expiry: Int64
            /// The last addresses, and until when they may stand in for an answer.
            var good: [IPAddress]?
            var goodUntil: Int64 = 0
            var wasSlow = false
        }

        private var known: [String: Entry] = [:]
        var waiting: [String: [Receiver]] = [:]
        var waiterCount = 0
        var queue: [NameRequest] = []
        var idleThreads = 0
        private var threads = 0
        private var zones: [Substring: Int] = [:]
        private var slowRunning = 0

        func answer(for host: String, _ now: Int64) -> Result<[IPAddress], NameError>? {
            guard let entry = known[host], entry.expiry > now else { return nil }
            return entry.answer
        }

        func good(_ host: String, _ now: Int64) -> [IPAddress]? {
            guard let entry = known[host], entry.goodUntil > now else { return nil }
            return entry.good
        }

        func wasSlow(_ host: String) -> Bool { known[host]?.wasSlow ?? false }

        private func mayRun(_ turn: NameRequest, _ limits: Limits) -> Bool {
            zones[turn.zone, default: 0] < limits.zoneThreads
                && (!turn.wasSlow || slowRunning < limits.slowThreads)
        }

        /// Whether one more thread is to be started for what was put into the queue last; it is then counted.
        mutating func startsThread(_ limits: Limits) -> Bool {
            guard let last = queue.last, mayRun(last, limits), idleThreads < queue.count,
                threads < limits.threads
            else { return false }
            threads += 1
            return true
        }

        /// Whether something else may be looked up now, and which thread does it: an idle one, or a new one, which is
        /// then counted.
        mutating func another(_ limits: Limits) -> (isIdle: Bool, isNew: Bool) {
            guard queue.contains(where: { mayRun($0, limits) }) else { return (false, false) }
            if idleThreads > 0 { return (true, false) }
            guard threads < limits.threads else { return (false, false) }
            threads += 1
            return (false, true)
        }

        /// The first that may be looked up now.
        mutating func take(_ limits: Limits) -> NameRequest? {
            guard let index = queue.firstIndex(where: { mayRun($0, limits) }) else { return nil }
            let turn = queue.remove(at: index)
            zones[turn.zone, default: 0] += 1
            if turn.wasSlow { slowRunning += 1 }
            return turn
        }

        /// Whether a thread with nothing to do stays; one that does not is gone.
        mutating func keepsThread(_ limits: Limits) -> Bool {
            guard idleThreads < limits.keptThreads else {
                threads -= 1
                return false
            }
            idleThreads += 1
            return true
        }

        /// A counted thread could not be started: what nobody would come for.
        mutating func threadFailed() -> [NameRequest] {
            threads -= 1
            guard threads == 0 else { return [] }
            defer { queue = [] }
            return queue
        }

        /// Notes an answer.
        ///
        /// - Returns: what the waiters are told, and the waiters.
        mutating func settle(
            _ turn: NameRequest,
            _ answer: Result<[IPAddress], NameError>,
            isSlow: Bool,
            _ limits: Limits,
            _ now: Int64
        ) -> (Result<[IPAddress], NameError>, [Receiver]) {
            if let count = zones[turn.zone] {
                zones[turn.zone] = count > 1 ? count - 1 : nil
                if turn.wasSlow { slowRunning -= 1 }
            }
            var entry = Entry(answer: answer, expiry: 0)
            switch answer {
            case .success(let addresses):
                entry.good = addresses
                entry.goodUntil = now &+ limits.outdated.wholeNanoseconds
                entry.expiry = now &+ limits.positive.wholeNanoseconds
            case .failure(let error):
                entry.expiry = now &+ limits.negative.wholeNanoseconds
                // That there is no such name is an answer, too.
                if error != .notFound, let good = good(turn.host, now) {
                    entry.good = good
                    entry.goodUntil = known[turn.host]?.goodUntil ?? 0
                    entry.answer = .success(good)
                }
                if case .temporary = error { entry.wasSlow = true }
            }
            if isSlow { entry.wasSlow = true }
            remember(turn.host, entry, limit: limits.names, now)
            let receivers = waiting.removeValue(forKey: turn.host) ?? []
            waiterCount -= receivers.count
            return (entry.answer, receivers)
        }

        private mutating func remember(_ host: String, _ entry: Entry, limit: Int, _ now: Int64) {
            if known.count >= limit, known[host] == nil {
                known = known.filter { $0.value.expiry > now }
                if known.count >= limit { known.removeAll(keepingCapacity: true) }
            }
            known[host] = entry
        }
    }
}

extension Duration {
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
    }
}
