import RelayBase
import RelayTestSupport
import Testing

@Suite("The words of HTTP that programs use")
struct HTTPValueTests {
    @Test(
        "User name and password are written as Basic wants them",
        .clauses("T-50"),
        arguments: [
            // RFC 7617 §2 and §2.1.
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123\u{A3}", "Basic dGVzdDoxMjPCow=="), ("", "", "Basic Og=="),
            ("a", "b:c", "Basic YTpiOmM="),
        ]
    )
    func basic(user: String, password: String, value: String) throws {
        #expect(try Authorization.basic(user: user, password: password).fieldValue == value)
    }

    @Test(
        "A user or password that Basic cannot carry is refused, and the refusal does not show it",
        .clauses("T-50"),
        arguments: [
            ("us:er", "hidden"), ("user", "hidden\n"), ("user\0", "hidden"), ("user", "\u{7F}hidden"),
        ]
    )
    func badBasic(user: String, password: String) {
        let refusal = #expect(throws: Refusal.self) {
            try Authorization.basic(user: user, password: password)
        }
        #expect(refusal.map { !"\($0)".contains("hidden") && !"\($0)".contains("us:er") } == true)
    }

    @Test(
        "A bearer token is written as it is",
        .clauses("T-51"),
        arguments: ["abc", "mF_9.B5f-4.1JqM", "a/b+c~d==", "eyJhbGciOiJub25lIn0.e30."]
    )
    func bearer(token: String) throws {
        let authorization = try Authorization.bearer(token)
        #expect(authorization.fieldValue == "Bearer " + token && authorization.scheme == "Bearer")
    }

    @Test(
        "A text that is no bearer token is refused, and the refusal does not show it",
        .clauses("T-51"),
        arguments: [
            "", "=", "hidden\r\n", " hidden", "hid den", "hidden=x", "hiddén", "hidden\0", "\"hidden\"",
        ]
    )
    func badBearer(token: String) {
        let refusal = #expect(throws: Refusal.self) { try Authorization.bearer(token) }
        #expect(refusal.map { !"\($0)".contains("hid") } == true)
    }

    @Test("Credentials print as their scheme", .clauses("T-50", "T-51"))
    func printing() throws {
        let authorization = try Authorization.basic(user: "ann", password: "hidden")
        var dumped = ""
        dump(authorization, to: &dumped)
        for text in ["\(authorization)", String(reflecting: authorization), dumped] {
            #expect(!text.contains(authorization.fieldValue.dropFirst(6)), "\(text)")
        }
        #expect("\(authorization)" == "Basic (secret)")
    }

    @Test(
        "Fields have names that do not mind their case",
        .clauses("T-52"),
        arguments: [
            (FieldName.accept, "Accept"), (.acceptCharset, "Accept-Charset"),
            (.acceptEncoding, "Accept-Encoding"),
            (.acceptLanguage, "Accept-Language"), (.authorization, "Authorization"),
            (.contentEncoding, "Content-Encoding"), (.contentLength, "Content-Length"),
            (.contentType, "Content-Type"), (.date, "Date"), (.location, "Location"),
            (.retryAfter, "Retry-After"), (.userAgent, "User-Agent"), (.wwwAuthenticate, "WWW-Authenticate"),
            (.idempotencyKey, "Idempotency-Key"),
        ]
    )
    func fieldNames(name: FieldName, text: String) {
        #expect(name == FieldName(text) && name == FieldName(text.uppercased()))
        var fields = HeaderFields()
        fields.append(text, "first")
        fields.append(name, "second")
        #expect(fields.values(name) == ["first", "second"] && fields[name] == "first")
        fields.set(name, "third")
        #expect(fields.values(name) == ["third"])
    }

    @Test("Media types are those of the registry", .clauses("T-53"))
    func mediaTypes() {
        #expect(MediaType.json == "application/json" && MediaType.jsonAPI == "application/vnd.api+json")
        #expect(MediaType.form == "application/x-www-form-urlencoded" && MediaType.xml == "application/xml")
        #expect(MediaType.multipartForm == "multipart/form-data" && MediaType.png == "image/png")
        #expect(MediaType.jpeg == "image/jpeg" && MediaType.gif == "image/gif")
        #expect(MediaType.problemJSON == "application/problem+json")
    }

    @Test("An answer's content is text when it is UTF-8, and none when it is not", .clauses("T-54"))
    func text() {
        #expect(HTTPResponse(status: 200, body: .bytes(Array("Grüße".utf8))).text == "Grüße")
        #expect(HTTPResponse(status: 204).text == "")
        #expect(HTTPResponse(status: 200, body: .bytes([0xC3, 0x28])).text == nil)
    }

    @Test(
        "The first digit of a status is its class, and classes end before the next hundred",
        .clauses("T-55", "T-56"),
        arguments: [
            (0, nil), (99, nil), (100, nil), (199, nil), (200, .success), (299, .success),
            (300, .redirection),
            (399, .redirection), (400, .clientError), (499, .clientError), (500, .serverError),
            (599, .serverError), (600, nil), (.max, nil),
        ] as [(UInt16, Status.Class?)]
    )
    func classes(code: UInt16, wanted: Status.Class?) {
        let status = Status(rawValue: code)
        #expect(status.class == wanted)
        #expect(status.isSuccess == (wanted == .success) && status.isRedirection == (wanted == .redirection))
        #expect(status.isClientError == (wanted == .clientError))
        #expect(status.isServerError == (wanted == .serverError))
    }

    @Test(
        "A status prints as its code and its phrase, any code",
        .clauses("T-55"),
        arguments: [
            (Status.ok, "200 OK"), (.notFound, "404 Not Found"), (.tooManyRequests, "429 Too Many Requests"),
            (.serviceUnavailable, "503 Service Unavailable"), (299, "299"), (0, "0"), (999, "999"),
        ] as [(Status, String)]
    )
    func description(status: Status, text: String) {
        #expect("\(status)" == text)
    }
}
