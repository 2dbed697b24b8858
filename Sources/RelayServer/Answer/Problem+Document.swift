package import RelayBase
package import RelayEngine
import RelayHTTP
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
        let milliseconds = retryAfter.map { $0.saturatedNanoseconds / 1_000_000 }
        let faults = errors.map { error in
            JSONValue.object([
                "pointer": .string(error.pointer), "message": .string(error.message),
                "hint": error.hint.map(JSONValue.string),
            ])
        }
        return JSONValue.object([
            "type": .string("urn:waystation:problem:\(code.name)"), "title": .string(code.title),
            "status": .number(JSONNumber(text: "\(status.rawValue)")), "code": .string(code.name),
            "detail": .string(detail), "route": route.map(JSONValue.string),
            "job": job.map { JSONValue.string($0.description) },
            "kind": kind.map { JSONValue.string($0.rawValue) },
            "sent": sent.map { JSONValue.string($0.rawValue) },
            "past_deadline": isPastDeadline ? .bool(true) : nil,
            "did_you_mean": didYouMean.map(JSONValue.string),
            "retry_after_ms": milliseconds.map { JSONValue.number(JSONNumber(text: "\($0)")) },
            "errors": faults.isEmpty ? nil : .array(faults),
        ]).encoded()
    }
}

extension Problem {
    /// The problem that a caller is told about a message the parser refused.
    init(_ error: HTTPParseError) {
        let code: Problem.Code =
            switch error.status {
            case 404: .pathNotFound
            case 413: .contentTooLarge
            case 414: .targetTooLong
            case 417: .expectationFailed
            case 431: .headTooLarge
            case 501: .notImplemented
            case 505: .versionNotSupported
            default:
                switch error.code {
                case .badTarget, .emptySegment, .dotSegment, .backslash, .encodedControl,
                    .badPercentEncoding:
                    .badTarget
                case .badFieldName, .badFieldValue, .missingColon, .spaceBeforeColon, .foldedField,
                    .missingHost,
                    .duplicateHost, .badHost, .badConnection, .badContentLength, .duplicateContentLength,
                    .badTransferEncoding, .conflictingFraming:
                    .badHeader
                default: .badRequest
                }
            }
        self.init(code, "\(error.message) (\(error.code.rawValue))")
    }

    /// The value of `Retry-After`, in whole seconds and not too early; nil where nothing is said about it.
    var retryAfterSeconds: String? {
        retryAfter.map { "\(max(1, ($0.saturatedNanoseconds + 999_999_999) / 1_000_000_000))" }
    }

    /// Whether the job it names is another one, which the caller may want to look at.
    var namesLocation: Bool {
        switch code {
        case .idempotencyInProgress, .idempotencyKeyReused, .responseNotReady: true
        default: false
        }
    }
}
