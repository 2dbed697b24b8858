/// Media types by their registered names (RFC 9110 §8.3.1), as they stand in `Content-Type` and `Accept`.
public enum MediaType {
    /// JSON (RFC 8259).
    public static let json = "application/json"
    /// A problem described in JSON (RFC 9457).
    public static let problemJSON = "application/problem+json"
    /// A document of JSON:API.
    public static let jsonAPI = "application/vnd.api+json"
    /// Names and values of a form (WHATWG URL §5).
    public static let form = "application/x-www-form-urlencoded"
    /// Parts of a form (RFC 7578); needs its `boundary` behind it.
    public static let multipartForm = "multipart/form-data"
    /// XML (RFC 7303).
    public static let xml = "application/xml"
    /// Bytes that nothing is said about (RFC 2046 §4.5.1).
    public static let octetStream = "application/octet-stream"
    /// Text in UTF-8 (RFC 2046 §4.1).
    public static let plainText = "text/plain; charset=utf-8"
    /// PNG.
    public static let png = "image/png"
    /// JPEG (RFC 2046 §4.2).
    public static let jpeg = "image/jpeg"
    /// GIF.
    public static let gif = "image/gif"
    /// Events, without an end of their own (WHATWG HTML §9.2).
    public static let eventStream = "text/event-stream"
}
