import Testing

@testable import RelayServer

@Suite("Places of connections")
struct ConnectionPlacesTests {
    private typealias Place = ConnectionLimitMachine.Slot
    private typealias Refusal = ConnectionLimitMachine.Refusal

    private func limits(total: Int, perUser: Int, reserved: Int) -> ConnectionLimits {
        var limits = ConnectionLimits()
        limits.total = total
        limits.perUser = perUser
        limits.reserved = reserved
        return limits
    }

    @Test("A user with its share is refused while another gets in; a place that was left is free again")
    func share() throws {
        var machine = ConnectionLimitMachine(limits(total: 3, perUser: 2, reserved: 1))
        let first = try machine.arrived(user: 1, by: .shared)
        _ = try machine.arrived(user: 1, by: .shared)
        #expect(throws: Refusal.share(limit: 2)) { try machine.arrived(user: 1, by: .shared) }
        #expect(try machine.arrived(user: 2, by: .shared) == .shared(user: 2))
        #expect(throws: Refusal.full(limit: 3)) { try machine.arrived(user: nil, by: .shared) }
        machine.left(first)
        #expect(try machine.arrived(user: nil, by: .shared) == .shared(user: nil))
        #expect(machine.current == 3)
    }

    @Test("Each control listener has places that nobody else takes, and takes shared ones beyond them")
    func reserve() throws {
        var machine = ConnectionLimitMachine(limits(total: 2, perUser: 2, reserved: 1))
        #expect(try machine.arrived(user: 0, by: .operators(listener: "port")) == .reserved(listener: "port"))
        #expect(try machine.arrived(user: 0, by: .operators(listener: "port")) == .shared(user: 0))
        #expect(try machine.arrived(user: 0, by: .operators(listener: "port")) == .shared(user: 0))
        #expect(throws: Refusal.full(limit: 2)) { try machine.arrived(user: 7, by: .shared) }
        let control = try machine.arrived(user: 0, by: .operators(listener: "control"))
        #expect(control == .reserved(listener: "control"))
        #expect(throws: Refusal.full(limit: 2)) {
            try machine.arrived(user: 0, by: .operators(listener: "control"))
        }
        machine.left(control)
        #expect(try machine.arrived(user: 0, by: .operators(listener: "control")) == control)
    }

    @Test("Lower limits let nobody in until enough have left, higher ones at once")
    func configured() throws {
        var machine = ConnectionLimitMachine(limits(total: 4, perUser: 4, reserved: 0))
        let places = try (0..<4).map { _ in try machine.arrived(user: 1, by: .shared) }
        machine.configured(limits(total: 2, perUser: 2, reserved: 0))
        for place in places.dropFirst() {
            #expect(throws: Refusal.full(limit: 2)) { try machine.arrived(user: 1, by: .shared) }
            if machine.current > 2 { machine.left(place) }
        }
        machine.left(places[0])
        #expect(try machine.arrived(user: 1, by: .shared) == .shared(user: 1))
        machine.configured(limits(total: 9, perUser: 9, reserved: 0))
        #expect(try machine.arrived(user: 1, by: .shared) == .shared(user: 1))
    }

    @Test(
        "A listener for metrics has its own places and takes no other, so that nobody keeps callers out by it"
    )
    func metrics() throws {
        var machine = ConnectionLimitMachine(limits(total: 2, perUser: 2, reserved: 1))
        let door = ConnectionLimitMachine.Door.metrics(listener: "prometheus")
        #expect(try machine.arrived(user: nil, by: door) == .reserved(listener: "prometheus"))
        #expect(throws: Refusal.listener(limit: 1)) { try machine.arrived(user: nil, by: door) }
        _ = try (0..<2).map { _ in try machine.arrived(user: nil, by: .shared) }
        machine.left(.reserved(listener: "prometheus"))
        #expect(try machine.arrived(user: nil, by: door) == .reserved(listener: "prometheus"))
    }

    /// How many connections each of so many users gets that want all they can have, one user after the other.
    private func taken(_ limits: ConnectionLimits, users: Int) -> [Int] {
        var machine = ConnectionLimitMachine(limits)
        return (0..<UInt32(users)).map { user in
            (0..<1_000).count { _ in (try? machine.arrived(user: user, by: .shared)) != nil }
        }
    }

    @Test(
        "Without a share of its own each user has half of what the others leave, and of the last places one"
    )
    func rest() {
        #expect(taken(ConnectionLimits(), users: 6) == [256, 128, 64, 32, 1, 1])
        #expect(taken(ConnectionLimits(), users: 60).reduce(0, +) == 512, "no place stays empty")
        var small = ConnectionLimits()
        small.total = 6
        #expect(taken(small, users: 4) == [3, 2, 1, 0])
    }

    @Test("A configured share holds but for the last places, and where users are not told apart none does")
    func configuredShare() {
        var limits = limits(total: 64, perUser: 64, reserved: 0)
        #expect(taken(limits, users: 6) == [60, 1, 1, 1, 1, 0])
        limits.tellsUsersApart = false
        #expect(taken(limits, users: 2) == [64, 0])
    }

    @Test("A user is crowded that has more than all but an eighth of what it may have")
    func crowd() throws {
        var machine = ConnectionLimitMachine(ConnectionLimits())
        for count in 1...256 {
            _ = try machine.arrived(user: 1, by: .shared)
            #expect(machine.crowd(of: 1) == (count > 224 ? count : 0))
        }
        #expect(throws: Refusal.remainder(limit: 256)) { try machine.arrived(user: 1, by: .shared) }
    }
}
