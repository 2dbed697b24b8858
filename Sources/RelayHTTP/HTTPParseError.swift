package import RelayBase

/// Why a message was refused.
///
/// The bytes that follow on the connection cannot be trusted: answer (a server) or fail (a client), then close.
package struct HTTPParseError: Error, Hashable, Sendable {
    package let code: Code
    /// The line of the head, counted from 1; nil where the fault is not in one line.
    package let line: Int?

    init(_ code: Code, line: Int? = nil) {
        self.code = code
        self.line = line
    }

    /// The status a server answers with; a client has no use for it.
    package var status: Status { code.status }

    /// The fault, its place and the remedy; never a byte of the message.
    package var message: String {
        guard let line else { return code.explanation }
        return "line \(line) of the head: \(code.explanation)"
    }
}

extension HTTPParseError {
    /// The fault, spelled as in problem documents and journals; spellings never change.
    package enum Code: String, CaseIterable, Hashable, Sendable {
        // The start line.
        case badRequestLine = "bad_request_line"
        case badMethod = "bad_method"
        case methodTooLong = "method_too_long"
        case badTarget = "bad_target"
        case targetTooLong = "target_too_long"
        case badVersion = "bad_version"
        case unsupportedVersion = "unsupported_version"
        case badStatusLine = "bad_status_line"
        case badStatus = "bad_status"
        case switchingProtocols = "switching_protocols"
        // Lines and fields.
        case bareLineFeed = "bare_line_feed"
        case bareCarriageReturn = "bare_carriage_return"
        case foldedField = "folded_field"
        case missingColon = "missing_colon"
        case spaceBeforeColon = "space_before_colon"
        case badFieldName = "bad_field_name"
        case badFieldValue = "bad_field_value"
        case fieldNameTooLong = "field_name_too_long"
        case tooManyFields = "too_many_fields"
        case headTooLarge = "head_too_large"
        // Fields with a meaning here.
        case missingHost = "missing_host"
        case duplicateHost = "duplicate_host"
        case badHost = "bad_host"
        case badConnection = "bad_connection"
        case badExpect = "bad_expect"
        case badContentLength = "bad_content_length"
        case duplicateContentLength = "duplicate_content_length"
        case badTransferEncoding = "bad_transfer_encoding"
        case unsupportedTransferCoding = "unsupported_transfer_coding"
        case conflictingFraming = "conflicting_framing"
        // The body.
        case badChunkSize = "bad_chunk_size"
        case badChunkExtension = "bad_chunk_extension"
        case chunkExtensionsTooLarge = "chunk_extensions_too_large"
        case badChunkEnd = "bad_chunk_end"
        case badTrailer = "bad_trailer"
        case trailersTooLarge = "trailers_too_large"
        // The target's path.
        case unknownPath = "unknown_path"
        case emptySegment = "empty_segment"
        case dotSegment = "dot_segment"
        case backslash = "backslash"
        case encodedControl = "encoded_control"
        case badPercentEncoding = "bad_percent_encoding"
    }
}

extension HTTPParseError.Code {
    package var status: Status {
        switch self {
        case .targetTooLong: 414
        case .badExpect: 417
        case .fieldNameTooLong, .tooManyFields, .headTooLarge, .trailersTooLarge: 431
        case .methodTooLong, .unsupportedTransferCoding: 501
        case .unsupportedVersion: 505
        case .chunkExtensionsTooLarge: 413
        case .unknownPath: 404
        default: 400
        }
    }
}
