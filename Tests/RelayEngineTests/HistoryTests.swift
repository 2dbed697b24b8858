import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayEngine

@Suite("The last hour of a route")
struct HistoryTests {
    private var machine = HistoryMachine(began: Instant(nanoseconds: 0))

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

    /// The requests of each minute.
    private func requests(_ now: HistoryMachine.Totals, of route: String = "r") -> [UInt32?] {
        machine.columns(of: route, now).map { $0?.requests }
    }

    private mutating func look(_ totals: HistoryMachine.Totals, at seconds: Int64) {
        machine.looked({ ["r": totals] }, Instant(nanoseconds: seconds * 1_000_000_000))
    }

    @Test("Has a column for each minute, and one for the minute that runs")
    mutating func minutes() {
        look(totals(2), at: 0)
        look(totals(3), at: 30)
        look(totals(5, failures: 1), at: 61)
        #expect(requests(totals(8)) == [5, 3])
        #expect(machine.columns(of: "r", totals(8, failures: 1)).map { $0?.failures } == [1, 0])
        #expect(machine.count == 2)
        #expect(machine.age(Instant(nanoseconds: 90_000_000_000)) == .seconds(90))
    }

    @Test("Is no longer than an hour")
    mutating func bound() {
        for minute in 0...200 { look(totals(UInt64(minute)), at: Int64(minute) * 60) }
        #expect(requests(totals(200)) == Array(repeating: 1, count: 59) + [0] && machine.count == 60)
    }

    @Test("Tells nothing of minutes that nobody looked at, nor of those before its start")
    mutating func gap() {
        look(totals(0), at: 0)
        look(totals(7), at: 190)
        #expect(requests(totals(7)) == [7, nil, nil, 0])
        look(totals(8), at: 240)
        #expect(requests(totals(8)) == [7, nil, nil, 1, 0])
        look(totals(8), at: 100_000)
        #expect(requests(totals(9)) == Array(repeating: nil, count: 59) + [1])
        #expect(HistoryMachine.causes(of: machine.columns(of: "r", totals(9))).isEmpty)
    }

    @Test("Tells nothing of a route from when the configuration did not have it, and keeps what others have")
    mutating func routes() {
        look(totals(1), at: 0)
        let (both, one) = (["r": totals(1), "new": totals(5)], ["new": totals(6)])
        machine.looked({ both }, Instant(nanoseconds: 60_000_000_000))
        machine.looked({ one }, Instant(nanoseconds: 120_000_000_000))
        #expect(requests(totals(6), of: "new") == [5, 1, 0])
        machine.looked({ both }, Instant(nanoseconds: 180_000_000_000))
        #expect(requests(totals(1)) == [nil, nil, 1, 0])
    }

    @Test("A minute without traffic among others is one of no requests")
    mutating func idle() {
        for (minute, count) in ([0, 0, 4, 4, 9, 9] as [UInt64]).enumerated() {
            look(totals(count), at: Int64(minute) * 60)
        }
        #expect(requests(totals(9)) == [0, 4, 0, 5, 0, 0])
    }

    @Test("Durations are told where there were some")
    mutating func durations() {
        look(totals(0), at: 0)
        look(totals(100, within: 8), at: 60)
        let columns = machine.columns(of: "r", totals(100, within: 8))
        #expect(columns[0]?.median == 7.5 && columns[1]?.median == nil && columns[0]?.attemptMedian == nil)
    }

    @Test("Figures that begin anew are told from their begin, and none is told below nothing")
    mutating func anew() {
        var before = totals(900, failures: 40, within: 8)
        before.meter = ObjectIdentifier(Self.self)
        look(before, at: 0)
        var after = totals(3, failures: 2, within: 80)
        after.meter = ObjectIdentifier(HistoryMachine.self)
        let running = machine.columns(of: "r", after)
        #expect(running.map { $0?.requests } == [3] && running.map { $0?.failures } == [2])
        #expect(running[0]?.p99 ?? 0 > 50)
        look(after, at: 60)
        #expect(requests(after) == [3, 0])
        // The same meter never counts less; if it did, nothing would be told.
        var less = totals(1)
        less.meter = after.meter
        #expect(requests(less).last == 0 && machine.columns(of: "r", less).last??.p99 == nil)
    }

