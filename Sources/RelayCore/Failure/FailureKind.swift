/// Why an attempt or a job failed; the one vocabulary of configuration, `Proxy-Status`, journal and CLI.
///
/// Names are those of RFC 9209 §2.3 where one exists. A route's rules may add kinds of their own.
package struct FailureKind: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
    package init(stringLiteral value: String) { rawValue = value }

    package static let dnsTimeout: FailureKind = "dns_timeout"
    package static let dnsError: FailureKind = "dns_error"
    package static let destinationUnavailable: FailureKind = "destination_unavailable"
    package static let destinationIPProhibited: FailureKind = "destination_ip_prohibited"
    package static let connectionRefused: FailureKind = "connection_refused"
    package static let connectionTerminated: FailureKind = "connection_terminated"
    package static let connectionTimeout: FailureKind = "connection_timeout"
    package static let connectionReadTimeout: FailureKind = "connection_read_timeout"
    package static let connectionWriteTimeout: FailureKind = "connection_write_timeout"
    package static let connectionLimitReached: FailureKind = "connection_limit_reached"
    package static let tlsProtocolError: FailureKind = "tls_protocol_error"
    package static let tlsCertificateError: FailureKind = "tls_certificate_error"
    package static let tlsAlertReceived: FailureKind = "tls_alert_received"
    package static let httpResponseIncomplete: FailureKind = "http_response_incomplete"
    package static let httpResponseTimeout: FailureKind = "http_response_timeout"
    package static let httpProtocolError: FailureKind = "http_protocol_error"
    package static let httpResponseBodySize: FailureKind = "http_response_body_size"
    package static let httpResponseHeaderSectionSize: FailureKind = "http_response_header_section_size"
    package static let httpResponseContentCoding: FailureKind = "http_response_content_coding"

    package static let httpStatus: FailureKind = "http_status"
    package static let apiError: FailureKind = "api_error"
    package static let invalidResponse: FailureKind = "invalid_response"
    package static let decoding: FailureKind = "decoding"
    package static let preparation: FailureKind = "preparation"
    package static let overloaded: FailureKind = "overloaded"
    package static let credentialsFailed: FailureKind = "credentials_failed"
    package static let deadlineExceeded: FailureKind = "deadline_exceeded"
    package static let cancelled: FailureKind = "cancelled"
    package static let clientGone: FailureKind = "client_gone"

    /// Every kind the relay itself can report, in the order of the documentation.
    package static let known: [FailureKind] = [
        .dnsTimeout, .dnsError, .destinationUnavailable, .destinationIPProhibited, .connectionRefused,
        .connectionTerminated, .connectionTimeout, .connectionReadTimeout, .connectionWriteTimeout,
        .connectionLimitReached, .tlsProtocolError, .tlsCertificateError, .tlsAlertReceived,
        .httpResponseIncomplete, .httpResponseTimeout, .httpProtocolError, .httpResponseBodySize,
        .httpResponseHeaderSectionSize, .httpResponseContentCoding, .httpStatus, .apiError, .invalidResponse,
        .decoding, .preparation, .overloaded, .credentialsFailed, .deadlineExceeded, .cancelled, .clientGone,
    ]
}

/// A family of kinds that a rule's `on` may name as one.
package enum FailureGroup: String, CaseIterable, Sendable {
    case connection
    case timeout
    case dns
    case tls
    case `protocol`

    package func contains(_ kind: FailureKind) -> Bool {
        switch self {
        case .connection:
            kind == .connectionRefused || kind == .connectionTerminated || kind == .connectionTimeout
                || kind == .connectionLimitReached || kind == .destinationUnavailable
                || FailureGroup.dns.contains(kind)
        case .timeout:
            kind == .connectionTimeout || kind == .connectionReadTimeout || kind == .connectionWriteTimeout
                || kind == .httpResponseTimeout || kind == .dnsTimeout
        case .dns: kind == .dnsTimeout || kind == .dnsError
        case .tls: kind == .tlsProtocolError || kind == .tlsCertificateError || kind == .tlsAlertReceived
        case .protocol:
            kind == .httpProtocolError || kind == .httpResponseIncomplete || kind == .httpResponseBodySize
                || kind == .httpResponseHeaderSectionSize || kind == .httpResponseContentCoding
        }
    }
}
