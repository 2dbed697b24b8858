import RelayKit
import RelayTestSupport
import Testing

@Suite("Where a request goes", .timeLimit(.minutes(5)))
struct RequestPathTests {
    private func target(_ path: RequestPath, _ query: Pairs<String?> = [:]) async throws -> String {
        let bench = try ServiceBench([.answer(200)])
        _ = try await bench.service.execute(PlainRequest<HTTPResponse>(.get, path, query: query))
        return bench.transport.sent[0].target
    }

    private func failure(_ path: RequestPath) async throws -> Failure? {
        let bench = try ServiceBench([.answer(200)])
        let failure = await bench.service.outcome(of: PlainRequest<HTTPResponse>(.delete, path)).failure
        #expect(failure == nil || bench.transport.sent.isEmpty)
        return failure
    }

    @Test(
        "A value that is put into a path stays one segment of it, whatever it holds",
        arguments: [
            ("7", "7"), ("1?admin=1", "1%3Fadmin%3D1"), ("a/b", "a%2Fb"), ("../x", "..%2Fx"),
            ("a b", "a%20b"),
            ("#", "%23"), ("%2e", "%252e"), ("é", "%C3%A9"), ("a\r\nb", "a%0D%0Ab"), ("...", "..."),
        ]
    )
    func segment(value: String, encoded: String) async throws {
        #expect(try await target("users/\(value)") == "/v1/users/\(encoded)")
        #expect(try await target(["users", value, "orders"]) == "/v1/users/\(encoded)/orders")
        #expect(try await target("search?q=\(value)") == "/v1/search?q=\(encoded)")
        #expect(try await target("users/\(raw: "7?full=1")&q=\(value)") == "/v1/users/7?full=1&q=\(encoded)")
    }

    @Test("Numbers and whatever else describes itself may be segments")
    func described() async throws {
        let (id, name) = (7, Substring("a b"))
        #expect(try await target(["users", id, name, true]) == "/v1/users/7/a%20b/true")
        #expect(try await target("users/\(id)/\(name)") == "/v1/users/7/a%20b")
        #expect(RequestPath(segments: ["x", "y"]).text == "x/y")
    }

    @Test(
        "A segment that would make another path of it is refused, and nothing is sent",
        arguments: ["", ".", ".."]
    )
    func elsewhere(value: String) async throws {
        for path in ["users/\(value)", ["users", value], ["users", value, "x"]] as [RequestPath] {
            let found = try #require(await failure(path), "\(path.text)")
            #expect(found.kind == .preparation && found.sent == .neverSent, "\(found)")
        }
        #expect(try await failure("search?q=\(value)") == nil)
    }

    @Test("A request that goes elsewhere after all is sent, and one derived from a bad one is not")
    func derived() async throws {
        let bad = PlainRequest<HTTPResponse>(.get, "users/\("")")
        let bench = try ServiceBench([.answer(200)])
        #expect(
            await bench.service.outcome(of: bad.map { $0 }.usingHeaders([:])).failure?.kind == .preparation
        )
        #expect(await bench.service.outcome(of: bad.usingTarget("x")).failure == nil)
        #expect(bench.transport.sent.map(\.target) == ["/v1/x"])
    }

    @Test("A query, headers and a form may be made of any pairs")
    func pairs() async throws {
        let tags = ["red", "blue"]
        #expect(try await target("x", Pairs(tags.map { ("tag", $0) })) == "/v1/x?tag=red&tag=blue")
        #expect(try await target("x", Pairs(["q": "a b"] as [String: String])) == "/v1/x?q=a%20b")
        #expect(try await target("x", Pairs(["q": nil] as [String: String?])) == "/v1/x?q")
        #expect(try await target("x", Pairs(tags.map { ($0, nil as String?) })) == "/v1/x?red&blue")
        #expect(try await target("x", Pairs(["a": "1", "a": "2"] as KeyValuePairs)) == "/v1/x?a=1&a=2")
        guard case .bytes(let form) = Content.form(Pairs(tags.map { ("tag", $0) })).body else { return }
        #expect(String(decoding: form, as: UTF8.self) == "tag=red&tag=blue")
        let headers = ["X-A": "1"]
        let request = PlainRequest<HTTPResponse>(.get, "x", headers: Pairs(headers)).addingHeaders(
            Pairs(["X-B": "2"])
        )
        #expect(request.http.fields.pairs.map(\.name) == ["X-A", "X-B"])
    }
}
