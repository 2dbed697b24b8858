/// An authority, and what it says of the server `db.test`.
package struct ServerCertificates: Sendable {
    package let authority: String
    package let certificate: String
    package let key: String

    /// The name in the certificate, which leads nowhere.
    package static let name = "db.test"

    /// Made by the command openssl in a folder that the server's user may write to.
    package init(in folder: String, _ label: String = "server") throws {
        authority = "\(folder)/\(label)-authority.crt"
        certificate = "\(folder)/\(label).crt"
        key = "\(folder)/\(label).key"
        let kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        let request = ChildProgram.unprivileged + ["openssl", "req", "-x509"] + kind
        let authorityKey = "\(folder)/\(label)-authority.key"
        try ChildProgram.run(
            request + ["-keyout", authorityKey, "-out", authority, "-subj", "/CN=\(label) authority"],
            in: folder
        )
        try ChildProgram.run(
            request + [
                "-CA", authority, "-CAkey", authorityKey, "-keyout", key, "-out", certificate,
                "-subj", "/CN=\(Self.name)", "-addext", "subjectAltName=DNS:\(Self.name)",
            ],
            in: folder
        )
    }
}
