import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Content codings", .timeLimit(.minutes(5)))
struct ContentCodingTests {
    private static let lookers: [@Sendable (inout RoutePolicy) -> Void] = [
        { $0.success.require = [BodyCheck(pointer: pointer("/ok"), condition: .exists(true))] },
        { $0.apiError = APIErrorRule(require: [pointer("/error")]) }, { $0.response.expectsJSON = true },
        { $0.response.unwrap = pointer("/ok") },
    ]

    private func failure(_ codings: [String], _ change: (inout RoutePolicy) -> Void) async -> Failure? {
        let bench = Bench([.answer(200, codings.map { ("Content-Encoding", $0) }, #"{"ok":true}"#)])
        return await bench.perform(on: makeRoute(change)).failure
    }

    @Test(
        "An answer that cannot be looked into is named so, and is no success; where nothing looks any coding passes",
        arguments: [
            (["br"], "the coding br"), (["ZSTD"], "the coding zstd"), (["gzip, br"], "the codings gzip, br"),
            (["gzip", "br"], "the codings gzip, br"), (["canary-7"], "a coding of its own"),
            (["identity"], nil),
        ] as [([String], String?)]
    )
    func unread(codings: [String], named: String?) async {
        for looker in Self.lookers {
            let failure = await failure(codings, looker)
            #expect(failure?.kind == named.map { _ in .httpResponseContentCoding })
            #expect(
                failure?.detail
                    == named.map {
                        "the answer is in \($0), which the relay cannot look into; ask the upstream for gzip or identity"
                    }
            )
        }
        #expect(await failure(codings) { _ in } == nil)
    }

    @Test(
        "Where the relay looks it asks for what it can read, and elsewhere the caller does",
        arguments: [
            (false, false, "br, zstd"), (true, false, "gzip, deflate"), (true, true, "identity"),
        ]
    )
    func asked(inspects: Bool, isRanged: Bool, expected: String) async throws {
        var fields = HeaderFields()
        fields.append("Accept-Encoding", "br, zstd")
        if isRanged { fields.append("Range", "bytes=0-9") }
        let bench = Bench([.answer(200, [], #"{"ok":true}"#)])
        _ = await bench.perform(on: makeRoute { $0.response.expectsJSON = inspects }, fields: fields)
        #expect(try #require(bench.transport.sent.first).allFields.values(.acceptEncoding) == [expected])
    }

    @Test("A body that is too large to be looked into names the limit that struck", arguments: [false, true])
    func limit(isInspected: Bool) async {
        let bench = Bench([.answer(200, [], String(repeating: " ", count: 400))])
        let outcome = await bench.perform(
            on: makeRoute {
                $0.response.expectsJSON = true
                $0.success.inspectLimit = isInspected ? 100 : 1_000
                $0.limits.body = isInspected ? 1_000 : 100
            }
        )
        let key = isInspected ? "success.inspect_limit" : "limits.max_response_body"
        #expect(outcome.failure?.kind == .httpResponseBodySize)
        #expect(outcome.failure?.detail.contains("larger than 100 bytes; raise \(key)") == true)
    }
}
