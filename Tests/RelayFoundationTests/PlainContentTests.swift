import Foundation
import RelayFoundation
import RelayJSON
import RelayKit
import RelayTestSupport
import Testing

@Suite("Content that is the value", .timeLimit(.minutes(5)))
struct PlainContentTests {
    private static let text = "\"kö\" [1,"

    @Test("Bytes mean bytes and text means text, whatever they look like")
    func plain() async throws {
        #expect(try await value(of: PlainRequest<String>(.get, "x"), answer: Self.text) == Self.text)
        #expect(
            try await value(of: PlainRequest<[UInt8]>(.get, "x"), answer: Self.text) == Array(Self.text.utf8)
        )
        #expect(
            try await value(of: PlainRequest<ArraySlice<UInt8>>(.get, "x"), answer: Self.text)
                == Array(Self.text.utf8)[...]
        )
        #expect(
            try await value(of: PlainRequest<ContiguousArray<UInt8>>(.get, "x"), answer: Self.text)
                == ContiguousArray(Self.text.utf8)
        )
        #expect(try await value(of: PlainRequest<Data>(.get, "x"), answer: Self.text) == Data(Self.text.utf8))
        #expect(try await value(of: PlainRequest<Data?>(.get, "x"), answer: Self.text)?.count == 9)
    }

    @Test("So they do where only a generic function knows the type")
    func generic() async throws {
        func load<Value: Decodable & Sendable>(_ type: Value.Type) async throws -> Value {
            try await value(of: PlainRequest<Value>(.get, "x"), answer: Self.text)
        }
        #expect(try await load(String.self) == Self.text)
        #expect(try await load([UInt8].self) == Array(Self.text.utf8))
        #expect(try await load(Data.self) == Data(Self.text.utf8))
        #expect(try await load(String?.self) == Self.text)
    }

    @Test("In a container, or with a decoder, they stand in JSON")
    func inJSON() async throws {
        let contained = PlainRequest<String>(.get, "x", container: "/data")
        #expect(try await value(of: contained, answer: #"{"data":"a\u00e9"}"#) == "aé")
        let decoded = PlainRequest<Data>(.get, "x", decoder: JSONDecoder())
        #expect(try await value(of: decoded, answer: #""aGk=""#) == Data("hi".utf8))
    }

    @Test("An empty answer is no bytes, an empty text, or nil")
    func empty() async throws {
        #expect(try await value(of: PlainRequest<String>(.get, "x"), answer: "") == "")
        #expect(try await value(of: PlainRequest<[UInt8]>(.get, "x"), answer: "") == [])
        #expect(try await value(of: PlainRequest<Data>(.get, "x"), answer: "") == Data())
        #expect(try await value(of: PlainRequest<String?>(.get, "x"), answer: "") == nil)
    }

    @Test("Content that is not UTF-8 is refused as text, which a rule may act on")
    func notText() async throws {
        let success = TransportSuccess(
            request: HTTPRequest(method: .get, target: "x"),
            response: HTTPResponse(status: 200, body: .bytes([0x61, 0xFF]))
        )
        let found = #expect(throws: DecodingError.self) { try String(content: success.response.bytes) }
        #expect(found != nil)
        let marked = try String(content: [0xEF, 0xBB, 0xBF, 0x61])
        #expect(marked == "a")
    }

    @Test("Any sequence of bytes is content")
    func contents() throws {
        let data = try JSONEncoder().encode(Book(id: 1, title: "A"))
        for body in [Content.raw(data).body, Body(data), Body(data[...]), Body(Array(data))] {
            guard case .bytes(let bytes) = body else { throw Failure(.decoding, sent: .neverSent, "") }
            #expect(Data(bytes) == data)
        }
        #expect(CannedAnswer(bytes: data).bytes.count == data.count)
        #expect(CannedAnswer(bytes: "{}".utf8).bytes == [0x7B, 0x7D])
    }

    @Test("A failure says what it is wherever Foundation asks")
    func localized() {
        var failure: any Error = Failure(.dnsError, sent: .neverSent, "cannot look up nowhere.example")
        #expect(failure.localizedDescription == "dns_error: cannot look up nowhere.example")
        failure = Refusal("two upstreams have one name", hint: "name them differently")
        #expect(failure.localizedDescription == "two upstreams have one name: name them differently")
    }

    @Test("A query may be made of Foundation's items")
    func queryItems() {
        let items = [URLQueryItem(name: "q", value: "a b"), URLQueryItem(name: "bare", value: nil)]
        #expect(HTTPRequest.target("x", query: Pairs(items)) == "x?q=a%20b&bare")
    }

    @Test(
        "A missing place and broken JSON are told as a decoder tells them, with the type that was wanted",
        .clauses("G1-09", "AX-07"),
        arguments: [
            ("{}", "it has nothing at /data"),
            (#"{"data": "#, "it is not JSON at byte 9: the text ends where a value is expected"),
            ("<html>", #"it is not JSON at byte 0: expected a value, found "<""#),
            (
                #"{"data":{"id":1},"data":{"id":2}}"#,
                "it has two members of one name in one object, at byte 17"
            ),
        ]
    )
    func mislaid(answer: String, reason: String) async throws {
        let found = try #require(
            await failure(of: PlainRequest<Book>(.get, "x", container: "/data"), answer: answer)
        )
        #expect(found.kind == .decoding && found.wantedType == Book.self)
        #expect(found.detail == "the answer could not be read as Book: \(reason)")
        let error = try #require(found.underlying as? DecodingError)
        switch error {
        case .keyNotFound(let key, _): #expect(answer == "{}" && key.stringValue == "data")
        case .dataCorrupted(let context): #expect(context.underlyingError is JSONError)
        default: Issue.record("\(error)")
        }
    }

    @Test("A decoder's failure names the type that was wanted", .clauses("G1-09"))
    func wantedType() async throws {
        let found = try #require(await failure(of: PlainRequest<[Book]>(.get, "x"), answer: #"[{"id":1}]"#))
        #expect(found.wantedType == [Book].self && found.underlying is DecodingError)
    }

    struct Fault: Error, Decodable { var code: String }

    @Test("A byte order mark hides neither a value nor an error document")
    func byteOrderMark() async throws {
        let book = "\u{FEFF}" + #"{"data":{"id":7,"title":"A"}}"#
        #expect(try await value(of: PlainRequest<Book>(.get, "x", container: "/data"), answer: book).id == 7)
        let bare = "\u{FEFF}" + #"{"id":7,"title":"A"}"#
        #expect(try await value(of: PlainRequest<Book>(.get, "x"), answer: bare).id == 7)
        var request = PlainRequest<HTTPResponse>(.get, "x")
        request.errorDocument = ErrorDocument(Fault.self, at: "/error")
        let found = try await failure(of: request, answer: "\u{FEFF}" + #"{"error":{"code":"gone"}}"#)
        #expect(found?.kind == .apiError && (found?.underlying as? Fault)?.code == "gone")
    }
}
