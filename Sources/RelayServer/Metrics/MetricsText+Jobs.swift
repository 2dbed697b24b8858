import RelayBase
package import RelayEngine
package import RelayJobs
import RelayPosix

extension MetricsText {
    /// The kept jobs of every route that is configured or has some.
    package mutating func add(_ jobs: JobCounters, of durable: DurableJobs, _ snapshot: Snapshot) {
        let others = Set(jobs.counts.keys.map(\.route)).subtracting(snapshot.routeNames).sorted()
        var waiting: [[String]: UInt64] = [:]
        for route in snapshot.routeNames + others {
            for state in JobState.allCases {
                add(.jobsByState, [route, state.name], jobs.count(state, of: route))
            }
            for (reason, count) in durable.waiting(jobs, of: route) {
                waiting[[route, reason]] = UInt64(count)
            }
            if let oldest = jobs.oldest[route] {
                add(.oldestJob, [route], seconds: Double(oldest) / 1_000)
            }
            if let due = jobs.due[route] { add(.oldestDueJob, [route], seconds: Double(due) / 1_000) }
        }
        add(.jobsWaiting, waiting)
        let notices = durable.notices?.made ?? [:]
        if !notices.isEmpty {
            add(.noticesMade, Dictionary(uniqueKeysWithValues: notices.map { ([$0.key], $0.value) }))
        }
        let owed = durable.watch.facts.owedNotices
        if owed > 0 { add(.noticesOwed, owed) }
    }

    /// The store and what it does; `refusals` are jobs that there was no room for.
    package mutating func add(_ store: StoreFacts, _ state: StorageState, refusals: UInt64) {
        for word in StorageState.allCases { add(.storeState, [word.rawValue], word == state) }
        add(.storeBytes, store.usedBytes)
        add(.storeLimit, store.maxBytes)
        if let disk = store.disk {
            add(.storeDiskSize, disk.size)
            add(.storeDiskAvailable, disk.available)
        }
        add(.storeCommits, store.commits)
        add(.storeOperations, store.operations)
        add(.storeCommitDuration, [], store.commitTimes)
        add(.storeErrors, [StoreError.Code.full.rawValue], refusals)
        for code in StoreError.Code.counted { add(.storeErrors, [code.rawValue], store.errors[code] ?? 0) }
        add(.storeCorrupt, store.corruptRecords)
        add(.storeLog, store.logBytes)
        if let database = store.database { add(database) }
    }

    private mutating func add(_ database: DatabaseFacts) {
        let now = Instant(nanoseconds: SystemClock.monotonic())
        func age(_ since: Instant?) -> Double {
            since.map { Double($0.duration(to: now).saturatedNanoseconds) / 1e9 } ?? 0
        }
        add(.leaseAge, [], seconds: age(database.renewedAt))
        add(.lease, [], seconds: Double(database.lease.saturatedNanoseconds) / 1e9)
        add(.databaseConnections, database.connections)
        add(.databaseConnects, database.connects)
        add(.roundTrips, database.roundTrips)
        add(.putAside, database.putAside)
        add(.snapshotAge, [], seconds: age(database.holder?.since))
        add(.notificationQueue, [], seconds: Double(database.notificationQueue) / 1e6)
    }
}

extension StoreError.Code {
    /// The errors that an open store counts; a job that it has no room for need not get to it.
    fileprivate static let counted: [StoreError.Code] = [.slow, .failed, .corrupt, .unavailable, .unknown]
}
