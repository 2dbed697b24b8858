import RelayJSON

@testable import waystation

/// A rehearsal that guesses: no moment is unknown to it, since it takes the nearest attempt on record for each, and the first
/// course for all that could be.
enum NightGuess {
    /// Milliseconds between the moments that get one.
    private static let step: Int64 = 500
    /// How far it guesses beyond the night, in milliseconds.
    private static let beyond: Int64 = 120_000

    /// The line with such attempts, and without what says that others tell nothing of a job.
    static func trial(_ line: [UInt8]) -> [UInt8] {
        guard case .object(var members)? = try? JSONValue(parsing: line) else { return line }
        members.removeAll { $0.name == "alone" || $0.name == "refused" }
        for index in members.indices where members[index].name == "points" {
            guard case .object(var upstreams) = members[index].value else { continue }
            for each in upstreams.indices {
                upstreams[each].value = .array(guessed(upstreams[each].value.elements))
            }
            members[index].value = .object(upstreams)
        }
        return JSONValue.object(members).encoded()
    }

    /// The answers to trials, each with its first course alone.
    static func answers(_ lines: [UInt8]) -> [UInt8] {
        lines.split(separator: UInt8(ascii: "\n")).flatMap { line in
            let first = (try? JSONValue(parsing: Array(line)))?["courses"]?.elements.prefix(1) ?? []
            return JSONValue.object([.init("courses", .array(Array(first)))]).encoded() + [UInt8(ascii: "\n")]
        }
    }

    private static func guessed(_ points: [JSONValue]) -> [JSONValue] {
        let known: [(at: Int64, parts: [JSONValue])] = points.compactMap { point in
            point.elements.first?.integer.map { (at: $0, parts: point.elements) }
        }
        .sorted { $0.at < $1.at }
        guard let first = known.first, let last = known.last else { return points }
        var made: [JSONValue] = []
        var near = 0
        var moment = first.at - beyond
        while moment <= last.at + beyond {
            func distance(_ index: Int) -> UInt64 { (known[index].at - moment).magnitude }
            while near + 1 < known.count, distance(near + 1) <= distance(near) { near += 1 }
            var point = known[near].parts
            point[0] = .number(JSONNumber(Int(moment)))
            made.append(.array(point))
            moment += step
        }
        return made
    }
}
