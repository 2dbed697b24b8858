import RelayBase
import RelayJobs

/// The writer's knowledge of plain jobs that wait or run, beside the tables: after a transaction that has never been it
/// is made from them again.
struct PlainJobs {
    struct Running {
        var id: JobID
        var route: Int64
        var token: UInt64
        /// Wall milliseconds.
        var created: Int64
        /// The row of `claimed` that it stands in; zero where it was born running.
        var claim: Int64
    }

    /// A row of `claimed`.
    struct Claimed {
        var begun: BegunAttempt
        /// Jobs of it that run.
        var left: Int
    }

    /// The waiting jobs of one user for one route.
    private final class Party {
        let number: ClaimTurns.Party
        // No method of it or of its route leads back here (decision 169); so with every field that is declared unchecked.
        /// By priority; each job with the time it is due since, and when it expires.
        @safe @exclusivity(unchecked) var lines = [PlainLine](repeating: PlainLine(), count: 8)
        /// The priorities of which some wait, a bit each.
        @safe @exclusivity(unchecked) var waiting: UInt8 = 0

        init(_ number: ClaimTurns.Party) { self.number = number }
    }

    /// Those of one route.
    final class Route {
        @safe @exclusivity(unchecked) private var parties: [ClaimTurns.Party: Party] = [:]
        /// The one that was asked for last.
        @safe @exclusivity(unchecked) private var last: Party?
        /// Those of which some wait, in their order.
        @safe @exclusivity(unchecked) private var numbers: [ClaimTurns.Party] = []
        /// Parties without any that are kept all the same: most are back in a moment.
        private static let idleParties = 8
        /// All that wait or run, each with the time of its acceptance and the queue it waits in, or waited in.
        var open = PlainLine()
        /// Whether one of them was accepted by an earlier wall clock than one before it.
        var hasStepped = false
        private var lastCreated = Int64.min
        @safe @exclusivity(unchecked) fileprivate var waiting = 0
        /// Whether its oldest job may be another one than was last told.
        fileprivate var isChanged = false
        fileprivate var told: Int64?

        func add(_ seq: Int64, created: Int64, queue: JobQueue?) {
            if open.first == nil { hasStepped = false } else if created < lastCreated { hasStepped = true }
            lastCreated = created
            open.append(PlainLine.Job(seq: seq, at: created, mark: queue?.value ?? -1))
        }

        var hasWaiting: Bool { waiting > 0 }

        /// The next party behind that one of which some wait.
        func party(behind party: ClaimTurns.Party) -> ClaimTurns.Party? {
            let index = index(of: party + 1)
            return index < numbers.count ? numbers[index] : nil
        }

        /// The priorities of which some of the party wait, a bit each.
        func priorities(of party: ClaimTurns.Party) -> UInt8 { known(party)?.waiting ?? 0 }

        /// The first that waits in a queue.
        func first(in queue: JobQueue) -> PlainLine.Job? { known(queue.party)?.lines[queue.priority].first }

        /// Calls `body` with each that waits.
        func eachWaiting(_ body: (PlainLine.Job) -> Void) {
            for number in numbers { for line in parties[number]?.lines ?? [] { line.each(body) } }
        }

        fileprivate func wait(_ job: PlainLine.Job, in queue: JobQueue) {
            let party = known(queue.party) ?? made(queue.party)
            if party.waiting == 0 {
                numbers.insert(queue.party, at: index(of: queue.party))
            }
            party.waiting |= 1 << queue.priority
            party.lines[queue.priority].append(job)
            waiting += 1
        }

        fileprivate func removeFirst(in queue: JobQueue) {
            guard let party = known(queue.party) else { return }
            party.lines[queue.priority].removeFirst()
            left(party, queue)
        }

        /// - Returns: whether it waited there.
        fileprivate func remove(_ seq: Int64, in queue: JobQueue) -> Bool {
            guard let party = known(queue.party), party.lines[queue.priority].remove(seq) != nil else {
                return false
            }
            left(party, queue)
            return true
        }

        private func left(_ party: Party, _ queue: JobQueue) {
            waiting -= 1
            guard party.lines[queue.priority].first == nil else { return }
            party.waiting &= ~(1 << queue.priority)
            guard party.waiting == 0 else { return }
            numbers.remove(at: index(of: queue.party))
            guard parties.count > numbers.count + Self.idleParties else { return }
            parties[queue.party] = nil
            last = nil
        }

        private func known(_ number: ClaimTurns.Party) -> Party? {
            if let last, last.number == number { return last }
            let found = parties[number]
            if let found { last = found }
            return found
        }

        private func made(_ number: ClaimTurns.Party) -> Party {
            let party = Party(number)
            parties[number] = party
            last = party
            return party
        }

