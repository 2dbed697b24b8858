import COpenSSL
import RelayBase

extension WireFault {
    private static let plainReasons = [
        SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_HTTP_REQUEST,
    ]

    /// The fault that OpenSSL's error queue of this thread tells of; the queue is emptied.
    ///
    /// `verdict` is the verification's result as `SSL_get_verify_result` has it; it counts during the
    /// handshake.
    static func tls(verdict: Int, isHandshake: Bool) -> WireFault {
        let code = ERR_peek_error()
        defer { ERR_clear_error() }
        if isHandshake, verdict != Int(X509_V_OK) {
            let reason = unsafe String(cString: X509_verify_cert_error_string(verdict))
            let advice =
                switch Int32(truncatingIfNeeded: verdict) {
                case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
                    "; it has to name the host in subjectAltName, not as a common name"
                case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                    X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                    X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
                    "; where its authority is your own, tls.ca_file names it"
                case X509_V_ERR_CERT_NOT_YET_VALID:
                    "; its time has not come, unless this machine's clock is wrong"
                case X509_V_ERR_CERT_HAS_EXPIRED:
                    "; it has to be renewed there, unless this machine's clock is wrong"
                default: ""
                }
            return WireFault(
                kind: .tlsCertificateError,
                detail: "the certificate is not accepted: \(reason)\(advice)"
            )
        }
        // ERR_GET_REASON: the low 23 bits, where the code is not one of the system's.
        let isSystem = code & 0x8000_0000 != 0
        let reason = Int32(truncatingIfNeeded: code & 0x7F_FFFF)
        let text =
            unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "no reason given"
        if !isSystem, reason == SSL_R_UNEXPECTED_EOF_WHILE_READING {
            return WireFault(
                kind: isHandshake ? .tlsProtocolError : .connectionTerminated,
                detail: "the peer closed the connection without a TLS goodbye"
            )
        }
        // Alerts the peer sent are numbered from 1000 (SSL_AD_REASON_OFFSET).
        if !isSystem, (1_000..<1_256).contains(reason) {
            return WireFault(
                kind: .tlsAlertReceived,
                detail: "the peer sent TLS alert \(reason - 1_000): \(text)"
            )
        }
        // The reasons that OpenSSL gives when the first bytes are no TLS record.
        let isPlain = isHandshake && !isSystem && plainReasons.contains(reason)
        let advice = isPlain ? "; where the peer speaks plain HTTP, write http:// in the url" : ""
        return WireFault(kind: .tlsProtocolError, detail: "TLS failed: \(text)\(advice)")
    }
}
