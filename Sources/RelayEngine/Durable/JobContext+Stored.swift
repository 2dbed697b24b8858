import RelayCore
import RelayJobs

extension JobContext {
    /// A durable job as the relay sees it under the configuration of `entry`.
    convenience init(_ job: StoredJob, _ entry: Snapshot.Entry, history: JobHistory?) {
        let record = job.record
        var options = JobOptions()
        // Its timeout bounds its expiry, which the history has.
        options.attemptTimeout = record.bounds.attemptTimeout
        options.maxAttempts = record.bounds.maxAttempts
        options.allowsFallback = record.bounds.allowsFallback
        options.constrained = record.bounds.constrained
        options.collectsAnswer = true
        options.labels = record.labels
        self.init(
            id: record.id,
            route: entry.route,
            method: record.method,
            target: record.target,
            options: options,
            client: record.submitter.map {
                ClientIdentity(user: $0.user, process: 0, groups: [], unit: $0.unit, on: $0.node)
            },
            memory: entry.memory,
            history: history
        )
    }
}
