import RelayKit
import RelayTestSupport
import Testing

@Suite("Content codings", .timeLimit(.minutes(5)))
struct ContentCodingTests {
    private func failure(
        _ codings: [String],
        _ change: @escaping (inout RoutePolicy) -> Void
    ) async -> Failure? {
        let bench = Bench([.answer(200, codings.map { ("Content-Encoding", $0) }, #"{"ok":true}"#)])
        return await bench.perform(on: makeRoute(change)).failure
    }

    @Test(
        "An answer that cannot be looked into is named so, and is no success",
        arguments: [
            (["br"], "the coding br"), (["ZSTD"], "the coding zstd"), (["gzip, br"], "the codings gzip, br"),
            (["gzip", "br"], "the codings gzip, br"), (["canary-7"], "a coding of its own"),
        ]
    )
    func unread(codings: [String], named: String) async {
        let changes: [(inout RoutePolicy) -> Void] = [
            { $0.success.require = [BodyCheck(pointer: pointer("/ok"), condition: .exists(true))] },
            { $0.apiError = APIErrorRule(require: [pointer("/error")]) }, { $0.response.expectsJSON = true },
            { $0.response.unwrap = pointer("/ok") },
        ]
        for change in changes {
            let failure = await failure(codings, change)
            #expect(failure?.kind == .httpResponseContentCoding)
            #expect(
                failure?.detail
                    == "the answer is in \(named), which the relay cannot look into; ask the upstream for gzip or identity"
            )
        }
    }

    @Test("Where nothing is looked into any coding passes, and identity is none")
    func passes() async {
        #expect(await failure(["br"]) { _ in } == nil)
        #expect(await failure(["identity"]) { $0.response.expectsJSON = true } == nil)
    }

    @Test("Where the relay looks it asks for what it can read, and elsewhere the caller does")
    func asked() async throws {
        var fields = HeaderFields()
        fields.append("Accept-Encoding", "br, zstd")
        for (inspects, ranged, expected) in [
            (false, false, "br, zstd"), (true, false, "gzip, deflate"), (true, true, "identity"),
        ] {
            var fields = fields
            if ranged { fields.append("Range", "bytes=0-9") }
            let bench = Bench([.answer(200, [], #"{"ok":true}"#)])
            _ = await bench.perform(on: makeRoute { $0.response.expectsJSON = inspects }, fields: fields)
            #expect(try #require(bench.transport.sent.first).allFields.values(.acceptEncoding) == [expected])
        }
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
        #expect(outcome.failure?.detail.contains("larger than 100 bytes; raise \(key)") == true)
    }

    @Test("A program that names no agent is told as the library, and one that does is left alone")
    func agent() async throws {
        var own = HeaderFields()
        own.append("User-Agent", "mine/1")
        let time = VirtualTime()
        for (fields, expected) in [(HeaderFields(), Version.libraryUserAgent), (own, "mine/1")] {
            let transport = ScriptedTransport([.answer(200)], time: time)
            let service = try RelayService(
                RoutePolicy(upstreams: [try Upstream("https://one.example/")]),
                transport: transport,
                time: time,
                entropy: SeededEntropy()
            )
            var request = Request<Void>(.get, "x")
            request.http.fields = fields
            try await service.execute(request)
            #expect(try #require(transport.sent.first).allFields.values(.userAgent) == [expected])
        }
    }
}
