import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface

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
