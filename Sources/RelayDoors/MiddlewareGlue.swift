public import RelayBase

/// The facts about a client's own types that a middleware must know, a few lines for each client.
///
/// `Head` is a request without its content, `Body` its content (an optional where there may be none), `Answer` what the
/// client's `next` gives: usually a head and a body that is still on its way.
public protocol MiddlewareGlue<Head, Body, Answer>: Sendable {
    /// A request without its content.
    associatedtype Head: Sendable
    /// A request's content.
    associatedtype Body: Sendable
    /// An answer, whose content may still be on its way.
    associatedtype Answer: Sendable

    /// The method.
    func method(of head: Head) -> Method
    /// Path and query, or the whole URL; the breaker keeps requests to one part of an upstream apart from those to another.
    func target(of head: Head) -> String
    /// The header fields.
    func fields(of head: Head) -> HeaderFields
    /// The same request with those header fields in place of its own.
    func head(_ head: Head, with fields: HeaderFields) -> Head
    /// The status.
    func status(of answer: Answer) -> Status
    /// The header fields of an answer.
    func fields(of answer: Answer) -> HeaderFields
    /// The same content in a form that can be sent any number of times; nil where that is not to be had, or would take
    /// more than `limit` bytes, and `body` is still whole. Such content is sent once.
    ///
    /// - Throws: why the content cannot be read; nothing is sent then.
    func repeatable(_ body: Body, upTo limit: Int) async throws -> Body?
    /// How far a request got whose `next` threw that error; nil where nobody knows, so that nothing unsafe is repeated.
    func failure(for error: any Error) -> Failure?
    /// The answer that stands for what a rule responds with; nil where the client can make none.
    func answer(_ response: HTTPResponse) -> Answer?
}

extension MiddlewareGlue {
    /// Nil: content is sent once.
    public func repeatable(_ body: Body, upTo limit: Int) async throws -> Body? { nil }

    /// Nil: nobody knows how far the request got.
    public func failure(for error: any Error) -> Failure? { nil }

    /// Nil: a rule's response reaches the caller as the failure that it stands for.
    public func answer(_ response: HTTPResponse) -> Answer? { nil }
}
