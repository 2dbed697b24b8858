import Testing

@testable import RelayServer

@Suite("Places of connections")
struct ConnectionPlacesTests {
    private typealias Place = ConnectionPlacesMachine.Place
    private typealias Refusal = ConnectionPlacesMachine.Refusal

    private func limits(total: Int, perUser: Int, reserved: Int) -> ConnectionLimits {
        var limits = ConnectionLimits()
        limits.total = total
        limits.perUser = perUser
        limits.reserved = reserved
        return limits
    }

    @Test("A user with its share is refused while another gets in; a place that was left is free again")
    func share() throws {
        var machine = ConnectionPlacesMachine(limits(total: 3, perUser: 2, reserved: 1))
        let first = try machine.arrived(user: 1, reserve: nil)
        _ = try machine.arrived(user: 1, reserve: nil)
        #expect(throws: Refusal.share(limit: 2)) { try machine.arrived(user: 1, reserve: nil) }
        #expect(try machine.arrived(user: 2, reserve: nil) == .shared(user: 2))
        #expect(throws: Refusal.full(limit: 3)) { try machine.arrived(user: nil, reserve: nil) }
        machine.left(first)
        #expect(try machine.arrived(user: nil, reserve: nil) == .shared(user: nil))
        #expect(machine.current == 3)
    }

    @Test("Each control listener has places that nobody else takes, and takes shared ones beyond them")
    func reserve() throws {
        var machine = ConnectionPlacesMachine(limits(total: 2, perUser: 2, reserved: 1))
        #expect(try machine.arrived(user: 0, reserve: "port") == .reserved(listener: "port"))
        #expect(try machine.arrived(user: 0, reserve: "port") == .shared(user: 0))
        #expect(try machine.arrived(user: 0, reserve: "port") == .shared(user: 0))
        #expect(throws: Refusal.full(limit: 2)) { try machine.arrived(user: 7, reserve: nil) }
        let control = try machine.arrived(user: 0, reserve: "control")
        #expect(control == .reserved(listener: "control"))
        #expect(throws: Refusal.full(limit: 2)) { try machine.arrived(user: 0, reserve: "control") }
        machine.left(control)
        #expect(try machine.arrived(user: 0, reserve: "control") == control)
    }

    @Test("Lower limits let nobody in until enough have left, higher ones at once")
    func configured() throws {
        var machine = ConnectionPlacesMachine(limits(total: 4, perUser: 4, reserved: 0))
        let places = try (0..<4).map { _ in try machine.arrived(user: 1, reserve: nil) }
        machine.configured(limits(total: 2, perUser: 2, reserved: 0))
        for place in places.dropFirst() {
            #expect(throws: Refusal.full(limit: 2)) { try machine.arrived(user: 1, reserve: nil) }
            if machine.current > 2 { machine.left(place) }
        }
        machine.left(places[0])
        #expect(try machine.arrived(user: 1, reserve: nil) == .shared(user: 1))
        machine.configured(limits(total: 9, perUser: 9, reserved: 0))
        #expect(try machine.arrived(user: 1, reserve: nil) == .shared(user: 1))
    }
}
