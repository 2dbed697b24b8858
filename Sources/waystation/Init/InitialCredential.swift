/// How the upstream of a first configuration knows who asks: a kind of `auth`, with what has to be said of it.
struct InitialCredential {
    /// A key beside the secret, and how a person is asked for it.
    struct Part {
        let key: String
        /// The option that gives it.
        let option: String
        let question: String
        var usual: String?
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
            case .header: [Part(key: "name", option: "header", question: "Header", usual: "X-Api-Key")]
            case .clientCredentials, .refreshToken:
                [
                    Part(key: "token_url", option: "token-url", question: "URL of the token endpoint"),
                    Part(key: "client_id", option: "client-id", question: "Id of the client"),
                ]
            }
        }

        /// The key of the secret, and what a person calls it; nil where there is none.
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

    /// Where the secret is kept; the configuration holds no secret.
    enum Place: Equatable {
        /// Given to the daemon by systemd under this name.
        case credential(String)
        case file(String)

        /// As one word: a file is named by its path.
        init(_ text: String) { self = text.hasPrefix("/") ? .file(text) : .credential(text) }
    }

    var kind = Kind.none
    /// By their keys.
    var values: [String: String] = [:]
    var place: Place?

    /// The name of a systemd credential, unless somebody has a better one.
    static func usualPlace(_ kind: Kind, route: String) -> String {
        "\(route)-\((kind.secret?.word ?? "").map { $0 == " " ? "-" : String($0) }.joined())"
    }
}
