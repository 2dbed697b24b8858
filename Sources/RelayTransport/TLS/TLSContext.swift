import COpenSSL
package import RelayBase
package import RelayRoute

/// The settings that the TLS connections of one `TLSSettings` share: trust, client certificate, protocol versions.
@safe final class TLSContext {
    private let context: OpaquePointer

    /// The protocols offered by ALPN; HTTP/2 joins them here, before the other.
    private static let protocols: [UInt8] = [8] + Array("http/1.1".utf8)

    /// - Throws: what cannot be loaded, by name, never its content.
    init(
        _ settings: TLSSettings,
        secrets: (SecretReference) -> Secret?
    ) throws(Failure) {
        guard let made = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw Self.unusable("OpenSSL has no TLS client")
        }
        unsafe context = made
        guard unsafe relay_ssl_context_require_tls12(context) == 1 else {
            throw Self.unusable("OpenSSL refuses to require TLS 1.2")
        }
        unsafe relay_ssl_context_set_mode(context)
        // The verdict on the keys of a handshake must hold for the whole connection.
        if settings.pins != nil { unsafe relay_ssl_context_refuse_renegotiation(context) }
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        // Returns 0 for success, unlike its neighbours.
        unsafe _ = SSL_CTX_set_alpn_protos(context, Self.protocols, UInt32(Self.protocols.count))
        if let file = settings.authorityFile {
            guard unsafe SSL_CTX_load_verify_file(context, file) == 1 else {
                throw Self.unusable("cannot read certificates from \(file); it must be PEM")
            }
        } else {
            guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else {
                throw Self.unusable("cannot find the system's certificate authorities")
            }
        }
        try loadClientCertificate(settings, secrets)
        ERR_clear_error()
    }

    deinit {
        unsafe SSL_CTX_free(context)
    }

    /// A session on a connected socket, which stays its owner's.
    func session(_ descriptor: Int32, host: String, address: Bool) -> TLSSession? {
        guard let ssl = unsafe SSL_new(context) else { return nil }
        let session = unsafe TLSSession(ssl)
        let parameters = unsafe SSL_get0_param(ssl)
        if address {
            guard unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 else { return nil }
        } else {
            // RFC 9525: names stand in subjectAltName alone, and a wildcard is a whole label.
            let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
            unsafe X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(flags))
            // Neither call takes the name's end from its text, so none can be cut short by a zero byte.
            guard unsafe X509_VERIFY_PARAM_set1_host(parameters, host, host.utf8.count) == 1,
                unsafe relay_ssl_set_server_name(ssl, host) == 1
            else { return nil }
        }
        guard unsafe SSL_set_fd(ssl, descriptor) == 1 else { return nil }
        unsafe SSL_set_connect_state(ssl)
        return session
    }

    private func loadClientCertificate(
        _ settings: TLSSettings,
        _ secrets: (SecretReference) -> Secret?
    ) throws(Failure) {
        guard let certificate = settings.clientCertificate else { return }
        let keyReference = settings.clientKey ?? certificate
        guard let chain = secrets(certificate) else {
            throw Self.credentials("the client certificate, \(certificate.text), is not there")
        }
        guard let key = secrets(keyReference) else {
            throw Self.credentials("the client key, \(keyReference.text), is not there")
        }
        let loaded = unsafe Self.withMemory(chain) { memory in
            guard let first = unsafe relay_read_certificate(memory) else { return false }
            defer { unsafe X509_free(first) }
            guard unsafe SSL_CTX_use_certificate(context, first) == 1 else { return false }
            while let next = unsafe relay_read_certificate(memory) {
                // The context owns what it has taken.
                guard unsafe relay_ssl_context_add_chain(context, next) == 1 else {
                    unsafe X509_free(next)
                    return false
                }
            }
            ERR_clear_error()
            return true
        }
        guard loaded else {
            throw Self.credentials("the client certificate, \(certificate.text), is no PEM certificate")
        }
        let matches = unsafe Self.withMemory(key) { memory in
            guard let key = unsafe relay_read_private_key(memory) else { return false }
            defer { unsafe EVP_PKEY_free(key) }
            return unsafe SSL_CTX_use_PrivateKey(context, key) == 1
                && SSL_CTX_check_private_key(context) == 1
        }
        guard matches else {
            throw Self.credentials(
                "the client key, \(keyReference.text), is no unencrypted PEM key of the client certificate"
            )
        }
    }

    private static func withMemory(_ secret: Secret, _ body: (OpaquePointer) -> Bool) -> Bool {
        unsafe secret.bytes.withUnsafeBytes { bytes in
            guard let memory = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else {
                return false
            }
            defer { unsafe BIO_free(memory) }
            return unsafe body(memory)
        }
    }

    private static func unusable(_ detail: String) -> Failure {
        ERR_clear_error()
        return Failure(.tlsCertificateError, sent: .neverSent, detail)
    }

    private static func credentials(_ detail: String) -> Failure {
        ERR_clear_error()
        return Failure(.credentialsFailed, sent: .neverSent, detail)
    }
}

/// Finds before the first connection what would keep TLS connections from being made.
package enum TLSTrust {
    /// Loads the certificates and keys that the settings name, and lets them go again.
    ///
    /// - Parameters:
    ///   - settings: what connections are to be made with.
    ///   - secrets: reads a client certificate or key.
    /// - Returns: what cannot be loaded, by name, never its content; nil when nothing is wrong.
    package static func check(
        _ settings: TLSSettings,
        secrets: (SecretReference) -> Secret?
    ) -> String? {
        do throws(Failure) {
            _ = try TLSContext(settings, secrets: secrets)
            return nil
        } catch {
            return error.detail
        }
    }
}
