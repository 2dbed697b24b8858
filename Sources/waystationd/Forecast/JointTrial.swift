import RelayBase
import RelayCore

/// All jobs on record of a route together through one machine, so that each meets what the others do to circuit breakers,
/// budgets, windows and rates.
///
/// It goes so in several courses. Where an attempt meets what no record tells, or one of two, it fails in a third of them,
/// succeeds in a third, and chance decides in the rest.
struct JointTrial {
    /// A job that goes along.
    struct Member {
        var plan: ForecastPlan
        /// When it was accepted, in milliseconds since 1970 UTC, where its first attempt came later: something held it back, or it
        /// had a date.
        var accepted: Int64?
        /// Whether anybody asks for its end.
        let isAsked: Bool
    }

    /// The courses of the jobs that were asked for, in their order.
    private(set) var found: [CourseSet]
    /// How many courses there were.
    private(set) var courses = 0

    /// Courses where the bound is not met, and where it is.
    static let most = 24
    static let least = 6
    /// Runs of kept jobs in all courses, beyond which no further one begins, and in one.
    private static let mostRuns = 3_000_000
    private static let mostOfCourse = mostRuns / least

    /// Nil where the jobs are too many to go together.
    init?(_ members: [Member], most: Int = most) {
        found = members.filter(\.isAsked).map { _ in CourseSet() }
        var runs = 0
        while courses < most, courses < Self.least || runs < Self.mostRuns {
            let ended = Self.run(members, number: courses)
            guard !ended.contains(where: { $0.1?.job?.goesOn == true }) else { return nil }
            var asked = 0
            for (member, (plan, course)) in zip(members, ended) {
                runs += course?.runs ?? 0
                guard member.isAsked else { continue }
                found[asked].add(course, later: plan.wall - member.plan.wall)
                asked += 1
            }
            courses += 1
        }
    }

    private static func run(_ members: [Member], number: Int) -> [(ForecastPlan, Forecast.Course?)] {
        let plans = members.enumerated().map { index, member in
            var plan = member.plan
            (plan.number, plan.isAmongOthers) = (UInt64(index) + 1, true)
            plan.record?.takesLater = number % 3 == 1
            plan.drawsDoubts = number % 3 == 2
            // Each in every second course of the three kinds.
            if number / 3 % 2 == 0, let accepted = member.accepted { plan.wall = accepted }
            return plan
        }
        let inOrder = plans.indices.sorted { (plans[$0].wall, $0) < (plans[$1].wall, $1) }
        guard let first = inOrder.first else { return [] }
        let clock = ImaginedWorld(plans[first], chance: nil, work: mostOfCourse * ImaginedJob.workOfRun)
        let worlds = plans.map { plan in
            let seed = (plan.number &* 0xD1B5_4A32_D192_ED03) ^ (UInt64(number) &* 0xA24B_AED4_963E_E407)
            return ImaginedWorld(plan, chance: nil, seed: seed, beside: clock)
        }
        let memory = RouteMemory()
        clock.time.run {
            var asked = members.indices.filter { members[$0].isAsked }
            for index in inOrder {
                let (plan, world) = (plans[index], worlds[index])
                try? await clock.time.sleep(until: clock.time.instant(ofWall: plan.wall))
                // Those that come once all that are asked for have ended change nothing.
                while let last = asked.last, worlds[last].course != nil { asked.removeLast() }
                if asked.isEmpty { break }
                Task(executorPreference: clock.time) { await Forecast.run(plan, world, memory) }
            }
        }
        return zip(plans, worlds).map { ($0, $1.course) }
    }
}
