import FoundationEssentials
import RelayFoundation
import RelayKit
import RelayTestSupport
import Testing

@Suite("A service's decoder and encoder", .timeLimit(.minutes(5)))
struct ServiceCodersTests {
    private struct Loan: Codable, Equatable, Sendable {
        var bookNumber: Int
    }

    private struct Complaint: Error, Decodable, Equatable {
        var errorCode: String
    }

    private static var snakes: (JSONDecoder, JSONEncoder) {
        let (decoder, encoder) = (JSONDecoder(), JSONEncoder())
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return (decoder, encoder)
    }

    private func bench(
        _ text: String,
        coders: Bool = true,
        rules: [RecoveryRule] = []
    ) throws -> (RelayService, ScriptedTransport) {
        let time = VirtualTime()
        let transport = ScriptedTransport(time: time) { _ in .answer(200, [], text) }
        var policy = RoutePolicy(upstreams: [try Upstream("https://books.example/api/")])
        policy.recovery = rules
        let service = try RelayService(
            policy,
            transport: transport,
            time: time,
            entropy: SeededEntropy(),
            decoder: coders ? Self.snakes.0 : nil,
            encoder: coders ? Self.snakes.1 : nil
        )
        return (service, transport)
    }

    private static let loan = #"{"book_number":7}"#

    @Test("Requests that name no decoder are read with the service's, one that names one with its own")
    func decoder() async throws {
        let (service, _) = try bench(Self.loan)
        #expect(try await service.execute(Request(.get, "x")) == Loan(bookNumber: 7))
        let (contained, _) = try bench(#"{"data":{"book_number":7}}"#)
        #expect(try await contained.execute(Request(.get, "x", container: "/data")) == Loan(bookNumber: 7))
        let own = PlainRequest<Loan>(.get, "x", decoder: JSONDecoder())
        #expect(await service.outcome(of: own).failure?.kind == .decoding)
        // Bytes and text are no JSON, whatever reads that.
        #expect(try await service.execute(PlainRequest<String>(.get, "x")) == Self.loan)
        let (plain, _) = try bench(Self.loan, coders: false)
        #expect(await plain.outcome(of: PlainRequest<Loan>(.get, "x")).failure?.kind == .decoding)
    }

    @Test("An error document that names no decoder is read with the service's")
    func document() async throws {
        let (service, _) = try bench(#"{"error":{"error_code":"gone"}}"#)
        var request = Request(.get, "x")
        request.errorDocument = ErrorDocument(Complaint.self, at: "/error")
        #expect(
            await service.outcome(of: request).failure?.underlying as? Complaint
                == Complaint(errorCode: "gone")
        )
    }

    @Test("Content that names no encoder is written with the service's, and no other content is touched")
    func encoder() async throws {
        let (service, transport) = try bench("{}")
        let loan = Loan(bookNumber: 7)
        let json = Request(.post, "x", content: try .json(loan))
        _ = try await service.execute(json)
        _ = try await service.execute(json.map { $0 }.addingHeaders(["X": "1"]))
        _ = try await service.execute(json.usingContent(try .json(loan, container: "/data")))
        _ = try await service.execute(Request(.post, "x", content: try .json(loan, encoder: JSONEncoder())))
        var other = json
        other.http.body = .bytes(Array("other".utf8))
        _ = try await service.execute(other)
        _ = try await service.execute(json.usingContent(.text("text")))
        #expect(
            transport.sent.map(\.text) == [
                Self.loan, Self.loan, #"{"data":{"book_number":7}}"#, #"{"bookNumber":7}"#, "other", "text",
            ]
        )
        let (plain, sent) = try bench("{}", coders: false)
        _ = try await plain.execute(json)
        #expect(sent.sent.map(\.text) == [#"{"bookNumber":7}"#])
    }

    @Test("A strategy's request is written with the service's encoder too")
    func again() async throws {
        let other = Request(.post, "y", content: try .json(Loan(bookNumber: 8))).map { _ in
            Loan(bookNumber: 8)
        }
        let (service, transport) = try bench(
            "<html>",
            rules: [
                .recovering(on: [.decoding], methods: .any) { (_: FailedRequest<Loan, Failure>, _) in
                    .retry(other)
                }
            ]
        )
        let loan: Loan = try await service.execute(Request(.get, "x"))
        #expect(loan.bookNumber == 8 && transport.sent.last?.text == #"{"book_number":8}"#)
    }

    @Test("Content that the service's encoder does not take is never sent")
    func unwritable() async throws {
        struct Picky: ContentEncoder {
            func encodeContent(_ value: some Encodable) throws -> [UInt8] { throw Complaint(errorCode: "no") }
        }
        let time = VirtualTime()
        let transport = ScriptedTransport(time: time) { _ in .answer(200) }
        let service = try RelayService(
            RoutePolicy(upstreams: [try Upstream("https://books.example/")]),
            transport: transport,
            time: time,
            entropy: SeededEntropy(),
            encoder: Picky()
        )
        let failure = await service.outcome(of: Request(.post, "x", content: try .json(7))).failure
        #expect(failure?.kind == .preparation && failure?.underlying is Complaint && transport.sent.isEmpty)
    }
}
