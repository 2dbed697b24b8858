import RelayCore

/// How many more jobs may wait for their delivery; whoever hands one over holds its room before it is on disk.
struct QueueRoom: Sendable {
    /// Jobs that are not over, as far as is known.
    private(set) var queued = 0
    /// Room that is held for jobs on their way to disk.
    private(set) var reserved = 0
    /// Accepted since the last count began, which may lack them.
    private var sinceCount = 0

    func hasRoom(_ limit: Int) -> Bool { queued + reserved < limit }

    /// Holds room for one job.
    ///
    /// - Returns: whether there was any.
    mutating func reserve(_ limit: Int) -> Bool {
        guard hasRoom(limit) else { return false }
        reserved += 1
        return true
    }

    /// The job is on disk.
    mutating func accepted() {
        reserved -= 1
        queued += 1
        sinceCount += 1
    }

    /// There is no new job.
    mutating func gaveBack() { reserved -= 1 }

    mutating func ended(_ count: Int = 1) { queued = max(0, queued - count) }

    /// The store is about to be asked how many there are.
    mutating func counting() { sinceCount = 0 }

    /// The store had so many, perhaps without those of the moment.
    mutating func counted(_ count: Int) { queued = count + sinceCount }
}
