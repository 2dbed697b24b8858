import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore
@testable import RelayRoute

@Suite("When a request is late, and which of two sendings counts", .timeLimit(.minutes(1)))
struct HedgeMachineTests {
    private func times(_ milliseconds: some Sequence<Int>) -> HedgeTimes {
        var times = HedgeTimes()
        for time in milliseconds { times.took(.milliseconds(time)) }
        return times
    }

    @Test(
        "The time is that of the share of the last 200, of 20 at least",
        arguments: [
            (Array(1...19), 95.0, nil), (Array(1...20), 95, 19), (Array(1...200), 95, 190),
            (Array(1...200), 50, 100), (Array(1...200), 99.9, 200), (Array((1...200).reversed()), 95, 190),
            (Array(1...400), 95, 390), (Array(repeating: 7, count: 300), 95, 7),
        ] as [([Int], Double, Int?)]
    )
    func percentile(_ milliseconds: [Int], _ share: Double, _ wanted: Int?) {
        var times = times(milliseconds)
        let time = times.time(share)
        #expect(time == wanted.map { .milliseconds($0) })
    }

    @Test("A time that was found is good for a few answers more, and for no other share")
    func found() {
        var times = times(1...200)
        var found = [times.time(95)]
        for _ in 0..<7 { times.took(.seconds(1)) }
        found += [times.time(95), times.time(50)]
        for _ in 0..<200 { times.took(.seconds(1)) }
        found.append(times.time(50))
        #expect(found == [.milliseconds(190), .milliseconds(190), .milliseconds(107), .seconds(1)])
    }

    @Test("64 kinds of requests are known, and the one that was not asked for longest goes")
    func kinds() {
        var table = HedgeTable()
        func asked(_ number: Int) -> RequestClass {
            RequestClass(
                .get,
                target:
                    "\(Character(UnicodeScalar(UInt8(97 + number / 26))))\(Character(UnicodeScalar(UInt8(97 + number % 26))))",
                contentLength: 0,
                user: nil
            )
        }
        for _ in 0..<20 { table.took(.milliseconds(1), asked(0), at: 0) }
        for number in 1..<200 {
            table.took(.milliseconds(1), asked(number), at: 0)
            table.took(.milliseconds(1), asked(0), at: 0)
        }
        #expect(table.kinds == HedgeTable.most)
        let (known, elsewhere) = (table.time(95, asked(0), at: 0), table.time(95, asked(0), at: 1))
        #expect(known == .milliseconds(1))
        #expect(elsewhere == nil, "each upstream by itself")
    }

    /// All that may happen to a race, in any order.
    private enum Event: CaseIterable { case due, firstGood, firstBad, secondGood, secondBad }

    private static let bad: [HedgeRace.End] = [.failure, .doubt, .conflict, .cancelled]

    @Test("Never two ends, never a third sending, and the first success or a failure of the two counts")
    func property() {
        var random = SplitMix64(seed: 20_261_130)
        var seen = Set<String>()
        for _ in 0..<20_000 {
            var race = HedgeRace()
            var (first, second) = (true, false)
            var (sendings, ends, failed) = (1, 0, 0)
            while first || second {
                let event = Event.allCases[Int(random.next() % 5)]
                let action: HedgeRace.Action
                let bad = Self.bad[Int(random.next() % 4)]
                switch event {
                case .due:
                    if race.isDue() {
                        #expect(first && ends == 0)
                        sendings += 1
                        second = true
                        race.secondBegan()
                    }
                    continue
                case .firstGood, .firstBad:
                    guard first else { continue }
                    first = false
                    action = race.ended(.first, event == .firstGood ? .success : bad)
                case .secondGood, .secondBad:
                    guard second else { continue }
                    second = false
                    action = race.ended(.second, event == .secondGood ? .success : bad)
                }
                let isGood = event == .firstGood || event == .secondGood
                switch action {
                case .judge:
                    ends += 1
                    #expect(isGood || !first && !second)
                case .goOn:
                    failed += 1
                    #expect(!isGood && ends == 0 && (first || second))
                case .late: #expect(ends == 1)
                }
                seen.insert("\(event) \(action)")
            }
            #expect(ends == 1 && sendings <= 2 && race.judged != nil)
        }
        #expect(seen.count == 10, "each end as each action: \(seen.sorted())")
    }

    @Test(
        "Of two failures the last counts, but where the first sending's tells more",
        arguments: [
            (.doubt, .conflict, .first), (.failure, .conflict, .second), (.doubt, .failure, .second),
            (.cancelled, .cancelled, .first), (.doubt, .cancelled, .second), (.conflict, .conflict, .second),
        ] as [(HedgeRace.End, HedgeRace.End, HedgeRace.Sending)]
    )
    func failures(_ first: HedgeRace.End, _ second: HedgeRace.End, _ judged: HedgeRace.Sending) {
        for isFirstLast in [false, true] {
            var race = HedgeRace()
            let isDue = race.isDue()
            race.secondBegan()
            let actions =
                isFirstLast
                ? [race.ended(.second, second), race.ended(.first, first)]
                : [race.ended(.first, first), race.ended(.second, second)]
            #expect(isDue && actions == [.goOn, .judge])
            #expect(race.judged == (isFirstLast ? .first : judged))
        }
    }

    private func budget(_ percent: Int, isEnabled: Bool = true) -> RetryBudgetSettings {
        var settings = RetryBudgetSettings()
        (settings.percent, settings.isEnabled) = (percent, isEnabled)
        return settings
    }

    @Test(
        "Second sendings have half of the budget's share and no floor, whatever comes of them",
        arguments: [10, 30]
    )
    func share(_ percent: Int) {
        var machine = RetryBudgetMachine()
        let now = Instant(nanoseconds: 0)
        for _ in 0..<100 { machine.began(now) }
        let taken = (0..<200).count { _ in machine.takesHedge(budget(percent), now) }
        #expect(taken == percent / 2)
        // The other half is left to retries.
        var retries = 0
        while machine.hasCapacity(budget(percent), now) {
            machine.retryBegan()
            retries += 1
        }
        #expect(retries == percent / 2)
        let takesBack = {
            machine.notHedged(budget(percent), now)
            return machine.hasCapacity(budget(percent), now)
        }()
        #expect(takesBack, "one that was not sent after all has taken nothing")
        let later = now.advanced(by: .seconds(11))
        machine.began(later)
        for _ in 0..<retries { machine.retryEnded(succeeded: true, later) }
        let takesLater = machine.takesHedge(budget(percent), later)
        #expect(takesLater)
        let unbound = (0..<200).count { _ in machine.takesHedge(budget(percent, isEnabled: false), now) }
        #expect(unbound == 200)
    }
}
