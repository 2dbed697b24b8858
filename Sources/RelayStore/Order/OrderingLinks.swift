/// The order of the jobs of one ordering key, as the intact ones tell it when some between them are damaged.
struct OrderingLinks {
    private var links: [Int64: (previous: Int64?, next: Int64?)] = [:]
    /// As they were added.
    private var order: [Int64] = []

    /// Takes up a job; in the order of acceptance.
    mutating func add(_ seq: Int64, previous: Int64?, next: Int64?) {
        links[seq] = (previous, next)
        order.append(seq)
    }

    /// All of them in order: parts that hang together stay together, the part with nothing before it comes first, the
    /// one with nothing behind it last, and those between as they were accepted.
    var chain: [Int64] {
        var parts: [(rank: Int, jobs: [Int64])] = []
        for seq in order where !isLinked(links[seq]?.previous, seq) {
            var jobs = [seq]
            while let next = links[jobs[jobs.count - 1]]?.next, isLinked(jobs[jobs.count - 1], next) {
                jobs.append(next)
            }
            let isFirst = links[seq]?.previous == nil
            let isLast = links[jobs[jobs.count - 1]]?.next == nil
            parts.append((isFirst ? 0 : isLast ? 2 : 1, jobs))
        }
        return (0...2).flatMap { rank in parts.filter { $0.rank == rank }.flatMap { $0.jobs } }
    }

    /// Whether both say that one comes right behind the other.
    private func isLinked(_ first: Int64?, _ second: Int64) -> Bool {
        guard let first else { return false }
        return links[first]?.next == second && links[second]?.previous == first
    }
}
