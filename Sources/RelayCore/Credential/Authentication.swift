/// How a route's attempts are authenticated: one credential, one form.
public struct Authentication: Sendable, Equatable {
    /// The field the credential's value goes into.
    public enum Form: Sendable, Equatable {
        /// `Authorization: Bearer …`
        case bearer
        /// `Authorization: Basic …`
        case basic(username: String)
        /// A field of the route's choice, with the bare value.
        case header(name: String)
    }

    public var form: Form
    /// Name of a `CredentialDefinition`; a route's inline one is called `route:<name>`.
    public var credential: String

    public init(form: Form, credential: String) {
        self.form = form
        self.credential = credential
    }
}

/// Where a credential's value comes from.
public struct CredentialDefinition: Sendable {
    public enum Kind: Sendable {
        /// A fixed value, read once at load.
        case fixed(SecretReference)
        case oauth2(OAuth2Settings)
        /// A program fetches it itself.
        case custom(CustomCredential)
    }

    public var name: String
    public var kind: Kind

    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// A token endpoint and how to ask it (RFC 6749 §4.4 and §6).
public struct OAuth2Settings: Sendable, Equatable {
    public enum Grant: Sendable, Equatable {
        case clientCredentials
        case refreshToken(SecretReference)
    }

    /// How the client says who it is (RFC 6749 §2.3.1).
    public enum ClientAuthentication: String, CaseIterable, Sendable {
        case basic
        case post
    }

    public var grant: Grant
    /// The endpoint's origin, as an upstream so that the same transport reaches it.
    public var endpoint: Upstream
    /// Path and query of the endpoint, beginning with a slash.
    public var target: String
    public var clientID: String
    public var clientSecret: SecretReference?
    public var clientAuthentication = ClientAuthentication.basic
    public var scopes: [String] = []
    /// How long before its expiry a token is replaced while it is still being used.
    public var refreshBeforeExpiry: Duration = .seconds(60)
    /// How long a failed refresh is remembered: jobs that need the token meanwhile fail with the same error.
    public var failureCooldown: Duration = .seconds(2)
    public var timeout: Duration = .seconds(10)

    public init(grant: Grant, endpoint: Upstream, target: String, clientID: String) {
        self.grant = grant
        self.endpoint = endpoint
        self.target = target
        self.clientID = clientID
    }
}