        private func index(of party: ClaimTurns.Party) -> Int {
            var (low, high) = (0, numbers.count)
            while low < high {
                let middle = low + (high - low) / 2
                if numbers[middle] < party { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// When the one was accepted that has waited or run for longest.
        var oldest: Int64? {
            guard hasStepped else { return open.first?.at }
            var oldest = Int64.max
            open.each { oldest = min(oldest, $0.at) }
            return oldest == .max ? nil : oldest
        }
    }

    /// The number of jobs that may wait as plain ones: the next start has to look at each of them.
    static let limit = 65_536

    private var routes: [Int64: Route] = [:]
    var running: [Int64: Running] = [:]
    var claims: [Int64: Claimed] = [:]
    private var nextClaim: Int64 = 1
    /// None of those that wait expires before it.
    var firstExpiry = Int64.max
    private(set) var waiting = 0
    /// Routes that are changed.
    private var changed: [Int64] = []

    subscript(_ route: Int64) -> Route? { routes[route] }

    private mutating func plainRoute(_ route: Int64) -> Route {
        if let known = routes[route] { return known }
        let new = Route()
        routes[route] = new
        return new
    }

    private mutating func note(_ plainRoute: Route, _ route: Int64) {
        guard !plainRoute.isChanged else { return }
        plainRoute.isChanged = true
        changed.append(route)
    }

    mutating func wait(
        _ seq: Int64,
        route: Int64,
        _ queue: JobQueue,
        runAt: Int64,
        expiresAt: Int64?,
        created: Int64
    ) {
        let plainRoute = plainRoute(route)
        plainRoute.wait(PlainLine.Job(seq: seq, at: runAt, mark: expiresAt ?? .max), in: queue)
        plainRoute.add(seq, created: created, queue: queue)
        waiting += 1
        if let expiresAt { firstExpiry = min(firstExpiry, expiresAt) }
        note(plainRoute, route)
    }

    /// One that was born running, or that a start has found in a row of `claimed`.
    mutating func run(_ seq: Int64, _ job: Running) {
        let plainRoute = plainRoute(job.route)
        plainRoute.add(seq, created: job.created, queue: nil)
        running[seq] = job
        if job.claim != 0 { claims[job.claim]?.left += 1 }
        note(plainRoute, job.route)
    }

    /// The number of a row that claims are about to be put into.
    mutating func beginClaims(_ begun: BegunAttempt) -> Int64 {
        defer { nextClaim += 1 }
        claims[nextClaim] = Claimed(begun: begun, left: 0)
        return nextClaim
    }

    /// Numbers beyond it were never given: a row that has one is damaged.
    private static let lastClaim: Int64 = 1 << 62

    /// A row as it stands in the table; nil of one that cannot be read.
    mutating func restore(_ number: Int64, _ begun: BegunAttempt?) {
        if number < Self.lastClaim { nextClaim = max(nextClaim, number + 1) }
        if let begun { claims[number] = Claimed(begun: begun, left: 0) }
    }

    /// Those of a zone that wait or run.
    func open(in zone: PlainZone) -> [Int64] {
        let positions = PlainZone.positions(of: zone.block)
        var found: [Int64] = []
        routes[zone.route]?.open.each { if positions.contains($0.seq) { found.append($0.seq) } }
        return found
    }

    /// Those of a zone that wait.
    func waiting(in zone: PlainZone) -> [Int64] { open(in: zone).filter { running[$0] == nil } }

    /// The route that a job waits or runs for.
    func route(of seq: Int64) -> Int64? {
        routes.first { $0.value.open.contains(seq) }?.key
    }

    /// Those that wait among the positions.
    func waiting(in positions: ClosedRange<Int64>) -> [Int64] {
        var found: [Int64] = []
        for plainRoute in routes.values {
            plainRoute.eachWaiting { if positions.contains($0.seq) { found.append($0.seq) } }
        }
        return found.sorted()
    }

    /// The first that waits in a queue is claimed.
    mutating func claimFirst(in queue: JobQueue, _ seq: Int64, _ job: Running) {
        guard let plainRoute = routes[job.route] else { return }
        plainRoute.removeFirst(in: queue)
        waiting -= 1
        running[seq] = job
        claims[job.claim]?.left += 1
    }

    /// The job is plain no more, or over.
    ///
    /// - Returns: the row of `claimed` that has no other job.
    mutating func close(_ seq: Int64, route: Int64) -> Int64? {
        guard let plainRoute = routes[route] else { return nil }
        let open = plainRoute.open.remove(seq)
        if open != nil { note(plainRoute, route) }
        guard let job = running.removeValue(forKey: seq) else {
            if let open, plainRoute.remove(seq, in: JobQueue(value: open.mark)) { waiting -= 1 }
            return nil
        }
        guard job.claim != 0, let left = claims[job.claim]?.left else { return nil }
        if left > 1 {
            claims[job.claim]?.left = left - 1
            return nil
        }
        claims[job.claim] = nil
        return job.claim
    }

    /// Those that wait and expire by `now`, at most so many, and when the next of the others does.
    mutating func expired(by now: Int64, _ limit: Int) -> [Int64] {
        guard firstExpiry <= now else { return [] }
        var (found, next): ([Int64], Int64) = ([], .max)
        for plainRoute in routes.values {
            plainRoute.eachWaiting { job in
                if job.mark <= now, found.count < limit {
                    found.append(job.seq)
                } else {
                    next = min(next, job.mark)
                }
            }
        }
        firstExpiry = next
        return found
    }

    /// Routes whose oldest job is another one than was last told, each with the time of its acceptance.
    mutating func news() -> [(route: Int64, oldest: Int64?)] {
        guard !changed.isEmpty else { return [] }
        var news: [(Int64, Int64?)] = []
        for route in changed {
            guard let plainRoute = routes[route] else { continue }
            plainRoute.isChanged = false
            let oldest = plainRoute.oldest
            guard oldest != plainRoute.told else { continue }
            plainRoute.told = oldest
            news.append((route, oldest))
        }
        changed.removeAll(keepingCapacity: true)
        return news
    }

    /// Tells of every route again what is other than `before` has told.
    mutating func tellAgain(of before: PlainJobs) {
        for (route, known) in before.routes {
            let plainRoute = plainRoute(route)
            plainRoute.told = known.told
            note(plainRoute, route)
        }
        for (route, plainRoute) in routes { note(plainRoute, route) }
    }
}
