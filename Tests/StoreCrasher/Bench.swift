import Glibc
import RelayBase
import RelayJobs
import RelayPosix
import RelayStore

/// bench DIR accept SUBMITTERS SECONDS | fill COUNT | lifecycle BATCH SECONDS | open, with `keyed`, `ordered` (100,000
/// keys) or `grouped` (1,000 keys) at the end for jobs with random keys.
///
/// Processor time is told beside the rates: it says the same on a machine that is busy with other things.
func bench(_ directory: String, _ words: [String]) async throws(StoreError) {
    var options = StoreOptions(directory: directory)
    options.maxSize = 64 << 30
    let began = SystemClock.monotonic()
    let store = try await SQLiteJobStore.open(options, at: present())
    let opened = SystemClock.monotonic() - began
    let keys = Keys(
        isKeyed: words.contains("keyed"),
        orderingKeys: words.contains("ordered") ? 100_000 : words.contains("grouped") ? 1_000 : nil
    )
    let numbers = words.compactMap(Int.init)
    switch words.first {
    case "accept": try await accepts(store, submitters: numbers[0], seconds: numbers[1], keys)
    case "fill": try await fill(store, count: numbers[0], keys)
    case "lifecycle": try await lifecycles(store, batch: numbers[0], seconds: numbers[1], keys)
    default: break
    }
    await store.close()
    print("open_ms=\(opened / 1_000_000) rss_kib=\(residentKibibytes())")
}

struct Keys: Sendable {
    var isKeyed: Bool
    var orderingKeys: UInt64?
}

private let made = Counter()
private let run = UInt64(truncatingIfNeeded: SystemClock.wall() / 1_000_000)
private let kibibyte = [UInt8](repeating: 7, count: 1_024)

private func makeJob(_ route: String, _ keys: Keys) -> NewJob {
    let number = UInt64(made.add(1))
    let id = JobID(high: run << 16, low: number)
    var record = JobRecord(id: id, route: route, method: .post, target: "orders/\(number)")
    record.fields.append("Content-Type", "application/json")
    if let count = keys.orderingKeys { record.orderingKey = "customer-\(UInt64.random(in: 0..<count))" }
    var job = NewJob(record, body: .bytes(kibibyte))
    if keys.isKeyed {
        job.idempotency = NewJob.Idempotency(
            user: 1_000,
            key: "\(run)-\(number &* 0x9E37_79B9_7F4A_7C15)",
            fingerprint: Array(repeating: 1, count: 32),
            window: .seconds(86_400)
        )
    }
    return job
}

/// Processor time of the process, the kernel's part included.
private func usedMicroseconds() -> Int {
    var time = timespec()
    guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
    return Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1_000
}

private func residentKibibytes() -> Int {
    let descriptor = unsafe open("/proc/self/statm", O_RDONLY)
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = unsafe read(descriptor, &buffer, buffer.count)
    let words = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
    return words.count > 1 ? (Int(words[1]) ?? 0) * 4 : 0
}

private func accepts(
    _ store: SQLiteJobStore,
    submitters: Int,
    seconds: Int,
    _ keys: Keys
) async throws(StoreError) {
    let before = try await store.facts().commits
    let began = SystemClock.monotonic()
    let end = began + Int64(seconds) * 1_000_000_000
    let times = await withTaskGroup(of: [Int64].self) { group in
        for _ in 0..<submitters {
            group.addTask {
                var times: [Int64] = []
                while true {
                    let start = SystemClock.monotonic()
                    guard start < end, (try? await store.enqueue([makeJob("r", keys)], at: present())) != nil
                    else {
                        return times
                    }
                    times.append(SystemClock.monotonic() - start)
                }
            }
        }
        return await group.reduce(into: []) { $0 += $1 }.sorted()
    }
    let elapsed = Double(SystemClock.monotonic() - began) / 1e9
    let commits = try await store.facts().commits - before
    print(
        "accepts_per_second=\(Int(Double(times.count) / elapsed)) p50_us=\(times[times.count / 2] / 1_000)",
        "p99_us=\(times[times.count * 99 / 100] / 1_000) max_us=\((times.last ?? 0) / 1_000)",
        "jobs_per_commit=\(Double(times.count) / Double(max(1, commits)))"
    )
}

private func fill(_ store: SQLiteJobStore, count: Int, _ keys: Keys) async throws(StoreError) {
    let began = SystemClock.monotonic()
    for _ in stride(from: 0, to: count, by: 500) {
        _ = try await store.enqueue((0..<500).map { _ in makeJob("backlog", keys) }, at: present())
    }
    print("filled_per_second=\(Int(Double(count) / (Double(SystemClock.monotonic() - began) / 1e9)))")
}

/// Accept, claim and settle in batches, two of each in flight: the store alone, without anything sent.
private func lifecycles(
    _ store: SQLiteJobStore,
    batch: Int,
    seconds: Int,
    _ keys: Keys
) async throws(StoreError) {
    let began = SystemClock.monotonic()
    let used = usedMicroseconds()
    let end = began + Int64(seconds) * 1_000_000_000
    let done = Counter()
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
            group.addTask {
                while SystemClock.monotonic() < end {
                    let jobs = (0..<batch).map { _ in makeJob("r", keys) }
                    guard (try? await store.enqueue(jobs, at: present())) != nil else { return }
                }
            }
            group.addTask {
                while SystemClock.monotonic() < end {
                    guard
                        let claims = try? await store.claim(
                            "r",
                            limit: batch,
                            upstream: "u",
                            at: present()
                        )
                        .claims
                    else { return }
                    if claims.isEmpty {
                        await Task.yield()
                        continue
                    }
                    var attempt = Attempt(
                        number: 1,
                        upstream: "eu",
                        beganAt: 0,
                        duration: .milliseconds(12)
                    )
                    attempt.status = 200
                    let answer = StoredAnswer(
                        status: 200,
                        fields: HeaderFields(),
                        body: .bytes(Array(kibibyte.prefix(200)))
                    )
                    let settlements = claims.map {
                        Settlement($0.token, .succeeded, attempts: [attempt], answer: answer)
                    }
                    guard (try? await store.settle(settlements, at: present())) != nil else { return }
                    done.add(claims.count)
                }
            }
        }
    }
    let elapsed = Double(SystemClock.monotonic() - began) / 1e9
    let each = Double(usedMicroseconds() - used) / Double(max(1, done.value))
    print("lifecycles_per_second=\(Int(Double(done.value) / elapsed)) cpu_us=\((each * 10).rounded() / 10)")
}
