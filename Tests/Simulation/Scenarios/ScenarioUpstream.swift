import RelayBase
import RelayRoute
import RelayTestSupport

/// The upstream of a scenario: serves as its model says, and remembers every attempt.
final class ScenarioUpstream {
    /// One attempt as it came in, and what it was answered; moments in seconds.
    final class Visit {
        let at: Double
        let target: String
        let idempotencyKey: String?
        /// Nil once it is answered: it leads to the run of its job, and by that to all of its world.
        fileprivate(set) var request: OutboundRequest?
        /// Attempts that were there when this one came, itself included; while its breaker is not closed, those that came
        /// since.
        let beside: Int
        /// Whether the breaker was not closed when it came.
        let isProbe: Bool
        fileprivate(set) var ended: Double?
        /// Nil where the relay has given it up.
        fileprivate(set) var status: UInt16?

        init(_ request: OutboundRequest, at: Double, beside: Int, isProbe: Bool) {
            (target, idempotencyKey) = (request.target, request.fields[.idempotencyKey])
            (self.request, self.at, self.beside, self.isProbe) = (request, at, beside, isProbe)
        }
    }

    struct Reply {
        /// Zero closes the connection without an answer.
        let status: UInt16
        /// Seconds from the attempt to its answer; infinite where there is none.
        let after: Double
        var fields: [(name: String, value: String)] = []
        var body = ""

        static func answer(_ status: UInt16, after: Double) -> Reply { Reply(status: status, after: after) }
    }

    var model: (Visit) -> Reply
    private(set) var visits: [Visit] = []
    private var isOpen = false
    private var inside = 0
    private var insideSinceOpen = 0

    init(_ model: @escaping (Visit) -> Reply) { self.model = model }

    /// The relay's breaker of this upstream has changed.
    func breakerChanged(isOpen: Bool) {
        if isOpen, !self.isOpen { insideSinceOpen = 0 }
        self.isOpen = isOpen
    }

    func came(_ request: OutboundRequest, at: Double) -> Visit {
        inside += 1
        if isOpen { insideSinceOpen += 1 }
        let visit = Visit(
            request,
            at: at,
            beside: isOpen ? insideSinceOpen : inside,
            isProbe: isOpen
        )
        visits.append(visit)
        return visit
    }

    func left(_ visit: Visit, at: Double, status: UInt16?) {
        (visit.ended, visit.status, visit.request) = (at, status, nil)
        inside -= 1
        if visit.isProbe, isOpen { insideSinceOpen -= 1 }
    }

    /// The attempts that came from then until then.
    func seen(_ begin: Double = 0, _ end: Double = .infinity) -> ArraySlice<Visit> {
        visits[first(begin)..<first(end)]
    }

    func served(_ begin: Double = 0, _ end: Double = .infinity) -> Int {
        seen(begin, end).count { $0.status == 200 }
    }

    private func first(_ moment: Double) -> Int {
        var (low, high) = (0, visits.count)
        while low < high {
            let middle = (low + high) / 2
            if visits[middle].at < moment { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // The ways in which an upstream may serve.

    /// Serves so many at once, each for so many seconds, and the others in their order after them; nothing goes on while it
    /// stalls.
    ///
    /// It does not see that somebody has given up: as with most servers, what waits is served though nobody is there.
    struct Workers {
        private var free: Heap<Double>
        private let seconds: Double
        private let stall: Range<Double>?

        init(_ count: Int, seconds: Double, stall: Range<Double>? = nil) {
            free = Heap()
            for _ in 0..<count { free.add(0) }
            (self.seconds, self.stall) = (seconds, stall)
        }

        mutating func done(_ moment: Double) -> Double {
            let begin = max(moment, free.popFirst() ?? moment)
            var end = begin + seconds
            if let stall, begin < stall.upperBound, end > stall.lowerBound {
                end = stall.upperBound + seconds - max(0, stall.lowerBound - begin)
            }
            free.add(end)
            return end
        }
    }

    convenience init(_ workers: Workers) {
        var workers = workers
        self.init { .answer(200, after: workers.done($0.at) - $0.at) }
    }

    /// Takes so many at once, each for so many seconds, and refuses those above.
    convenience init(ceiling most: Int, seconds: Double, status: UInt16) {
        var ends = Heap<Double>()
        var inside = 0
        self.init { visit in
            while let end = ends.first, end <= visit.at {
                ends.popFirst()
                inside -= 1
            }
            guard inside < most else { return .answer(status, after: 0.001) }
            inside += 1
            ends.add(visit.at + seconds)
            return .answer(200, after: seconds)
        }
    }
}
