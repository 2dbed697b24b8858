import Glibc
import RelayFoundation
import RelayKit

/// Runs every scene; the first that is not as it should be ends the program with status 1.
@main
struct Main {
    static func main() async {
        do {
            let library = try Library(port: CommandLine.arguments[1])
            try await typed(library)
            try await told(library)
            try await oneFetch(library)
            try await refused(library)
            try await throttled(library)
            try await stream(library)
            try await cancelled(library)
            try await hyperspace()
            try await apexy()
            try await combine()
        } catch {
            print("FAILED  \(error)")
            exit(1)
        }
    }

    /// Ends the program unless what was promised holds.
    static func expect(_ holds: Bool, _ promise: String) throws {
        guard holds else { throw Broken(description: promise) }
        print("ok      \(promise)")
    }

    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    /// Twenty requests for the seventh book at once.
    static func crowd(_ library: Library) async -> [PlainOutcome<Book>] {
        await withTaskGroup(of: PlainOutcome<Book>.self) { group in
            for _ in 0..<20 { group.addTask { await library.books.outcome(of: Library.book(7)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    static func oneFetch(_ library: Library) async throws {
        let outcomes = await crowd(library)
        let values = outcomes.compactMap(\.value)
        try expect(
            values == Array(repeating: Book(id: 7, title: "Book 7"), count: 20),
            "20 values under data"
        )
        try expect(try await library.seen().tokens == 1, "20 requests without a token fetched one")
        try expect(outcomes.allSatisfy { $0.recoveredBy.isEmpty }, "and nothing had to recover")
    }

    static func refused(_ library: Library) async throws {
        try await library.open.execute(PlainRequest<Void>(.post, "revoke"))
        let outcomes = await crowd(library)
        let statuses = Set(outcomes.map { $0.attempts.map { $0.status?.rawValue ?? 0 } })
        try expect(statuses == [[401, 200]], "a revoked token: 401, then 200")
        try expect(outcomes.allSatisfy { $0.recoveredBy == ["reauthorize"] }, "recovered by reauthorize")
        let seen = try await library.seen()
        try expect(seen.refused == 20 && seen.tokens == 2, "20 refusals fetched one token")
    }

    static func throttled(_ library: Library) async throws {
        let clock = ContinuousClock()
        let began = clock.now
        let outcome = await library.books.outcome(of: PlainRequest<Book>(.get, "flaky", container: "/data"))
        try expect(try outcome.result.get().title == "Patience", "503 with Retry-After was sent again")
        try expect(outcome.recoveredBy == ["backoff"], "recovered by backoff")
        try expect(
            outcome.attempts.first?.next == .retry(after: .seconds(1)),
            "after the second it asked for"
        )
        try expect(clock.now - began >= .seconds(1), "which was waited")
    }

    static func stream(_ library: Library) async throws {
        let requests = AsyncStream { continuation in
            for number in 0..<50 { continuation.yield(Library.book(number)) }
            continuation.finish()
        }
        var good: [Int] = []
        var failed: [Int] = []
        for await outcome in library.books.outcomes(of: requests, order: .input) {
            switch outcome.result {
            case .success(let book): good.append(book.id)
            case .failure(let failure):
                failed.append(outcome.index)
                try expect(failure.status == 404, "one of 50 failed: \(failure)")
            }
        }
        try expect(failed == [13] && good == (0..<50).filter { $0 != 13 }, "49 of 50 came, in order")
    }

    static func cancelled(_ library: Library) async throws {
        let clock = ContinuousClock()
        let began = clock.now
        let task = Task { await library.books.outcome(of: PlainRequest<Void>(.get, "slow")) }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        let outcome = await task.value
        try expect(outcome.failure?.kind == .cancelled, "a cancelled request ended as such")
        try expect(clock.now - began < .seconds(25), "before its own time was up")
        try expect(outcome.attempts.allSatisfy { $0.rule == nil }, "no rule was asked")
        var sawHangUp = false
        for _ in 0..<50 where !sawHangUp {
            sawHangUp = try await library.seen().hungUp == 1
            if !sawHangUp { try await Task.sleep(for: .milliseconds(100)) }
        }
        try expect(sawHangUp, "the server saw its connection closed")
    }
}
