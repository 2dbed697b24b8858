import RelayBase
import RelayConfig
import RelayJSON
import RelayJobs
import RelayRoute

/// Trials of jobs on record with the rules of a configuration, a line each; `waystation rehearse` writes them.
///
/// A line with `points` has what a route's upstreams did; those that come behind it are about that. Any other is a
/// trial, whose answer is a line with its courses: with the shortest, the longest and spread waits, of which there are
/// more where they come to unlike lengths, and again with the later one of two failures where it makes a difference.
struct Rehearsal {
    private let configuration: Configuration
    private var records: [String: RecordedOutcomes] = [:]

    init(_ configuration: Configuration) { self.configuration = configuration }

    /// - Returns: the answer to a trial, nothing to other lines; nil where the line says nothing.
    mutating func take(_ line: [UInt8]) -> [UInt8]? {
        guard let json = try? JSONValue(parsing: line), case .string(let name)? = json["route"],
            let route = configuration.routes.first(where: { $0.name == name })
        else { return nil }
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
        // Where a failure may be about the request itself, nothing that others met counts.
        if case .array(let names)? = json["alone"] {
            for case .string(let name) in names { record.points[name] = nil }
        }
        plan.record = record
        return Self.answer(plan)
    }

    private func integer(_ json: JSONValue?) -> Int64? {
        if case .number(let number)? = json { number.int64 } else { nil }
    }

    /// The least and the most that chance gives, and numbers spread between from several beginnings.
    private static let chances: [UInt64?] = [0, .max] + [UInt64?](repeating: nil, count: 14)
    /// As many are tried where chance makes no difference.
    private static let fewest = 3

    private static func answer(_ plan: ForecastPlan) -> [UInt8] {
        var plan = plan
        var json = JSONObjectWriter()
        json.array("courses") { list in
            for takesLater in [false, true] {
                plan.record?.takesLater = takesLater
                var (isUnlike, lengths) = (false, Set<Duration>())
                for (index, chance) in chances.enumerated() where index < fewest || lengths.count > 1 {
                    // Each begins elsewhere in the series of spread numbers.
                    let seed = UInt64(index) &* 0xD1B5_4A32_D192_ED03
                    guard let course = Forecast.course(plan, chance: chance, seed: seed) else { continue }
                    lengths.insert(course.length)
                    list.object { course.write(into: &$0) }
                    if course.lookedUp.isUnlike { isUnlike = true }
                }
                guard isUnlike else { break }
            }
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }
}

extension Forecast.Course {
    fileprivate func write(into json: inout JSONObjectWriter) {
        json.member("attempts", attempts.count)
        json.member("length_ms", length.milliseconds)
        if let job {
            json.member("state", job.machine.state.name)
            if let end = job.machine.end { json.member("end", end.rawValue) }
        } else if let caller {
            json.member("outcome", caller.outcome.rawValue)
        }
        json.array("rules") { list in
            for attempt in attempts { if let rule = attempt.rule { list.element(rule) } }
        }
        json.array("held_back") { list in
            for attempt in attempts { for held in attempt.heldBack { list.element(held.rule) } }
        }
        if lookedUp.width > 0 { json.member("width_ms", lookedUp.width) }
        guard let gap = lookedUp.gap else { return }
        json.object("unknown") { json in
            json.member("why", gap.rawValue)
            json.member("upstream", lookedUp.upstream)
            json.member("at", lookedUp.at)
        }
    }
}
