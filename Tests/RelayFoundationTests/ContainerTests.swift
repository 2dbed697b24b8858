import FoundationEssentials
import RelayFoundation
import RelayJSON
import RelayKit
import RelayTestSupport
import Testing

@Suite("Values under a root key", .timeLimit(.minutes(5)))
struct ContainerTests {
    @Test("An object under the root key is the value", .clauses("T-70"))
    func object() async throws {
        let request = PlainRequest<Book>(.get, "books/7", container: "/data")
        let book = try await value(of: request, answer: #"{"data":{"id":7,"title":"Emma"}}"#)
        #expect(book == Book(id: 7, title: "Emma"))
    }

    @Test("An array under the root key is the values, in order", .clauses("T-71"))
    func array() async throws {
        let request = PlainRequest<[Book]>(.get, "books", container: "/data")
        let books = try await value(
            of: request,
            answer: #"{"data":[{"id":2,"title":"B"},{"id":1,"title":"A"}]}"#
        )
        #expect(books.map(\.id) == [2, 1])
    }

    @Test("An object where an array is wanted is said to be no array", .clauses("T-72"))
    func objectForArray() async throws {
        let request = PlainRequest<[Book]>(.get, "books", container: "/data")
        let found = try #require(await failure(of: request, answer: #"{"data":{"id":7,"title":"Emma"}}"#))
        #expect(found.kind == .decoding)
        #expect(found.detail.hasPrefix("the answer could not be read as Array<Book>: no Array"))
        #expect(found.detail.hasSuffix(" at /data"))
    }

    @Test("An array where an object is wanted is said to be no object", .clauses("T-72"))
    func arrayForObject() async throws {
        let request = PlainRequest<Book>(.get, "books/7", container: "/data")
        let found = try #require(await failure(of: request, answer: #"{"data":[{"id":7,"title":"Emma"}]}"#))
        #expect(found.kind == .decoding && found.status == 200)
        #expect(found.detail.contains("as Book: no Dictionary") && found.detail.hasSuffix(" at /data"))
    }

    @Test("Other members beside the root key, before and behind it, change nothing", .clauses("T-74"))
    func siblings() async throws {
        let request = PlainRequest<Book>(.get, "books/7", container: "/data")
        let answer =
            #"{"links":{"data":{"id":1}},"data":{"id":7,"title":"Emma","year":1815},"meta":[{"id":2}],"n":null}"#
        #expect(try await value(of: request, answer: answer).id == 7)
    }

    @Test(
        "A member of another type under the root key is named by its place",
        .clauses("T-75"),
        arguments: [
            (#"{"data":{"id":"seven","title":"Emma"}}"#, "no Int at /data/id"),
            (#"{"data":{"id":7,"title":8}}"#, "no String at /data/title"),
            (#"{"data":{"id":7,"title":null}}"#, "null where String is wanted at /data/title"),
            (#"{"data":{"id":7}}"#, "no member title at /data"),
            (#"{"data":{"id":7.5,"title":"Emma"}}"#, "something malformed at or below /data"),
            (#"{"data":"Emma"}"#, "at /data"),
        ]
    )
    func wrongType(answer: String, place: String) async throws {
        let found = try #require(
            await failure(of: PlainRequest<Book>(.get, "books/7", container: "/data"), answer: answer)
        )
        #expect(found.kind == .decoding && found.underlying is DecodingError)
        #expect(found.detail.hasSuffix(place), "\(found.detail)")
        #expect(found.response?.bytes == Array(answer.utf8), "the program can look at the answer")
    }

    @Test("A root key that is missing is named", arguments: ["{}", #"{"Data":1}"#, "[]", "7"])
    func missing(answer: String) async throws {
        let request = PlainRequest<Book>(.get, "books/7", container: "/data")
        #expect(
            try await failure(of: request, answer: answer)?.detail
                == "the answer could not be read as Book: it has nothing at /data"
        )
    }

    @Test(
        "A value that is put into a container is read back from it",
        .clauses("T-79"),
        arguments: ["/data", "/a/b/c", "/", "/a~1b/c~0d", "/\u{E9}\"\\", ""] as [JSONPointer]
    )
    func roundTrip(container: JSONPointer) async throws {
        let book = Book(id: -3, title: "\"\\/\u{1F600}\n\u{0}é")
        let content = try Content.json(book, container: container)
        #expect(content.mediaType == "application/json")
        guard case .bytes(let bytes) = content.body else { throw Failure(.decoding, sent: .neverSent, "") }
        let text = String(decoding: bytes, as: UTF8.self)
        let back = try await value(of: PlainRequest<Book>(.get, "echo", container: container), answer: text)
        #expect(back == book)
    }

    @Test("A text from elsewhere is read from its container and written as it was", .clauses("T-79"))
    func roundTripBack() async throws {
        let text = #"{"data":{"id":7,"title":"a/b"}}"#
        let book = try await value(of: PlainRequest<Book>(.get, "books/7", container: "/data"), answer: text)
        guard case .bytes(let bytes) = try Content.json(book, container: "/data").body else { return }
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test("The content of a request goes out with its media type, members in the order of their names")
    func sent() async throws {
        let (service, transport) = try service(answering: "")
        let content = try Content.json(["b": 1, "a": 2, "c": 3], container: "/data")
        try await service.execute(PlainRequest<Void>(.post, "books", content: content))
        let sent = try #require(transport.sent.first)
        guard case .bytes(let bytes) = sent.body else { throw Failure(.decoding, sent: .neverSent, "") }
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"data":{"a":2,"b":1,"c":3}}"#)
        #expect(sent.fields.pairs.contains { $0.name == "Content-Type" && $0.value == "application/json" })
    }

    @Test("A value that JSON cannot say is refused where it is written")
    func unsayable() {
        #expect(throws: EncodingError.self) { try Content.json([Double.infinity]) }
    }
}
