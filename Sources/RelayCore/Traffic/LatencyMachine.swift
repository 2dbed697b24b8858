/// Finds out when attempts begin to take longer than they did: the mean of each windowful beside those before it.
///
/// Smoothed with 0.4, the mean and the deviation of 20, 21, 19 ms are about 20 and 1 ms; a windowful of 31 ms is slow then,
/// one of 29 ms is not.
struct LatencyMachine: Sendable {
    private static let smoothing = 0.4
    private static let deviations = 2.5
    private static let least = 1.5
    /// Fewer attempts say nothing.
    private static let smallest = 8

    /// Of the windowful that is being counted: seconds, attempts, and whether the window was full in it.
    private var sum = 0.0
    private var count = 0
    private var wasFull = false
    private var mean: Double?
    private var deviation = 0.0

    /// How long an attempt usually takes; nil before that is known.
    var usual: Duration? { (mean ?? (count > 0 ? sum / Double(count) : nil)).map { .seconds($0) } }

    /// Whether an attempt more would end the windowful.
    func isAboutToEnd(cohort: Int) -> Bool { count + 1 >= max(LatencyMachine.smallest, cohort) }

    /// An attempt took so long.
    ///
    /// - Returns: whether the windowful that has ended by that was slow, and full.
    mutating func ended(nanoseconds: Int64, wasFull: Bool, cohort: Int) -> Bool {
        sum += Double(max(0, nanoseconds)) / 1e9
        count += 1
        if wasFull { self.wasFull = true }
        guard count >= max(LatencyMachine.smallest, cohort) else { return false }
        let average = sum / Double(count)
        defer { (sum, count, self.wasFull) = (0, 0, false) }
        guard let mean else {
            self.mean = average
            return false
        }
        let isSlow =
            average >= mean + LatencyMachine.deviations * deviation
            && average >= mean * LatencyMachine.least
        self.mean = mean + LatencyMachine.smoothing * (average - mean)
        deviation += LatencyMachine.smoothing * ((average - mean).magnitude - deviation)
        return isSlow && self.wasFull
    }
}
