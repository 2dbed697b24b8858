import PostgresTestSupport
import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPosix

/// Lives of jobs by a node of a fleet, without HTTP: `RELAY_BENCHMARK=1 swift run -c release FleetBenchmark [SECONDS]`.
///
/// Each submitter hands over one job after the other, as callers do that wait for the answer; half of the jobs are sent with
/// their acceptance, the others wait and are claimed. It prints lives a second, and what each has cost the database.
let seconds = CommandLine.arguments.dropFirst().first.flatMap { Int64($0) } ?? 10

/// Claims what waits, by one claim at a time, and settles each by itself.
actor Claimer {
    private let store: PostgreSQLJobStore
    private var isBusy = false
    private(set) var settled = 0

    init(_ store: PostgreSQLJobStore) { self.store = store }

    func work() async throws {
        guard !isBusy else { return }
        isBusy = true
        defer { isBusy = false }
        while true {
            let claims = try await store.claim("hooks", limit: 256, upstream: "eu", at: .present).claims
            guard !claims.isEmpty else { return }
            try await withThrowingTaskGroup(of: Void.self) { [store] group in
                for claim in claims {
                    group.addTask {
                        _ = try await store.settle([Settlement(claim.token, .succeeded)], at: .present)
                    }
                }
                try await group.waitForAll()
            }
            settled += claims.count
        }
    }
}

func lives(_ store: PostgreSQLJobStore, submitters: Int) async throws -> Int {
    let claimer = Claimer(store)
    let end = SystemClock.monotonic() + seconds * 1_000_000_000
    let sent = try await withThrowingTaskGroup(of: Int.self) { group in
        for submitter in 0..<submitters {
            group.addTask {
                var sent = 0
                while SystemClock.monotonic() < end {
                    let job = NewJob.ofFleet {
                        $0.body = .bytes([UInt8](repeating: 106, count: 512))
                        $0.upstream = submitter % 2 == 0 ? "eu" : nil
                    }
                    switch try await store.enqueue([job], at: .present)[0] {
                    case .running(let token):
                        _ = try await store.settle([Settlement(token, .succeeded)], at: .present)
                        sent += 1
                    case .accepted: try await claimer.work()
                    case let other: fatalError("\(other)")
                    }
                }
                return sent
            }
        }
        return try await group.reduce(0, +)
    }
    try await claimer.work()
    return sent + (await claimer.settled)
}

let nodes = try await Nodes(PostgresServer.make())
// The log is read once the time is over.
try nodes.server.sql("ALTER SYSTEM SET wal_keep_size = '8GB'")
try nodes.server.sql("SELECT pg_reload_conf()")
let store = try await nodes.open("one")
for submitters in [1, 64, 256] {
    let before = (try await store.facts().statements, try nodes.server.logPosition())
    let count = try await lives(store, submitters: submitters)
    let after = (try await store.facts().statements, try nodes.server.logPosition())
    let log = try nodes.server.logBytes(from: before.1.place, to: after.1.place)
    print(
        "\(submitters) in flight: \(count / Int(seconds)) lives/s; a life: \(Double(after.0 - before.0) / Double(count)) statements,",
        "\(Double(after.1.transactions - before.1.transactions) / Double(count)) transactions,",
        "\(log.records / count) bytes of the log beside \(log.images / count) of images"
    )
}
await store.close()
