import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPosix
import RelayTestSupport
import Testing

@Suite("Hints between nodes", .timeLimit(.minutes(2)))
struct HintTests {
    @Test("A node that is given a job wakes the others, who need not look for it")
    func heard() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        let told = Notes<String>()
        var events = JobStoreEvents()
        events.ready = { told.add(Array($0.keys)) }
        let two = try await nodes.open("two", events: events) { $0.looksByItself = false }
        #expect(await one.answer(.ofFleet()) == .success(.accepted))
        let claim = try await one.nextClaim()
        _ = try await one.settle([Settlement(claim.token, .succeeded)], at: .present)
        // Until the other one listens, and knows the route.
        while told.values.isEmpty {
            #expect(await two.answer(.ofFleet()) == .success(.accepted))
        }
        let own = told.values.count
        while told.values.count == own { #expect(await one.answer(.ofFleet()) == .success(.accepted)) }
        await one.close()
        await two.close()
    }

    @Test("A node that hears no hint finds the job all the same")
    func dropped() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.open("one")
        let told = Notes<String>()
        var events = JobStoreEvents()
        events.ready = { told.add(Array($0.keys)) }
        let two = try await nodes.open("two", events: events) { $0.hearsHints = false }
        let job = NewJob.ofFleet()
        #expect(await one.answer(job) == .success(.accepted))
        while told.values.isEmpty { _ = try await two.facts() }
        #expect(try await two.nextClaim().token.id == job.id)
        await one.close()
        await two.close()
    }

    @Test("Of a thousand jobs in one moment a route is hinted at no more often than each ten milliseconds")
    func seldom() async throws {
        let nodes = try await Nodes()
        let told = Notes<String>()
        var events = JobStoreEvents()
        events.ready = { told.add(Array($0.keys)) }
        let two = try await nodes.open("two", events: events) { $0.looksByItself = false }
        let one = try await nodes.open("one")
        #expect(await two.answer(.ofFleet()) == .success(.accepted))
        let before = told.values.count
        while told.values.count == before { #expect(await one.answer(.ofFleet()) == .success(.accepted)) }
        let heard = told.values.count
        let began = SystemClock.monotonic()
        _ = await one.enqueueEach((0..<1_000).map { _ in .ofFleet() }, at: .present)
        let most = Int((SystemClock.monotonic() - began) / 10_000_000) + 2
        #expect(told.values.count - heard <= most)
        await one.close()
        await two.close()
    }
}
