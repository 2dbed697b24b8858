package import RelayCore
package import RelayEngine

extension MetricsText {
    /// The kept jobs of every route that is configured or has some.
    package mutating func add(_ jobs: JobCounters, of durable: DurableJobs, _ snapshot: Snapshot) {
        let others = Set(jobs.counts.keys.map(\.route)).subtracting(snapshot.routeNames).sorted()
        for route in snapshot.routeNames + others {
            for state in JobState.allCases {
                add(.jobsByState, [route, state.name], jobs.count(state, of: route))
            }
            for (reason, count) in durable.waiting(jobs, of: route).sorted(by: { $0.key < $1.key }) {
                add(.jobsWaiting, [route, reason], count)
            }
            if let oldest = jobs.oldest[route] {
                add(.oldestJob, [route], seconds: Double(oldest) / 1_000)
            }
        }
    }

    /// The store, which is `stalled`, or has no room, or is well.
    package mutating func add(_ store: StoreFacts, isStalled: Bool, lacksRoom: Bool) {
        let state = isStalled ? "stalled" : lacksRoom ? "full" : "ok"
        for word in ["ok", "full", "stalled"] { add(.storeState, [word], word == state) }
        add(.storeBytes, store.usedBytes)
        add(.storeLimit, store.maxBytes)
        add(.storeCommits, store.commits)
        add(.storeOperations, store.operations)
        add(.storeCommitDuration, [], store.commitTimes)
        for code in StoreError.Code.counted { add(.storeErrors, [code.rawValue], store.errors[code] ?? 0) }
        add(.storeCorrupt, store.corruptRecords)
        add(.storeLog, store.logBytes)
    }
}

extension StoreError.Code {
    /// What a store that is open may fail with.
    fileprivate static let counted: [StoreError.Code] = [.full, .slow, .failed, .corrupt]
}
