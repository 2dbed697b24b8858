import RelayBase
import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayEngine

@Suite("Places of a route", .runQueue, .timeLimit(.minutes(5)))
struct ConcurrencyTests {
    private func admitted(_ arrival: ConcurrencyMachine.Arrival) -> String {
        switch arrival {
        case .admit: "admit"
        case .wait: "wait"
        case .refuse: "refuse"
        }
    }

    @Test("So many are let in, so many wait, one more is refused")
    func bounds() {
        var machine = ConcurrencyMachine(limit: 2, maxPending: 1)
        let arrivals = (1...4).map { admitted(machine.arrived($0)) }
        #expect(arrivals == ["admit", "admit", "wait", "refuse"])
        #expect(machine.inFlight == 2 && machine.pending == 1)
    }

    @Test("The request that waits longest is let in first, and one that gave up is passed over")
    func order() {
        var machine = ConcurrencyMachine(limit: 1, maxPending: 10)
        for id in 1...4 { _ = machine.arrived(UInt64(id)) }
        let gaveUp = machine.gaveUp(2)
        let next = machine.left().first
        let isLate = !machine.gaveUp(3)
        let order = [next, machine.left().first, machine.left().first]
        #expect(gaveUp && isLate && order == [3, 4, nil])
        #expect(machine.inFlight == 0 && machine.pending == 0)
    }

