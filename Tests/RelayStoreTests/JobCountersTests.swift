import Glibc
import RelayJobs
import Testing

@Suite("Counting jobs by route")
struct JobCountersTests {
    private func counters(_ routes: Int) -> JobCounters {
        var counters = JobCounters()
        for route in 0..<routes {
            for state in JobState.allCases where route % (Int(state.rawValue) + 2) == 0 {
                let group = JobCounters.Group(route: "route-\(route)", state: state)
                counters.add(group, count: route + 1, minute: 0, nowMinute: 3)
            }
        }
        return counters
    }

    /// Jobs of one route in the states that `isMeant` names, by a walk over those of all.
    private func walked(
        _ counters: JobCounters,
        _ route: String?,
        _ isMeant: (JobState) -> Bool
    ) -> Int {
        counters.counts.reduce(0) {
            (route == nil || $1.key.route == route) && isMeant($1.key.state) ? $0 + $1.value : $0
        }
    }

    @Test("A count is that of a walk over all groups")
    func same() {
        let counters = counters(60)
        for route in [nil, "", "route-0", "route-1", "route-12", "route-59", "route-60"] {
            #expect(counters.unfinished(route) == walked(counters, route) { !$0.isTerminal })
            for state in JobState.allCases {
                #expect(counters.count(state, of: route) == walked(counters, route) { $0 == state })
            }
        }
    }

    @Test("A count of one route costs no more where there are ten times as many")
    func cost() {
        /// The least processor time of five that a hundred counts take, in nanoseconds.
        func least(_ routes: Int, _ count: (JobCounters, String) -> Int) -> Int {
            let counters = counters(routes)
            return (0..<5).map { _ in
                let began = processorTime()
                for route in 0..<100 { _ = count(counters, "route-\(route)") }
                return processorTime() - began
            }.min() ?? 0
        }
        let (few, many) = (least(300) { $0.unfinished($1) }, least(3_000) { $0.unfinished($1) })
        #expect(many < 4 * few, "\(few) ns, \(many) ns")
        let walk = { (counters: JobCounters, route: String) in
            self.walked(counters, route) { !$0.isTerminal }
        }
        let (fewWalked, manyWalked) = (least(300, walk), least(3_000, walk))
        #expect(manyWalked > 4 * fewWalked, "a walk is seen: \(fewWalked) ns, \(manyWalked) ns")
    }

    private func processorTime() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
