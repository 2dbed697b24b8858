// The codes of RFC 9110 §15 that final answers have, and those of RFC 6585 and RFC 7725.
extension Status {
    /// The request succeeded (RFC 9110 §15.3.1).
    public static let ok: Status = 200
    /// Something was made (RFC 9110 §15.3.2).
    public static let created: Status = 201
    /// The work is not done yet (RFC 9110 §15.3.3).
    public static let accepted: Status = 202
    /// A proxy changed the content (RFC 9110 §15.3.4).
    public static let nonAuthoritativeInformation: Status = 203
    /// Nothing to say (RFC 9110 §15.3.5).
    public static let noContent: Status = 204
    /// The form may be cleared (RFC 9110 §15.3.6).
    public static let resetContent: Status = 205
    /// A range of the content (RFC 9110 §15.3.7).
    public static let partialContent: Status = 206

    /// There are several representations (RFC 9110 §15.4.1).
    public static let multipleChoices: Status = 300
    /// The target has a new place (RFC 9110 §15.4.2).
    public static let movedPermanently: Status = 301
    /// The target is elsewhere for now (RFC 9110 §15.4.3).
    public static let found: Status = 302
    /// The answer is elsewhere (RFC 9110 §15.4.4).
    public static let seeOther: Status = 303
    /// The copy that the client has is still good (RFC 9110 §15.4.5).
    public static let notModified: Status = 304
    /// The same request is to go elsewhere for now (RFC 9110 §15.4.8).
    public static let temporaryRedirect: Status = 307
    /// The same request is to go elsewhere from now on (RFC 9110 §15.4.9).
    public static let permanentRedirect: Status = 308

    /// The request cannot be understood (RFC 9110 §15.5.1).
    public static let badRequest: Status = 400
    /// Valid credentials are missing (RFC 9110 §15.5.2).
    public static let unauthorized: Status = 401
    /// Reserved (RFC 9110 §15.5.3).
    public static let paymentRequired: Status = 402
    /// Refused, whatever the credentials (RFC 9110 §15.5.4).
    public static let forbidden: Status = 403
    /// There is nothing (RFC 9110 §15.5.5).
    public static let notFound: Status = 404
    /// The target does not take the method (RFC 9110 §15.5.6).
    public static let methodNotAllowed: Status = 405
    /// There is no representation the client takes (RFC 9110 §15.5.7).
    public static let notAcceptable: Status = 406
    /// Credentials for the proxy are missing (RFC 9110 §15.5.8).
    public static let proxyAuthenticationRequired: Status = 407
    /// The request took too long to arrive (RFC 9110 §15.5.9).
    public static let requestTimeout: Status = 408
    /// The target is in another state (RFC 9110 §15.5.10).
    public static let conflict: Status = 409
    /// There was something and will not be again (RFC 9110 §15.5.11).
    public static let gone: Status = 410
    /// The content needs a length (RFC 9110 §15.5.12).
    public static let lengthRequired: Status = 411
    /// A condition of the request does not hold (RFC 9110 §15.5.13).
    public static let preconditionFailed: Status = 412
    /// The content is too large (RFC 9110 §15.5.14).
    public static let contentTooLarge: Status = 413
    /// The target is too long (RFC 9110 §15.5.15).
    public static let uriTooLong: Status = 414
    /// The content is of a type that is not taken (RFC 9110 §15.5.16).
    public static let unsupportedMediaType: Status = 415
    /// There is no such range (RFC 9110 §15.5.17).
    public static let rangeNotSatisfiable: Status = 416
    /// The expectation cannot be met (RFC 9110 §15.5.18).
    public static let expectationFailed: Status = 417
    /// The server does not answer for the origin (RFC 9110 §15.5.20).
    public static let misdirectedRequest: Status = 421
    /// The content is understood and cannot be acted on (RFC 9110 §15.5.21).
    public static let unprocessableContent: Status = 422
    /// Another protocol is wanted (RFC 9110 §15.5.22).
    public static let upgradeRequired: Status = 426
    /// The request needs a condition (RFC 6585 §3).
    public static let preconditionRequired: Status = 428
    /// The client has sent too much (RFC 6585 §4).
    public static let tooManyRequests: Status = 429
    /// The fields are too large (RFC 6585 §5).
    public static let requestHeaderFieldsTooLarge: Status = 431
    /// The law forbids the answer (RFC 7725 §3).
    public static let unavailableForLegalReasons: Status = 451

    /// The server failed (RFC 9110 §15.6.1).
    public static let internalServerError: Status = 500
    /// The server does not know the method (RFC 9110 §15.6.2).
    public static let notImplemented: Status = 501
    /// The server behind gave no valid answer (RFC 9110 §15.6.3).
    public static let badGateway: Status = 502
    /// Overloaded or under repair, for now (RFC 9110 §15.6.4).
    public static let serviceUnavailable: Status = 503
    /// The server behind gave no answer in time (RFC 9110 §15.6.5).
    public static let gatewayTimeout: Status = 504
    /// The version of HTTP is not spoken (RFC 9110 §15.6.6).
    public static let httpVersionNotSupported: Status = 505
}
