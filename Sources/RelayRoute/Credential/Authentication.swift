public import RelayBase

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

    /// The field the value goes into.
    public var form: Form
    /// Name of a `CredentialDefinition`; a route's inline one is called `route:<name>`.
    public var credential: String

    /// Names a credential and the field its value goes into.
    public init(form: Form, credential: String) {
        self.form = form
        self.credential = credential
    }
}

/// Where a credential's value comes from.
public struct CredentialDefinition: Sendable {
    /// Where a value comes from.
    public enum Kind: Sendable {
        /// A fixed value, read once at load.
        case fixed(SecretReference)
        /// A token endpoint is asked (RFC 6749).
        case oauth2(OAuth2Settings)
        /// A program fetches it itself.
        case custom(CustomCredential)
    }

    /// The name by which ``Authentication/credential`` refers to it.
    public var name: String
    /// Where its value comes from.
    public var kind: Kind

    /// Names a source of values.
    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// A token endpoint and how to ask it (RFC 6749 §4.4 and §6).
public struct OAuth2Settings: Sendable, Equatable {
    /// The grant that is exchanged for a token.
    public enum Grant: Sendable, Equatable {
        /// The client's own identity (RFC 6749 §4.4).
        case clientCredentials
        /// A refresh token (RFC 6749 §6); one the endpoint gives in its place is used from then on.
        case refreshToken(SecretReference)
    }

    /// How the client says who it is (RFC 6749 §2.3.1).
    public enum ClientAuthentication: String, CaseIterable, Sendable {
        /// In an `Authorization` field.
        case basic
        /// In the form, as `client_id` and `client_secret`.
        case post
    }

    /// The grant that is exchanged for a token.
    public var grant: Grant
    /// The endpoint's origin, as an upstream so that the same transport reaches it.
    public var endpoint: Upstream
    /// Path and query of the endpoint, beginning with a slash.
    public var target: String
    /// The client's name at the endpoint.
    public var clientID: String
    /// The client's secret; nil for a public client.
    public var clientSecret: SecretReference?
    /// How the client says who it is; `basic` unless set.
    public var clientAuthentication = ClientAuthentication.basic
    /// The scopes that the token is to be good for; none asks for the endpoint's default.
    public var scopes: [String] = []
    /// How long before its expiry a token is replaced while it is still being used; 60 s unless set.
    public var refreshBeforeExpiry: Duration = .seconds(60)
    /// How long a failed refresh is remembered: jobs that need the token meanwhile fail with the same error.
    ///
    /// 2 s unless set.
    public var failureCooldown: Duration = .seconds(2)
    /// How long one request to the endpoint may take; 10 s unless set.
    public var timeout: Duration = .seconds(10)
    package var request = TokenRequestTerms()
    package var answer = TokenAnswerTerms()

    /// Takes what has no default.
    public init(grant: Grant, endpoint: Upstream, target: String, clientID: String) {
        self.grant = grant
        self.endpoint = endpoint
        self.target = target
        self.clientID = clientID
    }
}

extension Authentication {
    package var headerName: String {
        switch form {
        case .bearer, .basic: "Authorization"
        case .header(let name): name
        }
    }

    package var fieldName: FieldName { FieldName(headerName) ?? .authorization }

    /// Nil when the secret is not UTF-8.
    package func headerValue(_ token: Token) -> String? {
        switch form {
        case .bearer: token.secret.validText.map { "Bearer " + $0 }
        case .basic(let username): "Basic " + base64(Array("\(username):".utf8) + token.secret.bytes)
        case .header: token.secret.validText
        }
    }
}
