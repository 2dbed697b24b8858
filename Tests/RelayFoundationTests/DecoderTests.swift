import FoundationEssentials
import RelayFoundation
import RelayJSON
import RelayKit
import RelayTestSupport
import Testing

@Suite("Values that Foundation's decoder reads", .timeLimit(.minutes(5)))
struct DecoderTests {
    struct Loan: Codable, Equatable {
        var due: Date
    }

    static let loan = #"{"data":{"due":"2001-01-01T00:01:00Z"}}"#

    @Test("A date is read by a decoder that was told its form", .clauses("T-73"))
    func configured() async throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let request = PlainRequest<Loan>(.get, "loans/1", decoder: decoder, container: "/data")
        #expect(
            try await value(of: request, answer: Self.loan).due == Date(timeIntervalSinceReferenceDate: 60)
        )
    }

    @Test("The default decoder wants dates as numbers, and says which one is none", .clauses("T-73"))
    func defaults() async throws {
        let request = PlainRequest<Loan>(.get, "loans/1", container: "/data")
        let found = try #require(await failure(of: request, answer: Self.loan))
        #expect(found.detail == "the answer could not be read as Loan: no Double at /data/due")
    }

    @Test("A date of a form the decoder does not know is malformed, and the message does not repeat it")
    func strangeDate() async throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let request = PlainRequest<Loan>(.get, "loans/1", decoder: decoder)
        let found = try #require(await failure(of: request, answer: #"{"due":"tomorrow"}"#))
        #expect(
            found.detail == "the answer could not be read as Loan: something malformed at or below its root"
        )
    }

    @Test(
        "A failure never repeats what the answer holds, its dictionaries' keys included",
        arguments: [
            #"{"secret":{"inner":"secret"}}"#, #"{"secret":["secret"]}"#, #"{"7":{"inner":1,"0":"secret"}}"#,
            #"{"Index 1":{"inner":"secret"}}"#, #"{"secret":"secret"}"#, #"{"secret":null}"#,
        ]
    )
    func silent(answer: String) async throws {
        let request = PlainRequest<[String: [String: Int]]>(.get, "words")
        let found = try #require(await failure(of: request, answer: answer))
        #expect(!found.detail.contains("secret") && !found.detail.contains("inner"))
        #expect(found.detail.contains(" at /*"), "\(found.detail)")
    }

    @Test("An element of an array is named by its index")
    func index() async throws {
        let request = PlainRequest<[Book]>(.get, "books")
        let answer = #"[{"id":1,"title":"A"},{"id":2,"title":{}}]"#
        #expect(
            try await failure(of: request, answer: answer)?.detail
                == "the answer could not be read as Array<Book>: no String at /1/title"
        )
    }

    @Test(
        "Big numbers are exact or refused, never bent",
        arguments: [
            ("9223372036854775807", Int64.max), ("-9223372036854775808", .min),
            ("9007199254740993", 9_007_199_254_740_993),
            ("9223372036854775808", nil), ("1e400", nil), ("7.5", nil), ("1e3", 1000),
        ] as [(String, Int64?)]
    )
    func numbers(text: String, number: Int64?) async throws {
        for (answer, container) in [(text, nil), (#"{"data":\#(text)}"#, "/data")] as [(String, String?)] {
            let request =
                container == nil
                ? PlainRequest<Int64>(.get, "n") : PlainRequest<Int64>(.get, "n", container: "/data")
            if let number {
                #expect(try await value(of: request, answer: answer) == number)
            } else {
                let found = try #require(await failure(of: request, answer: answer))
                #expect(found.kind == .decoding && !found.detail.contains(text))
            }
        }
    }

    @Test(
        "Bytes that are no UTF-8 are a decoding failure, with a container or without one",
        arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]]
    )
    func notUTF8(bytes: [UInt8]) throws {
        let text = Array(#"{"data":""#.utf8) + bytes + Array(#""}"#.utf8)
        let success = TransportSuccess(
            request: HTTPRequest(method: .get, target: "x"),
            response: HTTPResponse(status: 200, body: .bytes(text))
        )
        let found = #expect(throws: Failure.self) { try success.content(at: "/data") }
        #expect(found?.detail.hasPrefix("the answer is not JSON at byte 9: ") == true)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decodeContent([String: String].self, from: text)
        }
    }

    /// As deep as the text goes.
    struct Nest: Decodable {
        var inner: [Nest]

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            inner = []
            while !list.isAtEnd { inner.append(try list.decode(Nest.self)) }
        }
    }

    @Test("Nesting of any depth ends in a value or a failure", arguments: [60, 65, 500, 513, 100_000])
    func depth(levels: Int) async throws {
        let text = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let bare = try await failure(of: PlainRequest<Nest>(.get, "deep"), answer: text)
        #expect(bare?.kind == (levels > 512 ? .decoding : nil))
        let contained = try await failure(
            of: PlainRequest<Nest>(.get, "deep", container: "/data"),
            answer: #"{"data":\#(text)}"#
        )
        #expect(contained?.kind == (levels >= 64 ? .decoding : nil))
        if levels >= 64 { #expect(contained?.detail.contains("it is not JSON at byte ") == true) }
    }

    @Test("A mismatch far below is named by a place that is cut")
    func longPlace() async throws {
        let text = String(repeating: "[", count: 400) + "1" + String(repeating: "]", count: 400)
        let found = try #require(await failure(of: PlainRequest<Nest>(.get, "deep"), answer: text))
        #expect(found.detail.hasSuffix("/0/0/0/…") && found.detail.utf8.count < 200, "\(found.detail)")
    }

    @Test(
        "An empty answer where a value is wanted has a name of its own, and says which type was wanted",
        .clauses("G1-05"),
        arguments: [nil, "/data"] as [JSONPointer?]
    )
    func empty(container: JSONPointer?) async throws {
        let request = PlainRequest<Book>(.get, "b", container: container)
        let found = try #require(await failure(of: request, answer: ""))
        #expect(found.kind == .emptyResponse && found.detail == "the answer is empty where Book is wanted")
        #expect(found.underlying is DecodingError && found.wantedType == Book.self)
    }

    @Test("An empty answer is nil where that is a value", arguments: [nil, "/data"] as [JSONPointer?])
    func emptyOptional(container: JSONPointer?) async throws {
        let request = PlainRequest<Book?>(.get, "b", container: container)
        #expect(try await value(of: request, answer: "") == nil)
        let book = container == nil ? #"{"id":7,"title":"A"}"# : #"{"data":{"id":7,"title":"A"}}"#
        #expect(try await value(of: request, answer: book)?.id == 7)
        #expect(try await value(of: request, answer: container == nil ? "null" : #"{"data":null}"#) == nil)
        #expect(try await failure(of: request, answer: "[")?.kind == .decoding)
    }
}
