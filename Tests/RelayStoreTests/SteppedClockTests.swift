import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite(
    "Dated jobs follow a step of the clock to the end, whatever ends the process in between",
    .timeLimit(.minutes(5))
)
struct SteppedClockTests {
    private let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)
    /// More than one transaction puts on the line anew.
    private static let count: UInt64 = 600

    @Test(
        "A crash or a stop in the middle leaves the rest to the next start",
        arguments: [3_600_000, -3_600_000] as [Int64],
        [true, false]
    )
    func interrupted(step: Int64, isCrash: Bool) async throws {
        let scratch = TemporaryFolder()
        var options = StoreOptions(directory: scratch.path)
        options.ballast = 0
        options.readTimeout = .seconds(60)
        let date = now.wall + 36_000_000
        let ids = (1...Self.count).map { JobID(milliseconds: now.wall, random: (0, $0)) }
        // An hour has passed, so that the line is ahead of a clock that was put back.
        var moment = JobMoment(wall: now.wall + 7_200_000, steady: now.steady + 7_200_000)
        do {
            let writer = try StoreWriter.open(StoreDirectory(scratch.path), options, at: now)
            try transaction(writer) { () throws(StoreError) in
                _ = try writer.enqueue(
                    ids.map { id in
                        var job = NewJob(
                            JobRecord(id: id, route: "r", method: .put, target: "t"),
                            body: .bytes([1])
                        )
                        job.due = .date(date)
                        return OfferedJob(job)
                    },
                    at: now
                )
                try writer.advance(to: moment)
            }
            moment.wall += step
            try transaction(writer) { () throws(StoreError) in
                _ = try writer.claim("r", limit: 1, upstream: "u", at: moment)
            }
            #expect(writer.volatile.redateFrom != nil, "it is in the middle of it")
            if !isCrash {
                let queue = CommitQueue()
                queue.close()
                GroupCommit(
                    writer,
                    queue: queue,
                    ballast: ReserveFile(path: scratch.path + "/ballast", limit: 0),
                    removeFiles: { _ in }
                ).run()
            }
        }
        // Another boot.
        moment = JobMoment(wall: moment.wall + 1_000, steady: 5)
        let store = try await SQLiteJobStore.open(options, at: moment)
        // Each claim puts some on the line, if the store has not done it by then.
        for _ in 0..<5 { _ = try await store.claim("none", limit: 1, at: moment) }
        var jobs: [StoredJob] = []
        for id in ids { if let job = try await store.job(id) { jobs.append(job) } }
        #expect(jobs.count == ids.count)
        #expect(jobs.count { $0.runAt == date } == ids.count)
        moment = JobMoment(wall: date - 1, steady: moment.steady + date - 1 - moment.wall)
        #expect(try await store.claim("r", limit: 1_000, at: moment).claims.isEmpty)
        await store.close()
    }

    private func transaction(
        _ writer: StoreWriter,
        _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try writer.database.execute("BEGIN IMMEDIATE")
        try body()
        try writer.flushTally()
        try writer.database.execute("COMMIT")
    }
}
