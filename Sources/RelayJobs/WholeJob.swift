package import RelayBase

/// A job and what belongs to it, as they were at one moment.
package struct WholeJob: Sendable {
    package var job: StoredJob
    /// The last ones, in order.
    package var attempts: [Attempt]
    /// The actions taken on it, oldest first: the last that are kept, none where their record is damaged.
    package var actions: [ActionRecord] = []
    /// Of a job that is over; of any where bodies were asked for.
    package var answer: StoredAnswer?
    /// The request's; nil unless bodies were asked for.
    package var body: StoredBody?
    /// The answer is on disk, and not what was stored.
    package var hasDamagedAnswer = false
    /// As the answer, of the request's body.
    package var hasDamagedBody = false

    package init(_ job: StoredJob, _ attempts: [Attempt]) {
        self.job = job
        self.attempts = attempts
    }

    /// How much of it is wanted.
    package struct Extent: Sendable {
        /// Attempts at most.
        package var attempts: Int
        package var hasBodies: Bool

        package init(attempts: Int, hasBodies: Bool) {
            self.attempts = attempts
            self.hasBodies = hasBodies
        }

        package func hasAnswer(of job: StoredJob) -> Bool {
            job.hasAnswer && (hasBodies || job.state.isTerminal)
        }
    }
}
