import RelayBase
import RelayRoute
import RelayTestSupport

struct CredentialCase {
    enum Kind {
        case fixed
        /// The client secret, or nothing, cannot be read.
        case fetched(isMissing: Bool)
    }

    let name: String
    let kind: Kind
    let form: Authentication.Form
    let definition: CredentialDefinition
    let settings: OAuth2Settings?
    let secrets: [SecretReference: Secret]

    var authentication: Authentication { Authentication(form: form, credential: name) }
    var isFetched: Bool { if case .fetched = kind { true } else { false } }
    var isMissing: Bool { if case .fetched(true) = kind { true } else { false } }

    init(_ index: Int, _ draw: inout SplitMix64, isMissing: Bool, plant: Plant?) {
        name = "c\(index)"
        if index == 2, !isMissing {
            kind = .fixed
            form = draw.pick([.bearer, .basic(username: "me"), .header(name: "X-Api-Key")])
            let reference = SecretReference.file("f\(index)")
            definition = CredentialDefinition(name: name, kind: .fixed(reference))
            settings = nil
            secrets = [reference: Secret("~f\(index)")]
            return
        }
        kind = .fetched(isMissing: isMissing)
        form = draw.pick([.bearer, .bearer, .header(name: "X-Api-Key")])
        let client = SecretReference.file("s\(index)")
        let refresh = SecretReference.file("r\(index)")
        let usesRefreshToken = draw.chance(50)
        var settings = OAuth2Settings(
            grant: usesRefreshToken ? .refreshToken(refresh) : .clientCredentials,
            endpoint: Upstream(
                name: "endpoint",
                origin: plant == .tellsSecret
                    ? .tcp(host: "~s\(index)", port: Origin.endpointPort + UInt16(index), isTLS: true)
                    : .endpoint(index)
            ),
            target: "/token",
            clientID: "client\(index)"
        )
        settings.clientSecret = client
        settings.clientAuthentication = draw.pick([.basic, .post])
        settings.timeout = .milliseconds(draw.pick([300, 1_000, 2_000, 5_000]))
        settings.failureCooldown = .milliseconds(draw.pick([0, 100, 500, 2_000]))
        settings.refreshBeforeExpiry = .milliseconds(draw.pick([0, 500, 1_000, 60_000]))
        var secrets = [refresh: Secret(SimulatedEndpoint.refreshToken(index, 0))]
        if !isMissing { secrets[client] = Secret("~s\(index)") }
        (self.settings, self.secrets) = (settings, secrets)
        definition = CredentialDefinition(name: name, kind: .oauth2(settings))
    }
}
