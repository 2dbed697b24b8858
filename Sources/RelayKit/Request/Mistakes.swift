public import RelayBase
public import RelayJSON
public import RelayRoute

// The first attempts of somebody who does not know better yet: not available, so that the compiler names the mend.
extension RequestPath {
    /// A path is no text: `"users/\(id)"` encodes what is put in.
    @available(*, unavailable, message: "put the value into the path, which encodes it: \"users/\\(id)\"")
    public static func + (path: RequestPath, value: some CustomStringConvertible) -> RequestPath { path }
}

extension Request {
    /// A dictionary has no order: `Pairs(dictionary)` makes a query of it.
    @available(*, unavailable, message: "a dictionary has no order: write query: Pairs(dictionary)")
    public init(
        _ method: Method,
        _ path: RequestPath,
        query: [String: String],
        headers: Pairs<String> = [:],
        content: Content = .none,
        container: JSONPointer? = nil
    ) { fatalError() }
}

extension Request where ServerError == Failure {
    /// A dictionary has no order: `Pairs(dictionary)` makes a query of it.
    @available(*, unavailable, message: "a dictionary has no order: write query: Pairs(dictionary)")
    public init(
        _ method: Method,
        _ path: RequestPath,
        query: [String: String],
        headers: Pairs<String> = [:],
        content: Content = .none,
        container: JSONPointer? = nil
    ) { fatalError() }
}

extension Request where ServerError == Failure, Response == HTTPResponse {
    /// A dictionary has no order: `Pairs(dictionary)` makes a query of it.
    @available(*, unavailable, message: "a dictionary has no order: write query: Pairs(dictionary)")
    public init(
        _ method: Method,
        _ path: RequestPath,
        query: [String: String],
        headers: Pairs<String> = [:],
        content: Content = .none
    ) { fatalError() }
}

// The names that `FieldName` has: in `headers:` a name is text.
extension String {
    /// Written as text: `"Accept"`.
    @available(*, unavailable, message: "a header's name is written as text: \"Accept\"")
    public static var accept: String { "Accept" }
    /// Written as text: `"Accept-Charset"`.
    @available(*, unavailable, message: "a header's name is written as text: \"Accept-Charset\"")
    public static var acceptCharset: String { "Accept-Charset" }
    /// Written as text: `"Accept-Encoding"`.
    @available(*, unavailable, message: "a header's name is written as text: \"Accept-Encoding\"")
    public static var acceptEncoding: String { "Accept-Encoding" }
    /// Written as text: `"Accept-Language"`.
    @available(*, unavailable, message: "a header's name is written as text: \"Accept-Language\"")
    public static var acceptLanguage: String { "Accept-Language" }
    /// Written as text: `"Authorization"`.
    @available(*, unavailable, message: "a header's name is written as text: \"Authorization\"")
    public static var authorization: String { "Authorization" }
    /// Written as text: `"Content-Type"`.
    @available(*, unavailable, message: "a header's name is written as text: \"Content-Type\"")
    public static var contentType: String { "Content-Type" }
    /// Written as text: `"Idempotency-Key"`.
    @available(*, unavailable, message: "a header's name is written as text: \"Idempotency-Key\"")
    public static var idempotencyKey: String { "Idempotency-Key" }
    /// Written as text: `"User-Agent"`.
    @available(*, unavailable, message: "a header's name is written as text: \"User-Agent\"")
    public static var userAgent: String { "User-Agent" }
}

// Two kinds that no rule is asked about, so that a rule for them would never act.
extension FailureMatcher.Token {
    /// A cancelled request is over.
    @available(*, unavailable, message: "no rule is asked about a cancelled request: see whoever awaits it")
    public static var cancelled: FailureMatcher.Token { .kind(.cancelled) }
    /// Such a request is over before anything is sent.
    @available(*, unavailable, message: "no rule is asked about what cannot be sent: mend the request")
    public static var preparation: FailureMatcher.Token { .kind(.preparation) }
}
