import RelayBase
import RelayEngine
import Testing

@Suite("The last hour of a route")
struct HistoryTests {
    private var machine = HistoryMachine()

    private func totals(
        _ requests: UInt64,
        failures: UInt64 = 0,
        within milliseconds: UInt64? = nil
    ) -> HistoryMachine.Totals {
        var totals = HistoryMachine.Totals()
        totals.requests = requests
        totals.failures = failures
        if let milliseconds {
            totals.answers.buckets[DurationBuckets.latency.index(of: milliseconds * 1_000)] = requests
        }
        return totals
    }

    private mutating func look(_ totals: HistoryMachine.Totals, at seconds: Int64) {
        machine.looked({ ["r": totals] }, Instant(nanoseconds: seconds * 1_000_000_000))
    }

    @Test("Has a column for each minute, and one for the minute that runs")
    mutating func minutes() {
        look(totals(2), at: 0)
        look(totals(3), at: 30)
        look(totals(5, failures: 1), at: 61)
        #expect(machine.columns(of: "r", totals(8, failures: 1)).map(\.requests) == [5, 3])
        #expect(machine.columns(of: "r", totals(8, failures: 1)).map(\.failures) == [1, 0])
        #expect(machine.count == 2)
        #expect(machine.age(Instant(nanoseconds: 90_000_000_000)) == .seconds(90))
    }

    @Test("Is no longer than an hour")
    mutating func bound() {
        for minute in 0...200 { look(totals(UInt64(minute)), at: Int64(minute) * 60) }
        let columns = machine.columns(of: "r", totals(200))
        #expect(columns.count == 60 && machine.count == 60)
        #expect(columns.dropLast().allSatisfy { $0.requests == 1 } && columns.last?.requests == 0)
    }

    @Test("Has empty minutes where nobody looked")
    mutating func gap() {
        look(totals(0), at: 0)
        look(totals(7), at: 190)
        #expect(machine.columns(of: "r", totals(7)).map(\.requests) == [7, 0, 0, 0])
        look(totals(8), at: 100_000)
        #expect(machine.columns(of: "r", totals(8)).count == 60)
    }

    @Test("A route that came later has as many columns, and one that has gone has none of its own")
    mutating func routes() {
        look(totals(1), at: 0)
        let (both, one) = (["r": totals(1), "new": totals(5)], ["new": totals(6)])
        machine.looked({ both }, Instant(nanoseconds: 60_000_000_000))
        machine.looked({ one }, Instant(nanoseconds: 120_000_000_000))
        #expect(machine.columns(of: "new", totals(6)).map(\.requests) == [5, 1, 0])
        #expect(machine.columns(of: "r", totals(0)).map(\.requests) == [0, 0, 0])
    }

    @Test("Durations are told where there were some")
    mutating func durations() {
        look(totals(0), at: 0)
        look(totals(100, within: 8), at: 60)
        let columns = machine.columns(of: "r", totals(100, within: 8))
        #expect(columns[0].median == 7.5 && columns[1].median == nil && columns[0].attemptMedian == nil)
    }

    @Test("Figures that begin anew are told from their begin, and none is told below nothing")
    mutating func anew() {
        var before = totals(900, failures: 40, within: 8)
        before.meter = ObjectIdentifier(Self.self)
        look(before, at: 0)
        var after = totals(3, failures: 2, within: 80)
        after.meter = ObjectIdentifier(HistoryMachine.self)
        let running = machine.columns(of: "r", after)
        #expect(running.map(\.requests) == [3] && running.map(\.failures) == [2])
        #expect(running[0].p99 ?? 0 > 50)
        look(after, at: 60)
        #expect(machine.columns(of: "r", after).map(\.requests) == [3, 0])
        // The same meter never counts less; if it did, nothing would be told.
        var less = totals(1)
        less.meter = after.meter
        #expect(
            machine.columns(of: "r", less).last?.requests == 0
                && machine.columns(of: "r", less).last?.p99 == nil
        )
    }
}
