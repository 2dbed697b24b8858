import Glibc
import RelayBase
import RelayJobs
import RelayPosix
import RelayStore
import Synchronization

/// The clocks, read together.
func present() -> JobMoment {
    JobMoment(wall: SystemClock.wall() / 1_000_000, steady: SystemClock.monotonic() / 1_000_000)
}

/// One system call, so that a line is told whole or not at all.
func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe _ = write(1, bytes, bytes.count)
}

/// A body that anybody who knows the id can make.
func body(of id: JobID) -> [UInt8] {
    let count = id.low % 97 == 0 ? 1_100_000 : Int(id.low % 1_500)
    return (0..<count).map { UInt8(truncatingIfNeeded: UInt64($0) &* 31 &+ id.low) }
}

func options(_ directory: String) -> StoreOptions {
    var options = StoreOptions(directory: directory)
    options.ballast = 1 << 20
    if unsafe getenv("STORE_SYNC_OFF") != nil { options.sync = .off }
    options.fault = unsafe getenv("STORE_FAULT").flatMap { .init(rawValue: unsafe String(cString: $0)) }
    options.checkpointPages = 100
    options.events.fatal = { error in
        tell("F \(error)")
        exit(70)
    }
    return options
}

/// A number that tasks share.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    var value: Int { number.load(ordering: .relaxed) }

    @discardableResult
    func add(_ count: Int) -> Int { number.add(count, ordering: .relaxed).newValue }
}

/// Eight submitters and two holders of claims, all at once.
///
/// `isEarly` tells of jobs before they are on disk: a control that every test of acknowledgements must catch.
func load(_ directory: String, jobs: Int, isEarly: Bool = false) async throws(StoreError) {
    let store = try await SQLiteJobStore.open(options(directory), at: present())
    let accepted = Counter()
    let isOver = Counter()
    let round = UInt64(truncatingIfNeeded: SystemClock.wall())
    tell("R \(round)")
    await withTaskGroup(of: Void.self) { group in
        for submitter in 0..<8 as Range<UInt64> {
            group.addTask {
                var number: UInt64 = 0
                while accepted.add(1) <= jobs {
                    number += 1
                    let id = JobID(high: round, low: submitter << 32 | number)
                    var record = JobRecord(id: id, route: "r", method: .post, target: "t/\(number)")
                    record.mayRepeat = number % 7 > 0
                    if number % 3 == 0 { record.orderingKey = "k\(number % 5)" }
                    // The others are plain ones.
                    if number % 4 == 1 { record.labels = ["n=\(number % 10)"] }
                    guard let body = try? await stored(body(of: id), in: number % 5 == 0 ? store : nil) else {
                        break
                    }
                    var job = NewJob(record, body: body)
                    job.idempotency = NewJob.Idempotency(
                        user: 0,
                        key: id.description,
                        fingerprint: [],
                        window: .seconds(3_600)
                    )
                    if number % 5 == 2 { job.expiresAfter = .milliseconds(40) }
                    // Some of them are claimed with their acceptance, where nothing waits.
                    if number % 2 == 0 { job.upstream = "u" }
                    if isEarly { tell("A \(id)") }
                    guard let answer = try? await store.enqueue([job], at: present()).first,
                        answer.isAccepted
                    else { break }
                    if !isEarly { tell("A \(id)") }
                    guard case .running(let token) = answer else { continue }
                    tell("C \(id)")
                    guard number % 4 == 0 else { continue }
                    guard await settle(token, in: store) else { break }
                }
                isOver.add(1)
            }
        }
        for _ in 0..<2 {
            group.addTask {
                while let batch = try? await store.claim(
                    "r",
                    limit: 8,
                    upstream: "u",
                    at: present()
                ) {
                    if batch.claims.isEmpty {
                        if isOver.value > 0 { return }
                        await Task.yield()
                    }
                    for claim in batch.claims { tell("C \(claim.token.id)") }
                    // Some are still under way when the store comes to its end.
                    for claim in batch.claims where claim.token.id.low % 5 > 0 {
                        guard case .bytes? = Optional(claim.body) else { continue }
                        guard await settle(claim.token, in: store) else { return }
                    }
                }
            }
        }
    }
    await store.close()
    tell("D")
}

/// Settles a claim and tells of it.
private func settle(_ token: ClaimToken, in store: SQLiteJobStore) async -> Bool {
    let attempt = Attempt(number: 1, upstream: "u", beganAt: present().wall)
    let settlement = Settlement(token, .succeeded, attempts: [attempt])
    let answers = try? await store.settle([settlement], at: present())
    guard answers == [.applied(.succeeded)] else { return false }
    tell("S \(token.id)")
    return true
}

/// The body as it is, or in a file of the store's, however small.
private func stored(_ bytes: [UInt8], in store: SQLiteJobStore?) async throws(StoreError) -> StoredBody {
    guard let store else { return .bytes(bytes) }
    let spool = try await store.spool()
    try await spool.append(bytes)
    return .file(try await spool.finish())
}

/// No file may grow beyond so many bytes; the signal for it kills again, whatever was inherited.
func limitFiles(_ bytes: Int) {
    _ = signal(SIGXFSZ, SIG_DFL)
    var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
    unsafe _ = setrlimit(.init(RLIMIT_FSIZE.rawValue), &limit)
}

/// Tells every job, with a sum of its body that `load`'s readers can check.
func list(_ directory: String) async throws(StoreError) {
    let store = try await SQLiteJobStore.open(options(directory), at: present())
    var cursor: JobCursor?
    repeat {
        let page = try await store.jobs(JobFilter(), order: .oldestFirst, limit: 500, after: cursor)
        for job in page.jobs {
            let id = job.record.id
            let bytes = try? await store.body(of: id)?.body(from: store)?.collect(limit: .max)
            tell("J \(id) \(job.state.name) \(bytes == body(of: id) ? "exact" : "other") \(job.attempts)")
        }
        cursor = page.next
    } while cursor != nil
    await store.close()
    tell("D")
}
