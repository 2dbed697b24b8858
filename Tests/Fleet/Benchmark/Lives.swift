import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPosix

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

/// Lives of jobs for so many seconds: each submitter hands over one after the other, half are sent with their acceptance.
func lives(_ store: PostgreSQLJobStore, submitters: Int, seconds: Int64) async throws -> Int {
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

/// Of an odd number of values.
func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
