import COpenSSL
import Glibc
import RelayBase
import RelayPosix

/// One TLS connection over a non-blocking socket, confined to the loop of the socket.
@safe final class TLSSession {
    private let ssl: OpaquePointer

    /// The outcome of a step of the handshake.
    enum Handshake {
        case done
        case wantsRead
        case wantsWrite
        case failed(WireFault)
    }

    /// Takes over `ssl`.
    @unsafe init(_ ssl: OpaquePointer) {
        unsafe self.ssl = ssl
    }

    deinit {
        unsafe SSL_free(ssl)
    }

    /// Offers to go on where an earlier session to the same place, with the same settings, left off.
    func resume(_ ticket: TLSTicket) {
        unsafe _ = SSL_set_session(ssl, ticket.session)
    }

    /// Whether it went on where an earlier session left off.
    var wasResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

    /// The ticket that a later session may go on from; nil when the peer offered none.
    func ticket() -> TLSTicket? {
        guard let session = unsafe SSL_get1_session(ssl) else { return nil }
        guard unsafe SSL_SESSION_is_resumable(session) == 1 else {
            unsafe SSL_SESSION_free(session)
            return nil
        }
        return unsafe TLSTicket(session)
    }

    func handshake() -> Handshake {
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(ssl)
        if result == 1 { return speaksHTTP1 }
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_SYSCALL: return .failed(systemFault())
        default: return .failed(fault(isHandshake: true))
        }
    }

    /// The seam where a connection turns to the protocol ALPN has chosen; no answer means HTTP/1.1.
    private var speaksHTTP1: Handshake {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &count)
        guard let name = unsafe name, count > 0 else { return .done }
        let chosen = unsafe UnsafeBufferPointer(start: name, count: Int(count))
        if unsafe chosen.elementsEqual("http/1.1".utf8) { return .done }
        return .failed(
            WireFault(kind: .tlsProtocolError, detail: "the peer chose a protocol that was not offered")
        )
    }

    /// SHA-256 of the SubjectPublicKeyInfo of each certificate in the chain the handshake has verified, the peer's
    /// own first; nothing where a session was resumed, for then no chain was verified.
    var verifiedKeys: [[UInt8]] {
        unsafe (0..<relay_ssl_verified_count(ssl)).map { index in
            unsafe Self.keyDigest(X509_get_X509_PUBKEY(relay_ssl_verified_certificate(ssl, index)))
        }
    }

    /// Nothing, which matches no pin, for a key that cannot be written.
    private static func keyDigest(_ key: OpaquePointer?) -> [UInt8] {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509_PUBKEY(key, &encoded)
        guard let start = unsafe encoded, count > 0 else { return [] }
        defer { unsafe relay_free(start) }
        return unsafe Digest.sha256(UnsafeRawBufferPointer(start: start, count: Int(count)))
    }

    /// Has it note whether the peer asks for a client certificate; before the handshake.
    func noteCertificateRequest() { unsafe relay_ssl_note_certificate_request(ssl) }

    /// The facts that the handshake has shown.
    var certificateFacts: CertificateFacts {
        let count = unsafe relay_ssl_verified_count(ssl)
        let days = (0..<count).compactMap { index in
            unsafe Self.daysLeft(relay_ssl_verified_certificate(ssl, index))
        }
        return CertificateFacts(
            version: unsafe String(cString: SSL_get_version(ssl)),
            count: Int(count),
            daysLeft: days.min(),
            ownDaysLeft: unsafe SSL_get_certificate(ssl).flatMap { unsafe Self.daysLeft($0) },
            isClientAsked: unsafe relay_ssl_was_certificate_requested(ssl) == 1
        )
    }

    /// Whole days until a certificate expires, below zero once it has.
    private static func daysLeft(_ certificate: OpaquePointer?) -> Int? {
        var (days, seconds): (Int32, Int32) = (0, 0)
        let end = unsafe X509_get0_notAfter(certificate)
        guard unsafe ASN1_TIME_diff(&days, &seconds, nil, end) == 1 else { return nil }
        return seconds < 0 ? Int(days) - 1 : Int(days)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> WireRead {
        ERR_clear_error()
        var count = 0
        let result = unsafe SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        if result == 1 { return .bytes(count) }
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .end
        case SSL_ERROR_SYSCALL: return .failed(systemFault())
        default: return .failed(fault(isHandshake: false))
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> WireWritten {
        ERR_clear_error()
        var count = 0
        let result = unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        if result == 1 { return .bytes(count) }
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
        case SSL_ERROR_SYSCALL: return .failed(systemFault())
        default: return .failed(fault(isHandshake: false))
        }
    }

    /// Says goodbye without waiting for an answer.
    func finish() {
        ERR_clear_error()
        unsafe _ = SSL_shutdown(ssl)
        ERR_clear_error()
    }

    private func fault(isHandshake: Bool) -> WireFault {
        WireFault.tls(verdict: unsafe Int(SSL_get_verify_result(ssl)), isHandshake: isHandshake)
    }

    private func systemFault() -> WireFault {
        let reason = Errno.current
        ERR_clear_error()
        return WireFault(
            kind: .connectionTerminated,
            detail: reason.rawValue == 0
                ? "the peer closed the connection" : "the connection broke: \(reason)"
        )
    }
}

/// The facts that a handshake shows of the peer's certificates.
package struct CertificateFacts: Sendable {
    /// The protocol that was agreed on, such as `TLSv1.3`.
    package let version: String
    /// Certificates in the chain that was verified, the peer's own and the authority's included.
    package let count: Int
    /// Whole days until the first of them expires; nil where none says.
    package let daysLeft: Int?
    /// The same of the client certificate that is configured; nil where there is none.
    package let ownDaysLeft: Int?
    /// Whether the peer asked for a client certificate.
    package let isClientAsked: Bool
}

/// A session's state that a later one may resume; bound to one origin and its settings by its keeper.
@safe final class TLSTicket {
    fileprivate let session: OpaquePointer

    @unsafe init(_ session: OpaquePointer) {
        unsafe self.session = session
    }

    deinit {
        unsafe SSL_SESSION_free(session)
    }
}
