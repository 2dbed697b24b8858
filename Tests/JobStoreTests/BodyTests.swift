import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Bodies come back as they were, whatever their size", .timeLimit(.minutes(5)))
struct BodyTests {
    private func bytes(_ count: Int, seed: Int = 31) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* seed &+ $0 >> 8) }
    }

    private func read(_ body: StoredBody?, _ store: any JobStore) async throws -> [UInt8]? {
        try await body?.body(from: store)?.collect(limit: .max)
    }

    @Test(
        "A request's and an answer's, of none, one or millions of bytes",
        arguments: StoreKind.all(.survives),
        [0, 1, 2_048, 2_049, 1 << 20, 1 << 20 | 1, 3 << 20 | 7]
    )
    func whole(kind: StoreKind, size: Int) async throws {
        let bench = try await kind.open()
        let (request, answer) = (bytes(size), bytes(size, seed: 17))
        let id = try await bench.accept { $0.body = .bytes(request) }
        #expect(try await bench.job(id).bodyLength == UInt64(size))
        let first = try await bench.claim()[0]
        #expect(try await read(first.body, bench.store) == request)
        try await bench.settle(first, .retry(after: .zero, .backoff))
        try await bench.reopen()
        let claim = try await bench.claim()[0]
        #expect(try await read(claim.body, bench.store) == request)
        let kept = StoredAnswer(status: 200, fields: HeaderFields(), body: .bytes(answer))
        #expect(try await bench.settle(claim, .succeeded, answer: kept) == .applied(.succeeded))
        for _ in 0..<2 {
            let stored = try #require(try await bench.store.body(of: id))
            try await stored.check(in: bench.store)
            #expect(try await read(stored, bench.store) == request)
            #expect(try await read(bench.store.answer(of: id)?.body, bench.store) == answer)
            #expect(try await bench.job(id).hasAnswerBody)
            try await bench.reopen()
        }
        try await bench.apply(.expunge, id)
        #expect(try await bench.store.body(of: id) == .expunged)
        #expect(try await bench.store.answer(of: id)?.body == .expunged)
        #expect(try await !bench.job(id).hasAnswerBody)
    }

    @Test(
        "A body that was too large for memory is kept in pieces, and goes with its job",
        arguments: StoreKind.all([.spools, .survives])
    )
    func spooled(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let large = bytes(3 << 20 | 7)
        let spool = try await bench.store.spool()
        for start in stride(from: 0, to: large.count, by: 100_000) {
            try await spool.append(Array(large[start..<min(start + 100_000, large.count)]))
        }
        let file = try await spool.finish()
        // It is finished: this does nothing.
        spool.discard()
        #expect(file.length == UInt64(large.count) && file.checksums.count == 4)
        let id = try await bench.accept { $0.body = .file(file) }
        for _ in 0..<2 {
            #expect(try await bench.job(id).bodyLength == file.length)
            #expect(try await bench.store.body(of: id) == .file(file))
            let claim = try await bench.claim()[0]
            #expect(try await read(claim.body, bench.store) == large)
            #expect(try await bench.store.piece(3, of: file) == Array(large[(3 << 20)...]))
            try await bench.reopen()
        }
        try await bench.apply(.drop, id)
        #expect(try await bench.store.body(of: id) == nil)
        try await bench.reopen()
        await #expect(throws: StoreError.self) { _ = try await bench.store.piece(0, of: file) }
    }

    @Test(
        "A body that nobody's job has is gone after the next start",
        arguments: StoreKind.all([.spools, .survives])
    )
    func orphan(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let given = try await bench.store.spool()
        try await given.append(bytes(2 << 20))
        given.discard()
        let spool = try await bench.store.spool()
        try await spool.append(bytes(2 << 20))
        let file = try await spool.finish()
        // A start removes them beside its work, and has by its end.
        for _ in 0..<2 { try await bench.reopen() }
        await #expect(throws: StoreError.self) { _ = try await bench.store.piece(0, of: file) }
    }
}
