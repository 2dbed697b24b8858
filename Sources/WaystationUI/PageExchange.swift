import RelayBase
import RelayClient
import RelayHTTP
import RelayJSON

/// The fields of a message that go on between the browser and the daemon: those named here, and no others.
enum PageExchange {
    /// Of a request; neither a cookie nor a credential.
    static func fields(toDaemon head: RequestHead) -> HeaderFields {
        chosen(head.fields, requestNames)
    }

    /// Of an answer to the browser; `option` is what a command needs to find the same daemon.
    ///
    /// Below /v1/ stand what callers have sent and upstreams have answered: a browser must not take it for a page, and
    /// least of all for this one's.
    static func fields(toBrowser fields: HeaderFields, of target: String, socket: String?) -> HeaderFields {
        var result = chosen(fields, answerNames)
        if !target.hasPrefix("/ui") {
            result.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
            result.set("X-Content-Type-Options", "nosniff")
            result.set("Cross-Origin-Resource-Policy", "same-origin")
        }
        if let socket, target == "/v1/version" { result.append("Waystation-Socket", percentEncoded(socket)) }
        return result
    }

    private static func chosen(_ fields: HeaderFields, _ names: [FieldName]) -> HeaderFields {
        var result = HeaderFields()
        for name in names {
            for value in fields.values(name) { result.append(name, value) }
        }
        return result
    }

    private static let requestNames: [FieldName] = [
        .accept, .acceptEncoding, .contentType, .ifMatch, .ifNoneMatch, .prefer,
        FieldName(of: "last-event-id"),
    ]

    private static let answerNames: [FieldName] = [
        .contentType, .contentEncoding, .date, .location, .retryAfter, .preferenceApplied,
        FieldName(of: "etag"), FieldName(of: "link"), FieldName(of: "vary"),
        FieldName(of: "allow"), FieldName(of: "cache-control"), FieldName(of: "content-security-policy"),
        FieldName(of: "x-content-type-options"), FieldName(of: "referrer-policy"),
        FieldName(of: "cross-origin-opener-policy"), FieldName(of: "cross-origin-resource-policy"),
        FieldName(of: "waystation-source"), FieldName(of: "waystation-job"),
    ]

    /// That the daemon gave no answer, in the form of its own problems.
    static func problem(_ reason: PageService.Reason) -> [UInt8] {
        var json = JSONObjectWriter()
        json.member("type", "about:blank")
        json.member("title", "The daemon gives no answer")
        json.member("status", 502)
        json.member("code", "daemon_away")
        json.member("detail", reason.message)
        if let advice = reason.advice { json.member("advice", advice) }
        return json.bytes
    }
}
