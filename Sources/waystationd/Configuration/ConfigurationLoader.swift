import RelayBase
import RelayConfig
import RelayJSON
import RelayPosix
import RelaySystemd
import RelayTransport

/// A configuration file with everything it needs: read, checked, its secrets in hand.
struct LoadedConfiguration: Sendable {
    let configuration: Configuration
    let secrets: [SecretReference: Secret]
    let file: String
    /// SHA-256 of the file's bytes, in hex.
    let digest: String
    let warnings: [Diagnostic]
    let outline: ConfigurationOutline
}

/// Why a configuration was refused, ready to be shown.
struct ConfigurationRejected: Error {
    let diagnostics: [Diagnostic]
    /// The diagnostics with their source lines, one by one.
    let texts: [(Diagnostic.Severity, String)]
    /// One line for a status or a journal record.
    let summary: String

    var text: String { texts.map(\.1).joined() }
}

/// Reads the configuration from the disk; nothing is changed by a failure.
enum ConfigurationLoader {
    /// Bytes of a configuration file.
    static let limit = 4 * 1_048_576

    static func defaultFile() -> String {
        let directory = environment("CONFIGURATION_DIRECTORY")?.split(separator: ":").first.map(
            String.init
        )
        return "\(directory ?? "/etc/waystation")/waystation.json"
    }

    /// Reads `file`; each of the sockets that the service manager has passed, by their names, has to have a listener.
    static func load(
        _ file: String,
        passed: [String] = []
    ) throws(ConfigurationRejected) -> LoadedConfiguration {
        let contents: FileContents
        do throws(FileContents.ReadError) {
            contents = try FileContents(file, limit: limit)
        } catch {
            throw rejected(
                file,
                "the configuration cannot be read: \(error.reason); waystation init writes a first one"
            )
        }
        guard contents.mode & 0o002 == 0 else {
            throw rejected(file, "the configuration may be written by everyone: chmod o-w \(file)")
        }
        let now = SystemClock.wallSeconds()
        let result = ConfigurationReader.read(
            contents.bytes,
            file: file,
            accounts: AccountResolver(user: Accounts.user, group: Accounts.group, zoneFile: ZoneFiles.read),
            wallSeconds: now
        )
        var diagnostics = result.diagnostics
        var secrets: [SecretReference: Secret] = [:]
        for use in result.configuration?.secrets ?? [] where secrets[use.reference] == nil {
            do throws(Refusal) {
                secrets[use.reference] = try SecretFiles.read(use.reference)
            } catch {
                diagnostics.append(
                    Diagnostic(
                        error.message,
                        hint: error.hint,
                        file: file,
                        position: use.position,
                        pointer: use.pointer.text
                    )
                )
            }
        }
        if let configuration = result.configuration, !diagnostics.contains(where: { $0.severity == .error }) {
            diagnostics += TLSFiles.faults(configuration, secrets: secrets, file: file)
            diagnostics += SigningSecrets.faults(configuration, secrets: secrets, file: file)
        }
        if let names = result.configuration?.listeners.map(\.name) {
            for name in passed where !names.contains(name) {
                diagnostics.append(
                    Diagnostic(
                        "the service manager passes a socket named \"\(name)\", and no listener has that name",
                        hint: "add one to \"listeners\", or change FileDescriptorName= in the socket's unit",
                        file: file,
                        position: JSONPosition(line: 1, column: 1),
                        pointer: "/listeners"
                    )
                )
            }
        }
        guard let configuration = result.configuration,
            !diagnostics.contains(where: { $0.severity == .error })
        else {
            throw ConfigurationRejected(
                diagnostics: diagnostics,
                texts: diagnostics.map { ($0.severity, $0.render()) },
                summary: summary(file, diagnostics)
            )
        }
        return LoadedConfiguration(
            configuration: configuration,
            secrets: secrets,
            file: file,
            digest: Digest.sha256(contents.bytes),
            warnings: diagnostics,
            outline: ConfigurationOutline(file: file, bytes: contents.bytes, wallSeconds: now)
        )
    }

    private static func summary(_ file: String, _ diagnostics: [Diagnostic]) -> String {
        let errors = diagnostics.filter { $0.severity == .error }
        guard let first = errors.first else { return "\(file): no configuration" }
        let rest = errors.count > 1 ? " (and \(errors.count - 1) more)" : ""
        return "\(file):\(first.position.line):\(first.position.column): \(first.message)\(rest)"
    }

    private static func rejected(_ file: String, _ message: String) -> ConfigurationRejected {
        ConfigurationRejected(
            diagnostics: [Diagnostic(message, file: file)],
            texts: [(.error, "\(file): error: \(message)\n")],
            summary: "\(file): \(message)"
        )
    }
}
