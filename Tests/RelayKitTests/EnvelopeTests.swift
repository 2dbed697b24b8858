import RelayJSON
import RelayKit
import RelayTestSupport
import Testing

@Suite("Values in envelopes", .timeLimit(.minutes(5)))
struct EnvelopeTests {
    private func outcome<Value: Shape>(
        _ type: Value.Type,
        at container: String?,
        _ body: String,
        policy change: (inout RoutePolicy) -> Void = { _ in }
    ) async throws -> PlainOutcome<Value> {
        let bench = try ServiceBench([.answer(200, [], body)], policy: change)
        let request = PlainRequest<Value>(
            .get,
            "books",
            decoder: ShapeCoder(),
            container: container.map { pointer($0) }
        )
        return await bench.service.outcome(of: request)
    }

    @Test(
        "An object is taken out of its envelope, whatever stands beside it",
        .clauses("AX-07", "T-70", "T-74"),
        arguments: [
            (nil, #"{"title":"T"}"#), ("/data", #"{"data":{"title":"T"}}"#),
            ("/data", #"{"meta":[1,{"data":2}],"data":{"title":"T","pages":3},"next":null}"#),
            ("/result/0/book", #"{"result":[{"book":{"title":"T"}},7]}"#),
            ("/a~1b", #"{"a/b":{"title":"T"}}"#), ("/", #"{"":{"title":"T"}}"#),
        ] as [(String?, String)]
    )
    func object(container: String?, body: String) async throws {
        #expect(try await outcome(Book.self, at: container, body).value == Book(title: "T"))
    }

    @Test(
        "An array is taken out of its envelope, and an object where one is wanted is not",
        .clauses("AX-07", "T-71", "T-72")
    )
    func array() async throws {
        let object = try await outcome([Book].self, at: "/data", #"{"data":{"title":"T"}}"#).failure
        #expect(object?.kind == .decoding && (object?.underlying as? Misshapen)?.wanted == "array")
        let found = try await outcome([Book].self, at: "/data", #"{"data":[{"title":"A"},{"title":"B"}]}"#)
        #expect(found.value == [Book(title: "A"), Book(title: "B")])
        #expect(try await outcome([Book].self, at: "/data", #"{"data":[]}"#).value == [])
    }

    @Test(
        "Content that is missing, of another shape or no JSON is not decoded, though the status was 200",
        .clauses("AX-07", "G1-10", "T-02", "T-72", "T-75", "T-98"),
        arguments: [
            #"{"data":[{"title":"T"}]}"#, #"{"data":"T"}"#, #"{"data":null}"#, #"{"data":{"title":1}}"#,
            #"{"data":{}}"#, #"{"title":"T"}"#, #"[{"title":"T"}]"#, "null", "", "<html>",
            #"{"data":{"title":"T"}"#, #"{"data":{"title":"T"}} trailing"#,
        ]
    )
    func misshapen(body: String) async throws {
        let failure = try #require(try await outcome(Book.self, at: "/data", body).failure)
        #expect(failure.kind == (body.isEmpty ? .emptyResponse : .decoding) && failure.status == 200)
        #expect(failure.response?.text == body && failure.request?.target == "books")
        #expect(failure.underlying != nil && failure.detail.contains("Book"))
        #expect(!failure.detail.contains("html"))
    }

    @Test(
        "A failure that passes through a program's code is not wrapped again",
        .clauses("T-99", "G1-07"),
        arguments: ["prepare", "validate", "read", "document", "map"]
    )
    func neverNested(stage: String) async throws {
        let own = Failure("quota", sent: .answered, "used up")
        var request = Request(HTTPRequest(method: .get, target: "x")) { _ in
            if stage == "read" { throw own }
            return 1
        }
        switch stage {
        case "prepare": request.preparation = [Prepare(.job) { _, _ in throw own }]
        case "validate": request.successValidator = { _ in throw own }
        case "document": request.errorDocument = ErrorDocument(reading: { _ in own })
        case "map": request = request.map { _ in throw own }
        default: break
        }
        let bench = try ServiceBench([.answer(200)])
        let failure = try #require(await bench.failure(of: request))
        #expect(failure.detail == "used up" && failure.underlying == nil)
        // Preparation keeps its own name: no rule may act on it.
        #expect(failure.kind == (stage == "prepare" ? .preparation : "quota"))
        #expect(failure.request?.target == "x" && (stage == "prepare") == (failure.response == nil))
    }

    @Test(
        "The policy takes values out of envelopes as well, before the request reads them",
        .clauses("AX-07")
    )
    func policyUnwraps() async throws {
        let unwraps: (inout RoutePolicy) -> Void = { $0.response.unwrap = pointer("/data") }
        let found = try await outcome(
            Book.self,
            at: "/book",
            #"{"data":{"book":{"title":"T"}}}"#,
            policy: unwraps
        )
        #expect(found.value == Book(title: "T"))
        let missing = try await outcome(Book.self, at: nil, #"{"title":"T"}"#, policy: unwraps)
        #expect(missing.failure?.kind == .decoding && missing.failure?.response != nil)
    }

    @Test(
        "The value that is decoded and the value that the caller gets may be of two types",
        .clauses("AX-08")
    )
    func rootAndContent() async throws {
        let bench = try ServiceBench([.answer(200, [], #"[{"title":"A"},{"title":"B"}]"#), .answer(500)])
        let request = PlainRequest<[Book]>(.get, "books", decoder: ShapeCoder()).map { books in
            books.map(\.title)
        }
        #expect(try await bench.service.execute(request) == ["A", "B"])
        #expect(await bench.failure(of: request)?.kind == .httpStatus)
    }

    @Test("A value that is sent in an envelope comes back out of it", .clauses("T-58", "T-79"))
    func roundTrip() async throws {
        let bare = try Content.json(Book(title: "T"), encoder: ShapeCoder(), container: pointer(""))
        #expect(bare.body.text == #"{"title":"T"}"#)
        let book = Book(title: "A \"quoted\" \u{1F4D6} title")
        let bench = try ServiceBench([], answer: { .answer(201, [], $0.text ?? "") })
        let request = PlainRequest<Book>(
            .post,
            "books",
            content: try .json(book, encoder: ShapeCoder(), container: pointer("/data/book")),
            decoder: ShapeCoder(),
            container: pointer("/data/book")
        )
        #expect(try await bench.service.execute(request) == book)
        #expect(bench.transport.sent[0].text?.hasPrefix(#"{"data":{"book":{"#) == true)
        #expect(bench.transport.sent[0].fields[.contentType] == "application/json")
    }

    private struct Unwelcome: Error {}

    @Test(
        "The request chooses what becomes of content that nobody wants",
        .clauses("T-76", "T-77", "T-78"),
        arguments: [
            ("any", "", nil), ("any", "bytes", nil),
            ("validated", "", nil), ("validated", "bytes", "invalid_response"),
            ("custom", "", nil), ("custom", "bytes", "invalid_response"),
        ] as [(String, String, String?)]
    )
    func emptyPolicies(policy: String, body: String, kind: String?) async throws {
        let empty: EmptyBodyPolicy =
            switch policy {
            case "any": .any
            case "validated": .validatedEmpty
            default: .custom { if !$0.response.bytes.isEmpty { throw Unwelcome() } }
            }
        let bench = try ServiceBench([.answer(200, [], body)])
        let failure = await bench.failure(of: PlainRequest<Void>(.post, "x", empty: empty))
        #expect(failure?.kind.rawValue == kind)
        if policy == "custom", kind != nil { #expect(failure?.underlying is Unwelcome) }
    }
}
