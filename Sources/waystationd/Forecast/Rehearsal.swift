import RelayBase
import RelayConfig
import RelayJSON
import RelayRoute

/// Trials of jobs on record with the rules of a configuration, a line each; `waystation rehearse` writes them.
///
/// A line with `points` has what a route's upstreams did; those that come behind it are about that. Any other is a
/// trial, whose answer is a line with its courses: with the shortest, the longest and spread waits, or with many spread ones
/// where those come to unlike lengths, and again with the other one of two that are unlike around a moment. Trials that say
/// whether they are `asked` go together, once a line says so, and then have an answer each where they are.
struct Rehearsal {
    private let configuration: Configuration
    private var records: [String: RecordedOutcomes] = [:]
    /// Jobs of one route that go together.
    private var members: [JointTrial.Member] = []

    /// Courses of jobs that go together, at most.
    private let most: Int

    init(_ configuration: Configuration, courses: Int = JointTrial.most) {
        (self.configuration, most) = (configuration, courses)
    }

    /// - Returns: the answers to trials, nothing to other lines; nil where the line says nothing.
    mutating func take(_ line: [UInt8]) -> [UInt8]? {
        guard let json = try? JSONValue(parsing: line), case .string(let name)? = json["route"],
            let route = configuration.routes.first(where: { $0.name == name })
        else { return nil }
        if json["together"] == .bool(true) {
            defer { members = [] }
            guard let trial = JointTrial(members, most: most) else {
                return members.filter(\.isAsked).flatMap {
                    Self.answer($0.plan, accepted: $0.accepted, isOneOfMany: true)
                }
            }
            return trial.found.flatMap { $0.line(samples: trial.courses) }
        }
        if let points = json["points"] {
            records[name] = RecordedOutcomes(points)
            return records[name] == nil ? nil : []
        }
        guard case .number(let begins)? = json["begins"], let begins = begins.int64,
            case .string(let method)? = json["method"]
        else { return nil }
        var plan = ForecastPlan(
            route,
            ImaginedSeries([.good]),
            of: configuration,
            wall: begins,
            keepsWindows: true
        )
        (plan.isKept, plan.method) = (json["durable"] == .bool(true), Method(rawValue: method))
        plan.isKeyed = json["keyed"] == .bool(true)
        plan.accepted = integer(json["accepted"])
        plan.expires = integer(json["expires"])
        plan.maxAttempts = integer(json["max_attempts"]).map { Int(clamping: $0) }
        var record = records[name] ?? RecordedOutcomes()
        if let own = json["own"].flatMap({ RecordedOutcomes($0) }) { record.own = own.points }
        // Where a failure may be about the request itself, nothing that others met counts; a refusal lasts.
        for (member, lasts) in [("alone", false), ("refused", true)] {
            guard case .array(let names)? = json[member] else { continue }
            for case .string(let name) in names { record.alone[name] = lasts }
        }
        plan.record = record
        let accepted = json["held_back"] == .bool(true) ? plan.accepted : nil
        guard case .bool(let isAsked)? = json["asked"] else { return Self.answer(plan, accepted: accepted) }
        if case .string(let path)? = json["path"] { plan.target = path }
        members.append(JointTrial.Member(plan: plan, accepted: accepted, isAsked: isAsked))
        return []
    }

    private func integer(_ json: JSONValue?) -> Int64? {
        if case .number(let number)? = json { number.int64 } else { nil }
    }

    /// The least and the most that chance gives, by which it is told whether it makes a difference.
    private static let extremes: [UInt64] = [0, .max]
    /// Numbers spread between from several beginnings: as many where it makes a difference, and one where it makes none.
    private static let samples = 48

    /// `isOneOfMany` says that others are too many to go beside it.
    private static func answer(_ plan: ForecastPlan, accepted: Int64?, isOneOfMany: Bool = false) -> [UInt8] {
        var found = CourseSet()
        var samples = 0
        for begins in [plan.wall] + (accepted.map { [$0] } ?? []) {
            for takesLater in [false, true] {
                var plan = plan
                let later = begins - plan.wall
                plan.wall = begins
                plan.record?.takesLater = takesLater
                var courses = extremes.compactMap { Forecast.course(plan, chance: $0) }
                for index in 0..<Self.samples where index == 0 || Set(courses.map(\.length)).count > 1 {
                    // Each begins elsewhere in the series of spread numbers.
                    let seed = UInt64(index + extremes.count) &* 0xD1B5_4A32_D192_ED03
                    if let course = Forecast.course(plan, chance: nil, seed: seed) { courses.append(course) }
                }
                if courses.count > extremes.count + 1 {
                    // Chance comes to its extremes once in ages, and a rule may be spent there at once.
                    courses.removeFirst(extremes.count)
                    samples = Self.samples
                }
                for course in courses { found.add(course, later: later) }
                guard courses.contains(where: \.lookedUp.isUnlike) else { break }
            }
        }
        return found.line(samples: samples, isOneOfMany: isOneOfMany)
    }
}
