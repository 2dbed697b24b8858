/// Why an attempt or a job failed; the one vocabulary of configuration, `Proxy-Status`, journal and CLI.
///
/// Names are those of RFC 9209 §2.3 where one exists. A route's rules may add kinds of their own.
public struct FailureKind: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public static let dnsTimeout: FailureKind = "dns_timeout"
    public static let dnsError: FailureKind = "dns_error"
    public static let destinationUnavailable: FailureKind = "destination_unavailable"
    public static let destinationIPProhibited: FailureKind = "destination_ip_prohibited"
    public static let connectionRefused: FailureKind = "connection_refused"
    public static let connectionTerminated: FailureKind = "connection_terminated"
    public static let connectionTimeout: FailureKind = "connection_timeout"
    public static let connectionReadTimeout: FailureKind = "connection_read_timeout"
    public static let connectionWriteTimeout: FailureKind = "connection_write_timeout"
    public static let connectionLimitReached: FailureKind = "connection_limit_reached"
    public static let tlsProtocolError: FailureKind = "tls_protocol_error"
    public static let tlsCertificateError: FailureKind = "tls_certificate_error"
    public static let tlsAlertReceived: FailureKind = "tls_alert_received"
    public static let httpResponseIncomplete: FailureKind = "http_response_incomplete"
    public static let httpResponseTimeout: FailureKind = "http_response_timeout"
    public static let httpProtocolError: FailureKind = "http_protocol_error"
    public static let httpResponseBodySize: FailureKind = "http_response_body_size"
    public static let httpResponseHeaderSectionSize: FailureKind = "http_response_header_section_size"
    public static let httpResponseContentCoding: FailureKind = "http_response_content_coding"

    public static let httpStatus: FailureKind = "http_status"
    public static let apiError: FailureKind = "api_error"
    public static let invalidResponse: FailureKind = "invalid_response"
    public static let decoding: FailureKind = "decoding"
    public static let preparation: FailureKind = "preparation"
    public static let overloaded: FailureKind = "overloaded"
    public static let credentialsFailed: FailureKind = "credentials_failed"
    public static let deadlineExceeded: FailureKind = "deadline_exceeded"
    public static let cancelled: FailureKind = "cancelled"
    public static let clientGone: FailureKind = "client_gone"

    /// Every kind the relay itself can report, in the order of the documentation.
    public static let known: [FailureKind] = [
        .dnsTimeout, .dnsError, .destinationUnavailable, .destinationIPProhibited, .connectionRefused,
        .connectionTerminated, .connectionTimeout, .connectionReadTimeout, .connectionWriteTimeout,
        .connectionLimitReached, .tlsProtocolError, .tlsCertificateError, .tlsAlertReceived,
        .httpResponseIncomplete, .httpResponseTimeout, .httpProtocolError, .httpResponseBodySize,
        .httpResponseHeaderSectionSize, .httpResponseContentCoding, .httpStatus, .apiError, .invalidResponse,
        .decoding, .preparation, .overloaded, .credentialsFailed, .deadlineExceeded, .cancelled, .clientGone,
    ]
}

/// A family of kinds that a rule's `on` may name as one.
public enum FailureGroup: String, CaseIterable, Sendable {
    case connection
    case timeout
    case dns
    case tls
    case `protocol`

    public func contains(_ kind: FailureKind) -> Bool {
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