    @Test("A look for kept jobs waits in its turn, and takes no request's room to wait")
    func beside() {
        var machine = ConcurrencyMachine(limit: 1, maxPending: 1)
        let arrivals = [
            machine.arrived(1), machine.arrived(2, looks: true), machine.arrived(3), machine.arrived(4),
        ]
        #expect(arrivals.map(admitted) == ["admit", "wait", "wait", "refuse"])
        #expect(machine.pending == 1)
        #expect(machine.left() == [2] && machine.pending == 1)
        #expect(machine.left() == [3] && machine.pending == 0)
        for givesUp in [true, false] {
            var full = ConcurrencyMachine(limit: 1, maxPending: 1)
            let others = [full.arrived(1), full.arrived(2), full.arrived(3, looks: true)]
            #expect(others.map(admitted) == ["admit", "wait", "wait"] && full.pending == 1)
            if givesUp { #expect(full.gaveUp(3) && full.pending == 1) }
        }
    }

    @Test("A request is not refused for a permit with which somebody only looks whether there is a kept job")
    func looking() {
        var machine = ConcurrencyMachine(limit: 3, maxPending: 0)
        let arrivals = [machine.arrived(1), machine.arrived(2, looks: true)].map(admitted)
        #expect(arrivals == ["admit", "admit"] && machine.take(9) == 1)
        let others = (3...5).map { admitted(machine.arrived($0)) }
        #expect(others == ["wait", "wait", "refuse"])
        machine.found()
        #expect(machine.left(isClaim: true).first == 3 && admitted(machine.arrived(6)) == "refuse")
        let rest = (0..<4).map { _ in machine.left().first }
        #expect(rest == [4, nil, nil, nil] && machine.inFlight == 0 && machine.pending == 0)
    }

    @Test("Nor for one that was given to who waited to look", arguments: [0, 1])
    func lookingAfterAWait(maxPending: Int) {
        var machine = ConcurrencyMachine(limit: 1, maxPending: maxPending)
        let arrivals = [machine.arrived(1), machine.arrived(2, looks: true)].map(admitted)
        #expect(arrivals == ["admit", "wait"] && machine.left().first == 2)
        let others = (3...5).map { admitted(machine.arrived($0)) }
        #expect(others == (0...2).map { $0 <= maxPending ? "wait" : "refuse" })
    }

    @Test("Two who look, as over a reload, are counted as two")
    func twoLook() {
        var machine = ConcurrencyMachine(limit: 1, maxPending: 0)
        _ = machine.arrived(1)
        let both = [machine.arrived(2, looks: true), machine.arrived(3, looks: true)].map(admitted)
        #expect(both == ["wait", "wait"] && machine.pending == 0)
        #expect(machine.left() == [2] && machine.left(isClaim: true) == [3])
        #expect(machine.left(isClaim: true) == [])
        let others = [machine.arrived(4, looks: true), machine.arrived(5), machine.arrived(6)].map(admitted)
        #expect(others == ["admit", "wait", "refuse"])
    }

    @Test("A look that finds nothing, or too little, gives its permits to those who wait", arguments: [0, 1])
    func looked(found: Int) async {
        var limit = ConcurrencyLimit()
        (limit.maxRequests, limit.maxPendingRequests) = (2, 0)
        let state = RouteState(limit)
        var turns: [RouteState.PermitTicket] = []
        var job: RouteState.Permit?
        do {
            guard var permits = await state.acquireForClaim(Instant(nanoseconds: 0)) else {
                Issue.record("there was no permit to look with")
                return
            }
            permits.add(atMost: 5)
            #expect(permits.count == 2)
            for _ in 0..<2 { if case .queued(let turn) = state.enter() { turns.append(turn) } }
            if found > 0 { job = permits.take() }
        }
        #expect(turns.count == 2 && state.load == (2, found))
        _ = job.take()
        var admitted = 0
        for turn in turns where turn.take() != nil { admitted += 1 }
        #expect(admitted == 2 && state.load == (0, 0))
    }

    @Test("Nobody overtakes those who wait")
    func noOvertaking() {
        var machine = ConcurrencyMachine(limit: 1, maxPending: 10)
        _ = machine.arrived(1)
        _ = machine.arrived(2)
        let next = machine.left().first
        let newcomer = admitted(machine.arrived(3))
        #expect(next == 2 && newcomer == "wait")
    }

    @Test("A reload that moves the limit lets waiters in, or lets places run out")
    func resized() {
        var machine = ConcurrencyMachine(limit: 1, maxPending: 10)
        for id in 1...5 { _ = machine.arrived(UInt64(id)) }
        let admitted = machine.resized(limit: 3, maxPending: 10)
        #expect(admitted == [2, 3] && machine.inFlight == 3 && machine.pending == 2)
        _ = machine.resized(limit: 1, maxPending: 10)
        let order = [machine.left().first, machine.left().first, machine.left().first]
        #expect(order == [nil, nil, 4] && machine.inFlight == 1 && machine.pending == 1)
    }

    @Test("However arrivals, departures and retreats mix, places and waiters add up", arguments: 1...20)
    func mixed(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var machine = ConcurrencyMachine(limit: 4, maxPending: 8)
        var inside = 0
        var waiting: Set<UInt64> = []
        for id in 1...2000 as ClosedRange<UInt64> {
            switch random.next() % 3 {
            case 0:
                switch machine.arrived(id) {
                case .admit: inside += 1
                case .wait: waiting.insert(id)
                case .refuse: #expect(waiting.count == 8)
                }
            case 1 where inside > 0:
                if let next = machine.left().first {
                    #expect(waiting.remove(next) != nil)
                } else {
                    inside -= 1
                }
            default:
                if let id = waiting.first {
                    let wasWaiting = machine.gaveUp(id)
                    #expect(wasWaiting && waiting.remove(id) != nil)
                }
            }
            #expect(machine.inFlight == inside && machine.pending == waiting.count)
            #expect(inside <= 4 && waiting.count <= 8)
        }
    }

    @Test("A cancelled waiter leaves its place in the queue to the others")
    func cancelledWaiter() async {
        var limit = ConcurrencyLimit()
        limit.maxRequests = 1
        let state = RouteState(limit)
        var holder: RouteState.Permit? = permit(state)
        guard case .queued(let first) = state.enter(), case .queued(let second) = state.enter() else {
            Issue.record("there was a permit for everybody")
            return
        }
        let waiting = Task { await first.wait() }
        waiting.cancel()
        await waiting.value
        let isFirstIn = first.take() != nil
        _ = holder.take()
        await second.wait()
        #expect(!isFirstIn && state.load == (1, 0))
        let isSecondIn = second.take() != nil
        #expect(isSecondIn && state.load == (0, 0))
    }

    @Test("A turn that nobody takes gives its permit to the next", arguments: [true, false])
    func forgottenTurn(isAdmitted: Bool) {
        var limit = ConcurrencyLimit()
        limit.maxRequests = 1
        let state = RouteState(limit)
        var holder: RouteState.Permit? = permit(state)
        do {
            guard case .queued = state.enter() else { return }
            if isAdmitted { _ = holder.take() }
        }
        _ = holder.take()
        #expect(state.load == (0, 0))
    }

    private func permit(_ state: RouteState) -> RouteState.Permit? {
        if case .permitted(let permit) = state.enter() { permit } else { nil }
    }
}

extension ConcurrencyMachine {
    /// Of one and the same caller.
    mutating func arrived(_ id: UInt64, looks: Bool = false) -> Arrival {
        arrived(id, looks ? .keptJobs : .unknown)
    }
}
