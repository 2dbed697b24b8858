/// The work of a route that has come to wait at a node since it last told the others, as one notification tells it.
///
/// It is numbers between commas: the node's generation, the route, how many jobs, the slots that take what comes there, and
/// of each line its party and urgency and since when it is due, negative where it may lie in any slot.
struct FleetHint: Equatable, Sendable {
    var jobs = 0
    private(set) var lines: [FleetLines.Line: Work] = [:]

    struct Work: Equatable, Sendable {
        var low: Int64
        var isFar: Bool
    }

    /// Lines of one hint at most, since a notification has 8,000 bytes; of more none is named.
    static let most = 64

    mutating func add(_ count: Int, in line: FleetLines.Line, from low: Int64, isFar: Bool) {
        jobs += count
        let known = lines[line]
        lines[line] = Work(low: min(low, known?.low ?? .max), isFar: isFar || known?.isFar == true)
    }
}

extension FleetHint {
    /// The text of the notification.
    func text(_ generation: Int64, _ route: Int32, _ heads: FleetHeads) -> String {
        var numbers = [generation, Int64(route), Int64(jobs), Int64(heads.job), Int64(heads.ready)]
        if lines.count <= Self.most {
            for (line, work) in lines {
                numbers += [line.party, Int64(line.urgency), work.isFar ? -work.low : work.low]
            }
        }
        return numbers.map { "\($0)" }.joined(separator: ",")
    }

    /// Nil of a text that tells less.
    init?(_ numbers: [Int64], _ heads: FleetHeads) {
        guard numbers.count >= 5 else { return nil }
        jobs = Int(clamping: max(0, min(numbers[2], Int64(Int32.max))))
        let isElsewhere = numbers[3] != Int64(heads.job) || numbers[4] != Int64(heads.ready)
        for start in stride(from: 5, to: numbers.count - 2, by: 3) where lines.count < Self.most {
            // Anybody who may connect can notify: an urgency that there is not is made one that there is.
            let line = FleetLines.Line(party: numbers[start], urgency: Int16(numbers[start + 1] & 7))
            let low = numbers[start + 2]
            add(0, in: line, from: Int64(clamping: low.magnitude), isFar: isElsewhere || low < 0)
        }
    }
}
