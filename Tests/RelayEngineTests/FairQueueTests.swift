import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayEngine
@testable import RelayRoute

@Suite("Turns of those who wait for a route", .runQueue, .timeLimit(.minutes(5)))
struct WaitingLineTests {
    private typealias Caller = FairQueue.Caller

    /// Those who were let in, until nobody waits or so many have been.
    private func turns(_ line: inout FairQueue, _ owners: [UInt64: Caller], atMost: Int = .max) -> [Caller] {
        var turns: [Caller] = []
        while turns.count < atMost, let next = line.next() { turns.append(owners[next.id] ?? .unknown) }
        return turns
    }

    private func line(_ callers: [(caller: Caller, count: Int)]) -> (FairQueue, [UInt64: Caller]) {
        var (line, owners, id) = (FairQueue(), [UInt64: Caller](), UInt64(0))
        for (caller, count) in callers {
            for _ in 0..<count {
                id += 1
                owners[id] = caller
                line.join(id, caller, urgency: 3)
            }
        }
        return (line, owners)
    }

    @Test("Callers have their turns one after the other, whatever each has waiting")
    func roundRobin() {
        var (line, owners) = line([(.user(1), 100), (.user(2), 3)])
        #expect(line.requests == 103 && line.callers == 2)
        #expect(line.most?.user == 1 && line.most?.count == 100)
        let first = turns(&line, owners, atMost: 8)
        let (one, two) = (Caller.user(1), Caller.user(2))
        #expect(first == [one, two, one, two, one, two, one, one])
        #expect(line.callers == 1 && line.requests == 95)
        #expect(turns(&line, owners).count == 95 && line.isEmpty && line.callers == 0)
    }

    @Test("Kept jobs come every fourth time, or once in a round of more callers", arguments: 0...6)
    func keptJobs(users: Int) {
        var callers: [(Caller, Int)] = [(.keptJobs, 500)]
        for user in 0..<users { callers.append((.user(UInt32(user)), 500)) }
        var (line, owners) = line(callers)
        #expect(line.requests == users * 500 && line.callers == users)
        let all = turns(&line, owners, atMost: 420)
        let kept = all.count { $0 == .keptJobs }
        let share = users == 0 ? 1 : max(4, users + 1)
        #expect(kept == 420 / share)
        for user in 0..<users {
            let own = all.count { $0 == .user(UInt32(user)) }
            #expect(abs(own * users - (420 - kept)) <= users)
        }
    }

    @Test("Each urgency has twice the turns of the next, and none is left out")
    func urgencies() {
        var (line, urgencies) = (FairQueue(), [UInt64: UInt8]())
        for id in 0..<1_500 as Range<UInt64> {
            let urgency = [0, 3, 7][Int(id % 3)] as UInt8
            urgencies[id] = urgency
            line.join(id, .user(1), urgency: urgency)
        }
        var turns: [UInt8: Int] = [:]
        for _ in 0..<290 { if let next = line.next() { turns[urgencies[next.id] ?? 9, default: 0] += 1 } }
        #expect(turns == [0: 256, 3: 32, 7: 2])
    }

    @Test("Requests that come one by one have no more turns than by their urgency")
    func oneByOne() {
        var line = FairQueue()
        for id in 1...1_000 as ClosedRange<UInt64> { line.join(id, .user(1), urgency: 3) }
        var late = 0
        line.join(10_000, .user(1), urgency: 6)
        for _ in 0..<450 {
            guard let next = line.next() else { break }
            if next.id >= 10_000 {
                late += 1
                line.join(next.id + 1, .user(1), urgency: 6)
            }
        }
        #expect(late == 50)
    }

    @Test("A request that gives up is passed over, leaves nothing behind, and gains no turn by coming again")
    func gaveUp() {
        var line = FairQueue()
        for id in 1...3 as ClosedRange<UInt64> { line.join(id, .user(1), urgency: 3) }
        for id in 11...12 as ClosedRange<UInt64> { line.join(id, .user(2), urgency: 3) }
        let gone = [11, 12, 12].map { line.gaveUp($0) }
        #expect(gone == [true, true, false] && line.callers == 1)
        line.join(13, .user(2), urgency: 3)
        let order = (0..<5).map { _ in line.next()?.id }
        #expect(order == [1, 13, 2, 3, nil] && line.isEmpty)
        for id in 100..<10_000 as Range<UInt64> {
            line.join(id, .user(1), urgency: 3)
            #expect(id % 50 == 0 || line.gaveUp(id))
        }
        #expect(line.requests == 198)
        let first = line.next()?.id
        #expect(first == 100 && line.callers == 1)
    }

