import Glibc
import RelayBase
import RelayJobs
import RelayStore
import RelayTestSupport
import Testing

/// Another process that uses a store.
struct Crasher {
    private let process: pid_t
    private let output: Int32

    init(_ arguments: [String]) throws {
        let program = programsFolder + "/StoreCrasher"
        var ends: [Int32] = [-1, -1]
        let isMade = unsafe pipe(&ends) == 0
        try #require(isMade)
        output = ends[0]
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        unsafe posix_spawn_file_actions_addclose(&actions, ends[1])
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var child = pid_t()
        let result = unsafe posix_spawn(&child, program, &actions, nil, &words, environ)
        close(ends[1])
        process = child
        try #require(result == 0, "cannot start \(program)")
    }

    /// Reads until so many lines have come, then kills it, and gives every whole line it has told.
    func killed(afterLines count: Int) -> [[Substring]] {
        var text: [UInt8] = []
        var lines = 0
        var isKilled = false
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = unsafe read(output, &buffer, buffer.count)
            if got <= 0 { break }
            lines += buffer[..<got].count { $0 == UInt8(ascii: "\n") }
            text += buffer[..<got]
            if lines >= count, !isKilled {
                kill(process, SIGKILL)
                isKilled = true
            }
        }
        close(output)
        var status: Int32 = 0
        unsafe _ = waitpid(process, &status, 0)
        let whole = text.lastIndex(of: UInt8(ascii: "\n")).map { text[..<$0] } ?? []
        return String(decoding: whole, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
    }
}

@Suite("A store outlives its process", .timeLimit(.minutes(5)))
struct CrashTests {
    @Test(
        "Killed in the middle of its work, it has every job and every ending it acknowledged and nothing else",
        arguments: [1, 40, 300, 900, 2_000]
    )
    func killed(lines: Int) async throws {
        let scratch = TemporaryFolder()
        var accepted: Set<String> = []
        var claimed: Set<String> = []
        var settled: Set<String> = []
        var rounds: Set<UInt64> = []
        for _ in 0..<2 {
            for line in try Crasher(["load", scratch.path]).killed(afterLines: lines) {
                switch line[0] {
                case "A": accepted.insert(String(line[1]))
                case "C": claimed.insert(String(line[1]))
                case "S": settled.insert(String(line[1]))
                case "R": rounds.insert(try #require(UInt64(line[1])))
                default: Issue.record("\(line)")
                }
            }
        }
        let now = JobMoment(wall: 2_000_000_000_000, steady: 1_000)
        let store = try await SQLiteJobStore.open(StoreOptions(directory: scratch.path), at: now)
        var found: Set<String> = []
        var open = 0
        var cursor: JobCursor?
        repeat {
            let page = try await store.jobs(JobFilter(), order: .oldestFirst, limit: 500, after: cursor)
            for job in page.jobs {
                let id = job.record.id
                #expect(found.insert(id.description).inserted)
                #expect(rounds.contains(id.high))
                if settled.contains(id.description) { #expect(job.state == .succeeded) }
                if claimed.contains(id.description), job.state != .succeeded { #expect(job.attempts > 0) }
                if !job.state.isTerminal, (job.expiresAt ?? .max) > now.wall { open += 1 }
                #expect(job.state != .dead || !job.record.mayRepeat && job.end == .outcomeUnknown)
                let bytes = try await store.body(of: id)?.body(from: store)?.collect(limit: .max)
                #expect(bytes == body(of: id))
            }
            cursor = page.next
        } while cursor != nil
        #expect(accepted.subtracting(found).isEmpty && settled.subtracting(found).isEmpty)
        // Everything unfinished can be claimed, keys included.
        var ended = 0
        while case let claims = try await store.claim("r", limit: 500, at: now).claims,
            !claims.isEmpty
        {
            _ = try await store.settle(claims.map { Settlement($0.token, .succeeded) }, at: now)
            ended += claims.count
        }
        #expect(ended == open)
        let counters = try await store.counters(at: now, withDue: true)
        #expect(counters.counts.values.reduce(0, +) == found.count)
        await store.close()
    }

    @Test("Where no file may grow, jobs are refused; nobody dies of it and nothing is lost")
    func limitedFiles() async throws {
        let scratch = TemporaryFolder()
        var lines: [[Substring]] = []
        for bytes in [3 << 20, 4 << 20] {
            let told = try Crasher(["limited", scratch.path, "\(bytes)"]).killed(afterLines: .max)
            #expect(told.last == ["D"])
            lines += told
        }
        let store = try await SQLiteJobStore.open(
            StoreOptions(directory: scratch.path),
            at: JobMoment(wall: 2_000_000_000_000, steady: 1_000)
        )
        let told = lines.filter { $0[0] == "A" }
        #expect(told.count > 100)
        for line in told {
            let id = try #require(JobID(text: String(line[1])))
            #expect(try await store.body(of: id)?.body(from: store)?.collect(limit: .max) == body(of: id))
        }
        await store.close()
    }

    private func body(of id: JobID) -> [UInt8] {
        let count = id.low % 97 == 0 ? 1_100_000 : Int(id.low % 1_500)
        return (0..<count).map { UInt8(truncatingIfNeeded: UInt64($0) &* 31 &+ id.low) }
    }
}
