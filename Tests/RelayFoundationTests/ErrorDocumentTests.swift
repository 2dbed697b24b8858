import RelayFoundation
import RelayKit
import RelayTestSupport
import Testing

@Suite("An upstream's error documents", .timeLimit(.minutes(5)))
struct ErrorDocumentTests {
    struct Complaint: Error, Decodable, Equatable {
        var code: String
    }

    @Test(
        "A document at its place makes a failure of any status",
        .clauses("AX-03"),
        arguments: [200, 404, 500] as [Status]
    )
    func found(status: Status) async throws {
        var request = PlainRequest<Book>(.get, "books/7", container: "/data")
        request.errorDocument = ErrorDocument(Complaint.self, at: "/error")
        let (service, _) = try service(
            answering: #"{"data":{"id":7,"title":"Emma"},"error":{"code":"sold_out"}}"#,
            status: status
        )
        let failure = try #require(await #expect(throws: Failure.self) { try await service.execute(request) })
        #expect(failure.kind == .apiError && failure.status == status)
        #expect(failure.underlying as? Complaint == Complaint(code: "sold_out"))
        #expect(!failure.detail.contains("sold_out"))
    }

    @Test(
        "A value that stands there and is no such document says nothing",
        arguments: ["null", "7", "{}", "[]"]
    )
    func other(error: String) async throws {
        var request = PlainRequest<Book>(.get, "books/7", container: "/data")
        request.errorDocument = ErrorDocument(Complaint.self, at: "/error")
        let answer = #"{"data":{"id":7,"title":"Emma"},"error":\#(error)}"#
        #expect(try await value(of: request, answer: answer).id == 7)
    }
}
