/// The section `auth` of a new configuration: its type, its other keys and the place of its secret.
struct InitialCredential {
    /// A key of `auth` other than the secret, with the option and the question that ask for its value.
    struct Part {
        let key: String
        /// The option of `waystation init` that sets it, without dashes.
        let option: String
        let question: String
        var defaultValue: String?
    }

    enum Kind: String, CaseIterable {
        case none
        case bearer
        case basic
        case header
        case clientCredentials = "oauth2_client_credentials"
        case refreshToken = "oauth2_refresh_token"

        var parts: [Part] {
            switch self {
            case .none, .bearer: []
            case .basic: [Part(key: "username", option: "user", question: "User name")]
            case .header: [Part(key: "name", option: "header", question: "Header", defaultValue: "X-Api-Key")]
            case .clientCredentials, .refreshToken:
                [
                    Part(key: "token_url", option: "token-url", question: "URL of the token endpoint"),
                    Part(key: "client_id", option: "client-id", question: "Id of the client"),
                ]
            }
        }

        /// The key of the secret, and the word for it in a question; nil for `none`.
        var secret: (key: String, word: String)? {
            switch self {
            case .none: nil
            case .bearer: ("token", "token")
            case .basic: ("password", "password")
            case .header: ("value", "key")
            case .clientCredentials: ("client_secret", "client secret")
            case .refreshToken: ("refresh_token", "refresh token")
            }
        }
    }

    /// Where the secret is kept: the configuration names only this place.
    enum Location: Equatable {
        /// The name of a systemd credential.
        case credential(String)
        case file(String)

        /// A text that begins with `/` is the path of a file; any other is the name of a systemd credential.
        init(_ text: String) { self = text.hasPrefix("/") ? .file(text) : .credential(text) }
    }

    var kind = Kind.none
    /// The values of the parts, by their keys.
    var values: [String: String] = [:]
    var location: Location?

    /// The default name of the systemd credential, such as `billing-client-secret`.
    static func defaultName(_ kind: Kind, route: String) -> String {
        "\(route)-\((kind.secret?.word ?? "").map { $0 == " " ? "-" : String($0) }.joined())"
    }
}
