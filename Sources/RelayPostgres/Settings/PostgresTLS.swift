import Glibc
import RelayPosix

/// How the way to the server is protected.
package struct PostgresTLS: Sendable, Equatable {
    package enum Mode: Sendable {
        /// Off for a Unix socket and for the loopback interface, and `verified` for all else.
        case automatic
        case off
        /// Encrypted, whoever answers.
        case unverified
        /// The certificate must be an authority's and name the host.
        case verified
    }

    package var mode: Mode
    /// Certificates of authorities in PEM; the system's where it is nil.
    package var authorityFile: String?
    /// The file of our own certificate, and that of its key, for a server that asks for one.
    package var certificate: String?
    package var key: String?

    package init(
        _ mode: Mode = .automatic,
        authorityFile: String? = nil,
        certificate: String? = nil,
        key: String? = nil
    ) {
        self.mode = mode
        self.authorityFile = authorityFile
        self.certificate = certificate
        self.key = key
    }

    package static let automatic = PostgresTLS()

    /// Where systems keep their authorities; libpq takes one file.
    private static let systemFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// The file with the authorities that are trusted.
    func trustedFile() throws(PostgresError) -> String {
        if let authorityFile { return authorityFile }
        if let file = environment("SSL_CERT_FILE") { return file }
        guard let file = Self.systemFiles.first(where: { unsafe access($0, R_OK) == 0 }) else {
            throw PostgresError(
                .unreachable,
                "cannot verify the server's certificate: the system has no file of authorities; name one"
            )
        }
        return file
    }
}
