import RelayJobs
import Testing

@Suite("The order in which users' kept jobs are claimed")
struct ClaimTurnsTests {
    /// The order of claims of parties that have jobs without end, each of its urgencies.
    private func order(_ waiting: [Int64: UInt8], _ count: Int) -> [String] {
        var turns = ClaimTurns()
        var order: [String] = []
        let parties = waiting.keys.sorted()
        for _ in 0..<count {
            let party = parties.first { $0 > turns.last } ?? parties[0]
            let due = waiting[party] ?? 0
            let urgency = turns.urgency(party, due)
            turns.took(urgency, party, due)
            order.append("\(party):\(urgency)")
        }
        return order
    }

    @Test("Users come one after the other, whatever urgency each claims")
    func users() {
        #expect(order([2: 0b1, 5: 0b1000_0000, 9: 0b1000], 5) == ["2:0", "5:7", "9:3", "2:0", "5:7"])
    }

    @Test("Of urgencies 0 and 3 the lower one has one turn in nine, and the highest of all in 145 has one")
    func urgencies() {
        #expect(order([2: 0b1001], 18).filter { $0 == "2:3" }.count == 2)
        #expect(order([2: 0b1000_1001], 145).filter { $0 == "2:7" }.count == 1)
    }

    @Test("An urgency that comes and goes has no more turns than one that stays")
    func comesAndGoes() {
        var turns = ClaimTurns()
        var urgent = 0
        for index in 0..<90 {
            let due: UInt8 = index % 2 == 0 ? 0b1010 : 0b1000
            let urgency = turns.urgency(1, due)
            turns.took(urgency, 1, due)
            if urgency == 1 { urgent += 1 }
        }
        #expect(urgent <= 45)
    }

    @Test(
        "However many users have several urgencies, each of them has its turns",
        arguments: [4, 5, 13, 20] as [Int64],
        [0b11, 0b1001, 0b1000_0101, 0b1010_0000] as [UInt8]
    )
    func bound(parties: Int64, due: UInt8) {
        var turns = ClaimTurns(maxShares: 4)
        var claimed: [Int64: UInt8] = [:]
        for _ in 0..<300 {
            for party in 0..<parties {
                let urgency = turns.urgency(party, due)
                turns.took(urgency, party, due)
                claimed[party, default: 0] |= 1 << urgency
            }
        }
        #expect(claimed.values.allSatisfy { $0 == due })
    }

    @Test("Users that are gone make room for the shares of others")
    func gone() {
        var turns = ClaimTurns(maxShares: 4)
        for party in 0..<Int64(8) { turns.took(turns.urgency(party, 0b11), party, 0b11) }
        var order: [Int] = []
        for _ in 0..<11 {
            order.append(turns.urgency(10, 0b1001))
            turns.took(order.last ?? 0, 10, 0b1001)
        }
        // Two rounds pass before the others count as gone.
        #expect(order.dropFirst(2).count { $0 == 3 } == 1)
    }

    @Test("A user's number is its place, and callers of ports have one place together")
    func places() {
        #expect(ClaimTurns.party(of: nil) == 1)
        #expect(ClaimTurns.party(of: 0) == 2 && ClaimTurns.party(of: .max) == 1 << 32 + 1)
    }
}