    @Test("Tells the most requests that were with the upstream and that waited, of each minute anew")
    mutating func peaks() {
        var limit = ConcurrencyLimit()
        (limit.maxRequests, limit.maxPendingRequests) = (2, 5)
        let state = RouteState(limit)
        func enter(_ count: Int) -> [RouteState.PermitTicket] {
            (0..<count).compactMap { _ in if case .queued(let ticket) = state.enter() { ticket } else { nil }
            }
        }
        // A permit is given back at once where nobody keeps it.
        _ = enter(3)
        #expect(state.peaks(endsMinute: false) == (1, 0) && state.enterPlainly() && state.enterPlainly())
        let waiting = enter(3)
        #expect(state.peaks(endsMinute: true) == (2, 3) && state.peaks(endsMinute: false) == (2, 3))
        for ticket in waiting { _ = ticket.take() }
        state.releasePlainly()
        #expect(state.peaks(endsMinute: true) == (2, 3) && state.peaks(endsMinute: true) == (1, 0))
        var totals = totals(0)
        (totals.queued, totals.inFlight) = (1_000_000, 70_000)
        let column = HistoryMachine.Column(totals, totals)
        #expect(column.queued == 1_000_000 && column.inFlight == 65_535 && !column.isIdle)
    }

    private static let codes = [408, 500, 502, 503, 504, 529].map { status in
        FailureCode(Failure(.httpStatus, sent: .answered, "it failed", status: Status(rawValue: status)))
    }

    @Test(
        "The three causes with most failures of a minute are told, and all together are what failed",
        arguments: 1...20
    )
    mutating func causes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var now = HistoryMachine.Totals()
        look(now, at: 0)
        var minutes: [[FailureCode: UInt32]] = []
        for minute in 1...70 {
            now.causes = [:]
            for code in Self.codes.shuffled(using: &random).prefix(Int.random(in: 0...6, using: &random)) {
                now.causes[code] = UInt32.random(in: 1...1_000, using: &random)
            }
            if Bool.random(using: &random) { now.causes[.other] = 5 }
            let failed = now.causes.values.reduce(0, +)
            now.failedAttempts += UInt64(failed)
            now.attempts += UInt64(failed)
            minutes.append(now.causes)
            if minute < 70 { look(now, at: Int64(minute) * 60) }
        }
        let columns = machine.columns(of: "r", now)
        for (column, causes) in zip(columns, minutes.suffix(60)) {
            let told = column?.causes ?? [:]
            #expect(told.values.reduce(0, +) == column?.failedAttempts)
            #expect(told.values.reduce(0, +) == causes.values.reduce(0, +))
            let named = causes.filter { $0.key != .other }.values.sorted(by: >).prefix(3)
            #expect(told.filter { $0.key != .other }.values.sorted(by: >) == Array(named))
            #expect(told.allSatisfy { $0.key == .other || causes[$0.key] == $0.value })
        }
        let hour = HistoryMachine.causes(of: columns)
        let failed = columns.reduce(0 as UInt64) { $0 + UInt64($1?.failedAttempts ?? 0) }
        #expect(hour.reduce(0 as UInt64) { $0 + $1.count } == failed)
        #expect(hour.dropLast().map(\.count) == hour.dropLast().map(\.count).sorted(by: >))
        #expect(hour.last?.code == .other && !hour.dropLast().contains { $0.code == .other })
    }

    @Test("An hour of a busy route costs no more than four KiB, and one of an idle route no columns")
    mutating func memory() {
        var busy = HistoryMachine.Totals()
        func look(_ minutes: Range<Int64>, _ machine: inout HistoryMachine) {
            for minute in minutes {
                busy.requests += 1
                let totals = ["busy": busy, "idle": HistoryMachine.Totals()]
                machine.looked({ totals }, Instant(nanoseconds: minute * 60_000_000_000))
            }
        }
        look(0..<100, &machine)
        var marks = RouteMarks()
        for second in 0..<200 {
            let act = OperatorAct(by: 7, route: "busy", "did it", upstream: "u\(second % 4)", state: "open")
            marks.heard(.notice(.breakerOrdered, nil, act), .breakerOrdered, at: Int64(second))
        }
        let (busyTrack, idleTrack) = (machine.tracks["busy"], machine.tracks["idle"])
        let cost = (busyTrack?.bytes ?? 0) + marks.bytes
        #expect(busyTrack?.past.count == 59 && marks.marks.count == 24 && cost <= 4_096, "\(cost) bytes")
        // 3,000 of them cost no more than 3 MiB, though their table may be three eighths full.
        let rest = idleTrack?.bytes ?? 0
        #expect(idleTrack?.past.isEmpty == true && rest <= 560, "\(rest) bytes")
    }
}

/// The bytes of an array, which has a head of 32.
private func size<Element>(of array: [Element]) -> Int {
    array.capacity == 0 ? 0 : 32 + array.capacity * MemoryLayout<Element>.stride
}

// With the name in the table.
extension HistoryMachine.Track {
    fileprivate var bytes: Int {
        let arrays = size(of: past) + size(of: before.answers.buckets) + size(of: before.tries.buckets)
        return MemoryLayout<String>.stride + MemoryLayout<Self>.stride + arrays
    }
}

extension RouteMarks {
    fileprivate var bytes: Int {
        MemoryLayout<String>.stride + MemoryLayout<Self>.stride + size(of: marks) + size(of: upstreams)
    }
}
