/// Plain jobs in the order of their positions: most go at the front, any may go in the middle.
struct PlainLine {
    struct Job {
        var seq: Int64
        /// A time that its holder has a use for.
        var at: Int64
        /// Another number that its holder has a use for.
        var mark: Int64

        fileprivate static let gone = Int64.min
    }

    private var jobs: [Job] = []
    private var head = 0
    /// Places between the others that are empty.
    private var gone = 0

    /// The first of them; no empty place is before it.
    var first: Job? { head < jobs.count ? jobs[head] : nil }

    /// Calls `body` with each of them, in order.
    func each(_ body: (Job) -> Void) {
        for job in jobs[head...] where job.at != Job.gone { body(job) }
    }

    mutating func append(_ job: Job) { jobs.append(job) }

    mutating func removeFirst() {
        head += 1
        shrink()
    }

    /// - Returns: nil where it was not there.
    mutating func remove(_ seq: Int64) -> Job? {
        guard let index = index(of: seq) else { return nil }
        let job = jobs[index]
        jobs[index].at = Job.gone
        gone += 1
        shrink()
        return job
    }

    func contains(_ seq: Int64) -> Bool { index(of: seq) != nil }

    private func index(of seq: Int64) -> Int? {
        var (low, high) = (head, jobs.count)
        while low < high {
            let middle = low + (high - low) / 2
            if jobs[middle].seq < seq { low = middle + 1 } else { high = middle }
        }
        return low < jobs.count && jobs[low].seq == seq && jobs[low].at != Job.gone ? low : nil
    }

    /// Passes empty places at the front, and moves the others together once most are empty.
    private mutating func shrink() {
        while head < jobs.count, jobs[head].at == Job.gone {
            head += 1
            gone -= 1
        }
        if head == jobs.count {
            jobs.removeAll(keepingCapacity: jobs.count < 512)
            head = 0
        } else if head + gone > max(1_024, jobs.count / 2) {
            jobs.removeFirst(head)
            head = 0
            if gone > 0 { jobs.removeAll { $0.at == Job.gone } }
            gone = 0
        }
    }
}
