import Glibc
import RelayConfig
import RelayPosix

/// The findings of the reader of configurations on one that is not written yet.
struct InitialCheck {
    /// An answer that somebody has given and that may be refused.
    enum Answer: Equatable {
        case url
        case route
        case part(String)
        case secret
        case allowed
    }

    let warnings: [Diagnostic]
    private let errors: [Diagnostic]
    private let configuration: InitialConfiguration

    init(_ configuration: InitialConfiguration, file: String) {
        self.configuration = configuration
        let diagnostics = ConfigurationReader.read(
            Array(configuration.text.utf8),
            file: file,
            accounts: AccountResolver(user: Accounts.user, group: Accounts.group, zoneFile: ZoneFiles.read),
            wallSeconds: Int64(time(nil))
        ).diagnostics
        errors = diagnostics.filter { $0.severity == .error }
        warnings = diagnostics.filter { $0.severity == .warning }
    }

    /// The first thing that is refused, in the reader's words.
    var refusal: (answer: Answer, message: String, hint: String?)? {
        errors.first.map { (answer($0), $0.message, $0.hint) }
    }

    /// Why an answer is refused; nil when it may stand.
    func refusal(of wanted: Answer) -> String? {
        errors.first { answer($0) == wanted }.map { $0.message + ($0.hint.map { ": \($0)" } ?? "") }
    }

    private func answer(_ diagnostic: Diagnostic) -> Answer {
        // The route's name may be anything and holds no slash once it is a pointer's token.
        let tokens = diagnostic.pointer.split(separator: "/").dropFirst(2)
        switch tokens.first {
        case "upstreams": return .url
        case "allow_addresses": return .allowed
        case "auth":
            let key = tokens.dropFirst().first.map(String.init) ?? ""
            return key == configuration.credential.kind.secret?.key ? .secret : .part(key)
        default: return .route
        }
    }
}
