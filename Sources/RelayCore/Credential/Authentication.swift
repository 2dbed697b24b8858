/// How a route's attempts are authenticated: one credential, one form.
package struct Authentication: Sendable {
    /// The field the credential's value goes into.
    package enum Form: Sendable, Equatable {
        /// `Authorization: Bearer …`
        case bearer
        /// `Authorization: Basic …`
        case basic(username: String)
        /// A field of the route's choice, with the bare value.
        case header(name: String)
    }

    package var form: Form
    /// Name of a `CredentialDefinition`; a route's inline one is called `route:<name>`.
    package var credential: String

    package init(form: Form, credential: String) {
        self.form = form
        self.credential = credential
    }
}

/// Where a credential's value comes from.
package struct CredentialDefinition: Sendable {
    package enum Kind: Sendable {
        /// A fixed value, read once at load.
        case fixed(SecretReference)
        case oauth2(OAuth2Settings)
    }

    package var name: String
    package var kind: Kind

    package init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// A token endpoint and how to ask it (RFC 6749 §4.4 and §6).
package struct OAuth2Settings: Sendable, Equatable {
    package enum Grant: Sendable, Equatable {
        case clientCredentials
        case refreshToken(SecretReference)
    }

    /// How the client says who it is (RFC 6749 §2.3.1).
    package enum ClientAuthentication: String, CaseIterable, Sendable {
        case basic
        case post
    }

    package var grant: Grant
    /// The endpoint's origin, as an upstream so that the same transport reaches it.
    package var endpoint: Upstream
    /// Path and query of the endpoint, beginning with a slash.
    package var target: String
    package var clientID: String
    package var clientSecret: SecretReference?
    package var clientAuthentication = ClientAuthentication.basic
    package var scopes: [String] = []
    /// How long before its expiry a token is replaced while it is still being used.
    package var refreshBeforeExpiry: Duration = .seconds(60)
    /// How long a failed refresh is remembered: jobs that need the token meanwhile fail with the same error.
    package var failureCooldown: Duration = .seconds(2)
    package var timeout: Duration = .seconds(10)

    package init(grant: Grant, endpoint: Upstream, target: String, clientID: String) {
        self.grant = grant
        self.endpoint = endpoint
        self.target = target
        self.clientID = clientID
    }
}