    @Test("However they come, go and give up, nobody is lost", arguments: 1...20)
    func mixed(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var line = FairQueue()
        var waiting: [UInt64: Caller] = [:]
        for id in 1...3_000 as ClosedRange<UInt64> {
            switch random.next() % 4 {
            case 0, 1:
                let number = random.next() % 5
                let caller: Caller = number == 4 ? .keptJobs : .user(UInt32(number))
                waiting[id] = caller
                line.join(id, caller, urgency: UInt8(random.next() % 8))
            case 2:
                let next = line.next()
                #expect((next == nil) == waiting.isEmpty)
                if let next { #expect((waiting.removeValue(forKey: next.id) == .keptJobs) == next.looks) }
            default:
                guard let id = waiting.keys.randomElement(using: &random) else { continue }
                waiting[id] = nil
                let waited = line.gaveUp(id)
                #expect(waited)
            }
            let requests = waiting.values.filter { $0 != .keptJobs }
            #expect(line.requests == requests.count && line.callers == Set(requests).count)
            #expect(line.isEmpty == waiting.isEmpty)
        }
        while let next = line.next() { waiting[next.id] = nil }
        #expect(waiting.isEmpty)
    }

    @Test("A caller may have all the room to wait, and keeps nobody out with it")
    func room() {
        var machine = ConcurrencyMachine(limit: 1, maxPending: 12)
        var id: UInt64 = 0
        func come(_ caller: Caller, _ count: Int) -> Int {
            (0..<count).count { _ in
                id += 1
                if case .wait = machine.arrived(id, caller) { return true }
                return false
            }
        }
        _ = machine.arrived(1_000, .user(1))
        let waiting = [come(.user(1), 20), come(.user(2), 20), come(.user(3), 20), come(.user(1), 1)]
        #expect(waiting == [12, 6, 4, 0])
        var none = ConcurrencyMachine(limit: 1, maxPending: 0)
        _ = none.arrived(1, .user(1))
        guard case .refuse = none.arrived(2, .user(2)) else {
            Issue.record("a route without room to wait has some")
            return
        }
    }

    @Test("The listener for the window's growth keeps no route")
    func noCycle() {
        let traffic = RouteTraffic()
        weak var gone: RouteState?
        do {
            let state = RouteState(ConcurrencyLimit(), traffic)
            gone = state
            state.resize(ConcurrencyLimit(), RouteTraffic())
            state.resize(ConcurrencyLimit(), traffic)
            #expect(gone != nil)
        }
        #expect(gone == nil)
    }

    @Test("A request that waits is let in when the window grows, with no permit coming back")
    func windowGrows() async {
        let route = makeRoute {
            $0.traffic = .off
            $0.traffic.window.isEnabled = true
            $0.traffic.window.initial = 1
        }
        /// An attempt that is taken while all that may be under way is.
        func succeed(_ traffic: RouteTraffic) {
            let now = Instant(nanoseconds: 0)
            traffic.tell(route, now) { machine in
                let asking = RouteTrafficMachine.Asking(
                    kind: .first,
                    upstreamIndex: 0,
                    isKept: false,
                    slot: .none
                )
                guard case .go(let leave) = machine.grant(route, asking, now) else { return }
                var word = AttemptFeedback()
                word.window = .fine
                _ = machine.ended(leave, word, of: route, random: 0, now)
            }
        }
        let traffic = RouteTraffic()
        var limit = ConcurrencyLimit()
        limit.maxRequests = 4
        traffic.order(nil, of: "one", route, until: Instant(nanoseconds: 0), Instant(nanoseconds: 0))
        let state = RouteState(limit, traffic)
        guard case .permitted(let permit) = state.enter(.user(1)),
            case .queued(let turn) = state.enter(.user(2))
        else {
            Issue.record("the window is not that of the traffic")
            return
        }
        succeed(traffic)
        #expect(state.load == (2, 0))
        let other = turn.take()
        let isIn = other != nil
        #expect(isIn)
        _ = consume permit
        _ = consume other
        #expect(state.load == (0, 0))
    }
}
