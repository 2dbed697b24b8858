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
        try await until {
            #expect(await two.answer(.ofFleet()) == .success(.accepted))
            return !told.values.isEmpty
        }
        let own = told.values.count
        try await until {
            #expect(await one.answer(.ofFleet()) == .success(.accepted))
            return told.values.count > own
        }
        await one.close()
        await two.close()
    }

    @Test(
        "Hints alone tell a node of as many jobs as wait, and in which lines, so that it claims each at once"
    )
    func counted() async throws {
        let nodes = try await Nodes()
        let told = Notes<Int>()
        var events = JobStoreEvents()
        events.ready = { told.add($0.values.map(\.jobs)) }
        let two = try await nodes.open("two", events: events) { $0.looksByItself = false }
        let one = try await nodes.open("one")
        #expect(await two.answer(.ofFleet()) == .success(.accepted))
        let own = told.values.count
        try await until {
            #expect(await one.answer(.ofFleet()) == .success(.accepted))
            return told.values.count > own
        }
        try await until {
            try await two.claim("hooks", limit: 1_000, upstream: "eu", at: .present).claims.isEmpty
        }
        var next = told.values.count
        let jobs = (0..<100).map { _ in NewJob.ofFleet() }
        for some in 0..<10 {
            let accepted = try await one.enqueue(Array(jobs[some * 10..<some * 10 + 10]), at: .present)
            #expect(accepted.allSatisfy { $0 == .accepted })
        }
        // As a dispatcher does, which asks for as many as it was told of.
        let end = SystemClock.monotonic() + 10_000_000_000
        var left = Set(jobs.map(\.id))
        while !left.isEmpty, SystemClock.monotonic() < end {
            let counts = told.values[next...].filter { $0 > 0 }
            next = told.values.count
            for count in counts {
                let batch = try await two.claim("hooks", limit: count, upstream: "eu", at: .present)
                left.subtract(batch.claims.map(\.token.id))
            }
            _ = try await two.facts()
        }
        #expect(left.isEmpty)
        await one.close()
        await two.close()
    }

    @Test("A job whose time comes is hinted at as well")
    func due() async throws {
        let nodes = try await Nodes()
        let told = Notes<Int>()
        var events = JobStoreEvents()
        events.ready = { told.add($0.values.map(\.jobs)) }
        let two = try await nodes.open("two", events: events) { $0.looksByItself = false }
        let one = try await nodes.open("one")
        #expect(await two.answer(.ofFleet()) == .success(.accepted))
        try await until {
            #expect(await one.answer(.ofFleet()) == .success(.accepted))
            return told.values.count >= 2
        }
        try await until {
            try await two.claim("hooks", limit: 64, upstream: "eu", at: .present).claims.isEmpty
        }
        let (end, before) = (SystemClock.monotonic() + 20_000_000_000, told.values.count)
        #expect(await one.answer(.ofFleet { $0.due = .after(.milliseconds(50)) }) == .success(.accepted))
        while told.values.count == before, SystemClock.monotonic() < end { _ = try await two.facts() }
        #expect(told.values.count > before)
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
        try await until { try await two.facts().nodes >= 0 && !told.values.isEmpty }
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
        try await until {
            #expect(await one.answer(.ofFleet()) == .success(.accepted))
            return told.values.count != before
        }
        let heard = told.values.count
        let began = SystemClock.monotonic()
        _ = await one.enqueueEach((0..<1_000).map { _ in .ofFleet() }, at: .present)
        let most = Int((SystemClock.monotonic() - began) / 10_000_000) + 2
        #expect(told.values.count - heard <= most)
        await one.close()
        await two.close()
    }
}
