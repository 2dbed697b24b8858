import COpenSSL

/// A server's side of TLS for scripts.
@safe final class SecureServer: Sendable {
    private nonisolated(unsafe) let context: OpaquePointer

    /// - Parameters:
    ///   - certificate: the name of the certificate to show.
    ///   - versions: the lowest and highest version to speak.
    ///   - wantsClient: whether a client without a certificate is refused.
    init(
        _ certificate: String,
        versions: ClosedRange<Int32> = TLS1_2_VERSION...TLS1_3_VERSION,
        wantsClient: Bool = false
    ) {
        guard let made = unsafe SSL_CTX_new(TLS_server_method()) else { preconditionFailure("no TLS server") }
        unsafe context = made
        unsafe SSL_CTX_use_certificate_chain_file(made, Certificates.path(certificate + ".pem"))
        unsafe SSL_CTX_use_PrivateKey_file(made, Certificates.path(certificate + ".key"), SSL_FILETYPE_PEM)
        // TLS 1.1 is below the default security level.
        if versions.upperBound < TLS1_2_VERSION { unsafe SSL_CTX_set_security_level(made, 0) }
        unsafe SSL_CTX_ctrl(made, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(versions.lowerBound), nil)
        unsafe SSL_CTX_ctrl(made, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(versions.upperBound), nil)
        if wantsClient {
            unsafe SSL_CTX_set_verify(made, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            unsafe SSL_CTX_load_verify_file(made, Certificates.path("ca.pem"))
        }
        let id: [UInt8] = [1]
        unsafe SSL_CTX_set_session_id_context(made, id, 1)
    }

    deinit { unsafe SSL_CTX_free(context) }

    /// A script that first does the handshake; the connection ends where that fails.
    func script(_ script: @escaping @Sendable (Peer) -> Void) -> @Sendable (Peer) -> Void {
        { [self] peer in
            guard unsafe peer.secure(context) else { return }
            script(peer)
        }
    }
}
