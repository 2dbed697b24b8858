package import RelayBase
import RelayJSON
package import RelayRoute

/// The token request of RFC 6749 and what its answer says; pure.
package struct TokenExchange: Sendable {
    let settings: OAuth2Settings

    package init(settings: OAuth2Settings) { self.settings = settings }

    /// Bytes of a token answer that are read.
    package static let answerLimit = 65_536

    /// Attempts to one origin: the secrets go to the endpoint and nowhere else.
    package func request(clientSecret: Secret?, refreshToken: Secret?, now: Instant) -> OutboundRequest {
        var form: [(String, String)] = []
        switch settings.grant {
        case .clientCredentials: form.append(("grant_type", "client_credentials"))
        case .refreshToken:
            form.append(("grant_type", "refresh_token"))
            if let refreshToken { form.append(("refresh_token", refreshToken.text)) }
        }
        if !settings.scopes.isEmpty { form.append(("scope", settings.scopes.joined(separator: " "))) }
        var fields = HeaderFields()
        fields.append("Accept", "application/json")
        fields.append("User-Agent", Version.userAgent)
        fields.append("Content-Type", "application/x-www-form-urlencoded")
        switch (settings.clientAuthentication, clientSecret) {
        case (.basic, .some(let secret)):
            // RFC 6749 §2.3.1: both halves are form-encoded before they are joined.
            let pair = formEncoded(settings.clientID) + ":" + formEncoded(secret.text)
            fields.append("Authorization", "Basic " + base64(Array(pair.utf8)))
        case (.post, .some(let secret)):
            form.append(("client_id", settings.clientID))
            form.append(("client_secret", secret.text))
        case (_, .none):
            form.append(("client_id", settings.clientID))
        }
        for (name, value) in settings.request.parameters.parameters {
            if let text = value.plain { form.append((formEncoded(name), text)) }
        }
        for (name, value) in settings.request.fields.parameters {
            if let text = value.plain { fields.append(name, text) }
        }
        let body = form.map { "\($0)=\(formEncoded($1))" }.joined(separator: "&")
        var limits = ResponseLimits()
        limits.body = TokenExchange.answerLimit
        limits.decodesContent = true
        var timeouts = AttemptTimeouts(connect: settings.timeout, idle: settings.timeout)
        timeouts.source = LimitName("the credential's timeout")
        return OutboundRequest(
            upstream: settings.endpoint,
            method: .post,
            target: settings.target,
            fields: fields,
            body: .bytes(Array(body.utf8)),
            deadline: now.advanced(by: settings.timeout),
            timeouts: timeouts,
            limits: limits,
            timeLimit: TimeLimit("the credential's timeout", settings.timeout)
        )
    }

    /// The tokens that a good answer gave, and their lifetime.
    package struct Grant: Sendable {
        package let token: Secret
        package let expiresIn: Duration?
        /// The endpoint's replacement for the refresh token, where it rotates them.
        package let refreshToken: Secret?
    }

    /// Reads the endpoint's answer (RFC 6749 §5.1 and §5.2).
    ///
    /// - Throws: `credentials_failed`; the text names the endpoint and the standard's error code, never more.
    package func grant(status: Status, body: [UInt8]) throws(Failure) -> Grant {
        let document = try? JSONValue(parsing: body)
        guard status.class == .success else {
            let code = document?.member("error")?.text
            let known = code.flatMap { TokenExchange.errorCodes.contains($0) ? " (\($0))" : nil } ?? ""
            throw failure("answered \(status.rawValue)\(known)")
        }
        guard let document else { throw failure("answered 200 with a body that is not JSON") }
        let terms = settings.answer
        guard let token = document.value(at: terms.token)?.text, !token.isEmpty, token.utf8.count <= 16_384,
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw failure("answered 200 without a usable \(TokenExchange.name(terms.token))") }
        // An endpoint with names of its own may mean something of its own by this one, too.
        if terms.token == TokenAnswerTerms().token, let type = document.member("token_type")?.text,
            type.lowercased() != "bearer"
        {
            throw failure("gave a token whose token_type is not Bearer")
        }
        let refreshToken = document.value(at: terms.refreshToken)?.text
        if let refreshToken, refreshToken.utf8.count > 16_384 {
            throw failure("gave a \(TokenExchange.name(terms.refreshToken)) of more than 16 KiB")
        }
        return Grant(
            token: Secret(token),
            expiresIn: TokenExchange.lifetime(document.value(at: terms.lifetime), in: terms.lifetimeUnit),
            refreshToken: refreshToken.flatMap { $0.isEmpty ? nil : Secret($0) }
        )
    }

    /// A member of the document by its name, anything deeper by its pointer.
    private static func name(_ pointer: JSONPointer) -> String {
        pointer.tokens.count == 1 ? pointer.tokens[0] : "token at \(pointer.text)"
    }

    /// The lifetime that `expires_in` says, as far as it says any: a usable token is used.
    ///
    /// From one second, also where nothing or less is left, so that the endpoint is not asked for every request, to ten
    /// years. Nil where it is absent, null or no number: the token is then used until it is refused.
    static func lifetime(_ value: JSONValue?, in unit: TokenAnswerTerms.Unit = .seconds) -> Duration? {
        let number: JSONNumber
        switch value {
        case .number(let given): number = given
        case .string(let text):
            // Some endpoints quote the number, against RFC 6749 §5.1.
            guard case .number(let quoted)? = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
            number = quoted
        default: return nil
        }
        // A number beyond all doubles is as long, or as little, as its sign says.
        let seconds =
            number.double.map { $0 / unit.perSecond } ?? (number.text.hasPrefix("-") ? 0 : longestLifetime)
        return .seconds(min(max(seconds, 1), longestLifetime).rounded(.down))
    }

    private static let longestLifetime = 10 * 365 * 86_400.0

    package func failure(_ what: String) -> Failure {
        Failure.credentialsFailed("the token endpoint \(settings.endpoint.origin.text) \(what)")
    }

    /// RFC 6749 §5.2.
    private static let errorCodes: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope",
    ]
}

extension JSONValue {
    fileprivate func member(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    fileprivate var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
