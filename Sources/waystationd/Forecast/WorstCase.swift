import RelayBase
import RelayJSON
import RelayRoute

/// The worst that a route's machine comes to over many imagined series.
final class WorstCase {
    /// Of a request that somebody waits for, or of a kept job.
    struct Way {
        private(set) var attempts = 0
        /// The series with the most attempts.
        private(set) var most: [Imagined] = []
        private(set) var length = Duration.zero
        /// The series that takes longest.
        private(set) var slowest: [Imagined] = []
        /// Whether one of them would go on beyond what was looked at.
        private(set) var goesOn = false

        fileprivate mutating func take(_ course: Forecast.Course, of series: [Imagined]) {
            if course.attempts.count > attempts { (attempts, most) = (course.attempts.count, series) }
            if course.length > length { (length, slowest) = (course.length, series) }
            if course.job?.goesOn == true { goesOn = true }
        }
    }

    let route: Route
    private(set) var request = Way()
    private(set) var job = Way()
    let load: LoadTrial
    /// The longest time for which it is closed as planned, of the year to come; nil of a route without such times.
    let closure: Duration?

    /// Other failures that take the place of the one that ended a series, at most.
    private static let turns = 4

    init(_ plan: ForecastPlan, _ closed: ClosedTimes? = nil) {
        route = plan.route
        closure = closed?.longest(from: plan.wall / 1_000)
        load = LoadTrial(plan)
        request = worst(plan, isKept: false)
        job = worst(plan, isKept: true)
    }

    private func worst(_ plan: ForecastPlan, isKept: Bool) -> Way {
        var plan = plan
        // No rule repeats another request sooner than this one.
        (plan.method, plan.isKeyed, plan.isKept) = (.put, true, isKept)
        var way = Way()
        /// The attempts of the series, with the shortest waits.
        func attempts(_ series: [Imagined]) -> Int {
            plan.series = ImaginedSeries(series)
            guard let course = Forecast.course(plan, chance: 0) else { return 0 }
            way.take(course, of: series)
            if let slow = Forecast.course(plan, chance: .max) { way.take(slow, of: series) }
            return course.attempts.count
        }
        for imagined in failures { _ = attempts([imagined]) }
        // The failure that ended the longest of them becomes another one, which another rule may act on.
        var series = way.most
        for _ in 0..<Self.turns {
            let (count, last) = (way.attempts, series.last ?? .good)
            let kept = Array(
                (series + Array(repeating: last, count: max(0, count - series.count))).prefix(count - 1)
            )
            for imagined in failures where imagined != last { _ = attempts(kept + [imagined]) }
            guard way.attempts > count else { break }
            series = way.most
        }
        return way
    }

    /// The failures that its rules tell apart, each at once and as late as it may come.
    private var failures: [Imagined] {
        var kinds: [FailureKind] = [.connectionRefused, .httpResponseTimeout]
        var statuses: [Status] = [503]
        let matchers = route.policy.recovery.map(\.on) + route.policy.errorTypes.compactMap(\.on)
        for token in matchers.flatMap(\.tokens) {
            switch token {
            case .any, .exhausted: break
            case .status(let status): statuses.append(status)
            case .statusClass(let wanted): statuses.append(Status(rawValue: UInt16(wanted.rawValue) * 100))
            case .group(let group):
                if let kind = ImaginedSeries.kinds.last(where: group.contains) { kinds.append(kind) }
            case .kind(let kind): if ImaginedSeries.kinds.contains(kind) { kinds.append(kind) }
            }
        }
        let longestWait = route.policy.recovery.compactMap { rule -> Duration? in
            guard case .retry(let retry) = rule.action, retry.honorsRetryAfter else { return nil }
            return retry.maxRetryAfter
        }.max()
        var all = kinds.map { Imagined(word: $0.rawValue, end: .failure($0)) }
        for status in statuses where !route.policy.success.statuses.contains(status) {
            let word = String(status.rawValue)
            all.append(Imagined(word: word, end: .answer(status, fields: [], body: [])))
            all.append(
                Imagined(
                    word: word + ",in=longest",
                    end: .answer(status, fields: [], body: []),
                    delay: .longest
                )
            )
            guard let longestWait, status == 429 || status == 503 else { continue }
            let seconds = longestWait.saturatedNanoseconds / 1_000_000_000
            let field = Imagined.Field(name: "Retry-After", value: "\(seconds)")
            let end = Imagined.End.answer(status, fields: [field], body: [])
            all.append(Imagined(word: word + ",retry-after=\(DurationText.text(longestWait))", end: end))
        }
        return all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

extension WorstCase {
    func write(into json: inout JSONObjectWriter) {
        json.member("route", route.name)
        json.object("request") { request.write(into: &$0) }
        json.object("job") { json in
            job.write(into: &json)
            json.member("expires_after_ms", route.policy.delivery.expiresAfter.milliseconds)
        }
        if route.follow != nil { json.member("follows", true) }
        if let closure, closure > .zero { json.member("closed_up_to_ms", closure.milliseconds) }
        json.object("load") { load.write(into: &$0) }
    }
}

extension WorstCase.Way {
    fileprivate func write(into json: inout JSONObjectWriter) {
        json.member("attempts", attempts)
        json.array("attempts_series") { list in for word in Self.words(most) { list.element(word) } }
        json.member("longest_ms", length.milliseconds)
        json.array("longest_series") { list in for word in Self.words(slowest) { list.element(word) } }
        if goesOn { json.member("goes_on", true) }
    }

    /// As they are typed: `503x3`, and the last one for ever.
    private static func words(_ series: [Imagined]) -> [String] {
        var words: [(word: String, count: Int)] = []
        for imagined in series {
            if words.last?.word == imagined.word {
                words[words.count - 1].count += 1
            } else {
                words.append((imagined.word, 1))
            }
        }
        return words.enumerated().map { index, pair in
            if index == words.count - 1 { return Self.typed(pair.word, "x*") }
            return pair.count == 1 ? pair.word : Self.typed(pair.word, "x\(pair.count)")
        }
    }

    private static func typed(_ word: String, _ times: String) -> String {
        guard let comma = word.firstIndex(of: ",") else { return word + times }
        return word[..<comma] + times + word[comma...]
    }
}
