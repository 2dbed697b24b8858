import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Events of other nodes", .timeLimit(.minutes(3)))
struct EventsTests {
    private static func event(_ number: Int) -> SharedEvent {
        var event = SharedEvent(.jobSucceeded, at: Int64(number), data: Array("{\"n\":\(number)}".utf8))
        (event.user, event.node, event.route) = (7, NodeName("one"), "hooks")
        event.job = JobID(milliseconds: 1, random: (9, UInt64(number)))
        return event
    }

    @Test("A node tells what somebody reads elsewhere, and each is told of once")
    func exchange() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        let two = try await nodes.open("two")
        #expect(one.wantedEvents.isEmpty)
        #expect(try await two.exchange([], reading: [.jobSucceeded, .jobDead]).isEmpty)
        while one.wantedEvents != [.jobSucceeded, .jobDead] { _ = try await one.facts() }
        #expect(two.wantedEvents.isEmpty)
        #expect(try await one.exchange((1...3).map(Self.event), reading: []).isEmpty)
        let told = try await two.exchange([], reading: [.jobSucceeded])
        #expect(told.map(\.at) == [1, 2, 3] && told.map(\.data) == (1...3).map { Self.event($0).data })
        #expect(told.allSatisfy { $0.kind == .jobSucceeded && $0.user == 7 && $0.route == "hooks" })
        #expect(told.allSatisfy { $0.teller == NodeName("one") && $0.node == NodeName("one") })
        #expect(told.map(\.job) == (1...3).map { Self.event($0).job })
        #expect(try await two.exchange([], reading: [.jobSucceeded]).isEmpty)
        // One that comes later has those that are there, and hears of none of its own.
        let three = try await nodes.open("three")
        #expect(try await three.exchange([Self.event(4)], reading: [.jobSucceeded]).map(\.at) == [1, 2, 3])
        #expect(try await two.exchange([], reading: [.jobSucceeded]).map(\.at) == [4])
        for node in [one, two, three] { await node.close() }
    }

    @Test("A reader that is too slow is told how many events it has missed")
    func lost() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        let two = try await nodes.open("two")
        _ = try await one.exchange([Self.event(1)], reading: [])
        #expect(try await two.exchange([], reading: [.jobSucceeded]).map(\.at) == [1])
        for batch in 0..<10 {
            _ = try await one.exchange((0..<1_000).map { Self.event(2 + batch * 1_000 + $0) }, reading: [])
        }
        var told: [SharedEvent] = []
        while true {
            let more = try await two.exchange([], reading: [.jobSucceeded])
            guard !more.isEmpty else { break }
            told += more
        }
        // Of 10,001 the last 8,192 stay.
        #expect(told.first?.kind == .gap && told.first?.data == Array("{\"lost\":1808}".utf8))
        #expect(told.dropFirst().map(\.at) == Array(1_810...10_001))
        for node in [one, two] { await node.close() }
    }

    @Test(
        "An event whose data is no object on one line is told of as lost, and those after it are told",
        arguments: ["", "{", "[1]", "{} {}", "{\n}", "{\"a\":\"\n\"}", "{}\0", "{\"a\":1}\ndata: {}"]
    )
    func damaged(data: String) async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        let two = try await nodes.open("two")
        #expect(try await two.exchange([], reading: [.jobSucceeded]).isEmpty)
        _ = try await one.exchange([1, 2].map(Self.event), reading: [])
        let literal = data.utf8.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        _ = try await nodes.sql("UPDATE SCHEMA.event SET data = '\\x\(literal)' WHERE n = 1 RETURNING n")
        let told = try await two.exchange([], reading: [.jobSucceeded])
        #expect(told.map(\.kind) == [.gap, .jobSucceeded])
        #expect(told.map(\.data) == [Array("{\"lost\":1}".utf8), Self.event(2).data])
        for node in [one, two] { await node.close() }
    }
}
