package import RelayBase
package import RelayEngine
import RelayHTTP
package import RelayInterface

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

    var retryMilliseconds: Int64? { retryAfter.map { $0.saturatedNanoseconds / 1_000_000 } }
}

extension Problem: Document {
    package static let members: [Member<Problem>] = [
        .required("type", .pattern("^urn:waystation:problem:[a-z_]+$"), "The code as a URN.") {
            "urn:waystation:problem:\($0.code.name)"
        },
        .required("title", .text, "What the code means.") { $0.code.title },
        .required("status") { $0.status },
        .required("code", Code.schema, "Never renamed in v1.") { $0.code },
        .required("detail", .text, "What failed, and what to do.") { $0.detail },
        .optional("route") { $0.route }, .optional("job") { $0.job }, .optional("kind") { $0.kind },
        .optional("sent", .sent, "How far the request got.") { $0.sent },
        .optional("past_deadline", .boolean, "Whether the job failed for want of time.") {
            $0.isPastDeadline ? true : nil
        },
        .optional("did_you_mean") { $0.didYouMean },
        .optional("retry_after_ms") { $0.retryMilliseconds },
        .optional("errors", .list(.named("Fault")), "Every place of a document that is wrong.") {
            $0.errors.map { Fault(error: $0) }.unlessEmpty
        },
        .written(
            "diagnostics",
            .list(.named("Diagnostic")),
            "Of config_rejected: every mistake of the configuration."
        ),
        .written("text", .text, "Of config_rejected: the mistakes as waystationd --check prints them."),
    ]

    /// One place of a document that is wrong.
    struct Fault: Document {
        let error: (pointer: String, message: String, hint: String?)

        static let members: [Member<Fault>] = [
            .required("pointer", .text, "A JSON pointer (RFC 6901).") { $0.error.pointer },
            .required("message") { $0.error.message }, .optional("hint") { $0.error.hint },
        ]
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

    /// Whether the job it names is another one, or may be kept, so that the caller may want to look at it.
    var namesLocation: Bool {
        switch code {
        case .idempotencyInProgress, .idempotencyKeyReused, .responseNotReady, .acceptanceUnknown: true
        default: false
        }
    }
}
