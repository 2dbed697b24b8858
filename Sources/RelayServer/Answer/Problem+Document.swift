package import RelayBase
package import RelayEngine
import RelayInterface
import RelayJSON

// A problem as an answer (RFC 9457).
extension Problem {
    package var status: Status {
        // A field that says which answers would do asks for another status than one that is malformed.
        code == .badHeader && field == "accept" ? 406 : code.status
    }

    /// The value of the `Allow` field; nil without one.
    var allow: String? { methods.isEmpty ? nil : methods.map(\.rawValue).joined(separator: ", ") }

    /// The document with the end of its line, so that a terminal goes on below it.
    package var body: [UInt8] { bytes + [UInt8(ascii: "\n")] }

    /// The document, `application/problem+json`.
    package var bytes: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("type", .string("urn:waystation:problem:\(code.name)")),
            .init("title", .string(code.title)),
            .init("status", .number(JSONNumber(text: "\(status.rawValue)"))),
            .init("code", .string(code.name)),
            .init("detail", .string(detail)),
        ]
        if let route { members.append(.init("route", .string(route))) }
        if let job { members.append(.init("job", .string(job.description))) }
        if let kind { members.append(.init("kind", .string(kind.rawValue))) }
        if let sent { members.append(.init("sent", .string(sent.rawValue))) }
        if isPastDeadline { members.append(.init("past_deadline", .bool(true))) }
        if let didYouMean { members.append(.init("did_you_mean", .string(didYouMean))) }
        if let retryAfter {
            let milliseconds = retryAfter.saturatedNanoseconds / 1_000_000
            members.append(.init("retry_after_ms", .number(JSONNumber(text: "\(milliseconds)"))))
        }
        if !errors.isEmpty {
            let list = errors.map { error in
                var entry: [JSONValue.Member] = [
                    .init("pointer", .string(error.pointer)), .init("message", .string(error.message)),
                ]
                if let hint = error.hint { entry.append(.init("hint", .string(hint))) }
                return JSONValue.object(entry)
            }
            members.append(.init("errors", .array(list)))
        }
        return JSONValue.object(members).encoded()
    }
}
