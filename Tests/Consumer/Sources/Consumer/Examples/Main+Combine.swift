import RelayKit
import RelayTesting

// Each pattern of "Using Combine" does here what it does there.
extension Main {
    static func combine() async throws {
        let (one, _, _) = try scripted(policy(), [.answer(200, [:], answered)])
        var words: [String] = []
        await certain(of: one) { words.append($0) }
        try expect(words == ["Emma"], "a failure that cannot be is no matter of the caller")
        let (places, _, _) = try scripted(
            policy(),
            [.answer(200, [:], #"{"ip": "192.0.2.1"}"#), .answer(500), .answer(200, [:], "<html>")]
        )
        words = []
        for _ in 0..<3 { await address(from: places) { words.append($0) } }
        try expect(words == ["192.0.2.1", "8.8.8.8", "8.8.8.8"], "a placeholder covers status and decoding")
        try await refusedPort()
        let steps: [ScriptedTransport.Step] = [
            .answer(200, [:], answered), .answer(200, [:], answered), .answer(200, [:], "<garbage>"),
            .answer(200, [:], answered),
        ]
        words = []
        let (stream, _, _) = try scripted(policy(), steps)
        await titles(of: [1, 2, 3, 4], from: stream) { words.append($0) }
        try expect(
            words.count == 4 && words.count { $0 == "-" } == 1,
            "four in, four out, one of them garbage"
        )
        try await lowData()
        let spare = Request.book(8)
        let (replaced, script, _) = try scripted(
            policy(otherwise(spare)),
            [.answer(404), .answer(200, [:], answered), .answer(500)]
        )
        try expect(try await replaced.execute(.book(7)).title == "Emma", "another request takes its place")
        try expect(script.sent.map(\.target) == ["/api/books/7", "/api/books/8"], "which it names")
        try expect(
            await replaced.outcome(of: .book(7)).failure?.status == 500,
            "other failures are not replaced"
        )
    }

    /// Over sockets: a port that nobody listens on.
    private static func refusedPort() async throws {
        let service = try patient("http://127.0.0.1:1/", allowing: ["127.0.0.0/8"])
        let outcome = await service.outcome(of: .book(7))
        try expect(outcome.failure?.kind == .connectionRefused, "an unreachable host is a failure at the end")
        try expect(outcome.attempts.count == 4, "after four attempts")
        try expect(outcome.attempts.dropLast().allSatisfy { $0.rule == "backoff" }, "with waits between them")
    }

    private static func lowData() async throws {
        let policy = try adaptive("https://img.example/full/", "https://img.example/low/")
        for isConstrained in [false, true] {
            let (service, script, _) = try scripted(
                policy,
                [.answer(200), .answer(500)],
                isConstrained: { isConstrained }
            )
            _ = try await service.execute(Request(.get, "7.png"))
            let base = isConstrained ? "/low/" : "/full/"
            try expect(script.sent[0].target == base + "7.png", "constrained \(isConstrained): \(base)")
            let failed = await service.outcome(of: Request(.get, "7.png")).failure
            try expect(failed?.status == 500 && script.sent.count == 2, "and no other failure leads there")
        }
    }
}
