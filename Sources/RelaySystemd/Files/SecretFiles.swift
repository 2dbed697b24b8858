package import RelayBase
import RelayPosix

/// Reads secrets from where the configuration says they are.
package enum SecretFiles {
    /// Bytes of one secret.
    private static let limit = 65_536

    /// - Throws: why the secret cannot be used; never with a byte of it.
    package static func read(_ reference: SecretReference) throws(Refusal) -> Secret {
        switch reference {
        case .credential(let name):
            guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
                throw Refusal("a credential's name is a plain file name", hint: "see systemd.exec(5)")
            }
            guard let directory = environment("CREDENTIALS_DIRECTORY") else {
                throw Refusal(
                    "credential \"\(name)\" cannot be read: $CREDENTIALS_DIRECTORY is not set",
                    hint: "only the service has it, by LoadCredential=\(name):/path in its unit: see"
                        + " systemctl status waystationd; or use {\"file\": …}"
                )
            }
            // The service manager made the directory for this process alone, whatever its mode.
            return try contents("\(directory)/\(name)", reference, isPrivate: false)
        case .file(let path): return try contents(path, reference, isPrivate: true)
        case .environment(let name):
            guard let value = environment(name) else {
                throw Refusal(
                    "environment variable \(name) is not set or empty",
                    hint: "set it, or use {\"credential\": …}"
                )
            }
            return Secret(value)
        }
    }

    /// The file of a secret; nil of one that has none.
    package static func path(of reference: SecretReference) -> String? {
        switch reference {
        case .credential(let name): environment("CREDENTIALS_DIRECTORY").map { "\($0)/\(name)" }
        case .file(let path): path
        case .environment: nil
        }
    }

    private static func contents(
        _ path: String,
        _ reference: SecretReference,
        isPrivate: Bool
    ) throws(Refusal) -> Secret {
        let file: FileContents
        do throws(FileContents.ReadError) {
            file = try FileContents(path, limit: limit)
        } catch {
            throw Refusal("\(reference.text) cannot be read: \(error.reason)", hint: "look at \(path)")
        }
        guard !isPrivate || file.mode & 0o077 == 0 else {
            throw Refusal(
                "\(reference.text) may be read by others (mode \(String(file.mode & 0o777, radix: 8)))",
                hint: "chmod 600 \(path)"
            )
        }
        var trimmed = file.bytes[...]
        if trimmed.last == UInt8(ascii: "\n") { trimmed.removeLast() }
        if trimmed.last == UInt8(ascii: "\r") { trimmed.removeLast() }
        guard !trimmed.isEmpty else {
            throw Refusal("\(reference.text) is empty", hint: "put the secret into it")
        }
        return Secret(Array(trimmed))
    }
}
