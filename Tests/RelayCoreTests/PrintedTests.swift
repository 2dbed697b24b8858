import RelayBase
import Testing

@Suite("Values that are printed, and show no secret")
struct PrintedTests {
    private static func fields() -> HeaderFields {
        var fields = HeaderFields()
        fields.append("Authorization", "Bearer hidden")
        fields.append("X-Empty", "")
        return fields
    }

    private static func printed(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped]
    }

    @Test("Values print as one line that tells what they are")
    func lines() {
        let response = HTTPResponse(status: 404, fields: Self.fields(), body: .bytes(Array("hidden".utf8)))
        let request = HTTPRequest(method: .get, target: "books/7?key=hidden", fields: Self.fields())
        #expect("\(FailureKind.httpStatus)" == "http_status")
        #expect("\(Self.fields())" == "[Authorization: 13 bytes, X-Empty: 0 bytes]")
        #expect("\(response)" == "404 Not Found [Authorization: 13 bytes, X-Empty: 0 bytes] 6 bytes")
        #expect("\(request)" == "GET books/7 [Authorization: 13 bytes, X-Empty: 0 bytes] no content")
        var exchange = Exchange(address: "192.0.2.1:443")
        exchange.connect = .milliseconds(5)
        exchange.firstByte = .seconds(1)
        #expect("\(exchange)" == "192.0.2.1:443, connect 0.005 seconds, first byte 1.0 seconds")
        #expect("\(Exchange())" == "nothing dialled")
    }

    @Test("Neither values of fields nor content nor a query is printed, however it is printed")
    func secrets() {
        let response = HTTPResponse(status: 200, fields: Self.fields(), body: .bytes(Array("hidden".utf8)))
        let request = HTTPRequest(method: .get, target: "books/7?key=hidden", fields: Self.fields())
        for text in Self.printed(response) + Self.printed(Self.fields()) + ["\(request)"] {
            // The second is the beginning of the word as numbers.
            #expect(!text.contains("hidden") && !text.contains("104, 105") && !text.contains("- 104"))
        }
    }

    @Test("A failure tells the type of what is behind it, and the upstream's code, each once")
    func failures() {
        struct Secretive: Error { let text = "hidden" }
        var failure = Failure(.invalidResponse, sent: .answered, "not as wanted")
        #expect("\(failure)" == "invalid_response: not as wanted")
        failure.apiCode = "gone"
        failure.underlying = Secretive()
        #expect("\(failure)" == "invalid_response: not as wanted (code gone) (underlying: Secretive)")
        failure.detail = "the upstream's error (code gone)"
        failure.underlying = nil
        #expect("\(failure)" == "invalid_response: the upstream's error (code gone)")
    }
}
