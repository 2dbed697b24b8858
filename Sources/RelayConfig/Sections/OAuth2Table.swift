import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    /// A token endpoint; only a shared one says for itself which addresses and authorities it trusts.
    static func oauth2(isRefreshToken: Bool, isShared: Bool) -> Section<OAuth2Draft> {
        let word = isRefreshToken ? "oauth2_refresh_token" : "oauth2_client_credentials"
        return Section(
            (isShared ? "shared_" : "") + word,
            isRefreshToken
                ? "A refresh token grant (RFC 6749, 6)." : "A client credentials grant (RFC 6749, 4.4).",
            of: OAuth2Draft()
        ) {
            Field.tag("type", word, "Chooses the kind.")
            Field("token_url", .resourceURL, \.tokenURL, isRequired: true) { "The token endpoint." }
            Field("client_id", .string(mayBeEmpty: false), \.settings.clientID, isRequired: true) {
                "The client's identifier."
            }
            Field("client_secret", .secret, \.settings.clientSecret, isRequired: !isRefreshToken) {
                "The client's secret."
            }
            if isRefreshToken {
                Field("refresh_token", .secret, \.refreshToken, isRequired: true) {
                    "The first refresh token. Those the endpoint gives later are kept in the state directory "
                        + "(refresh-tokens, mode 0600) and used after a restart."
                }
            }
            tokenFields
            if isShared {
                Field("allow_addresses", .list(.addressRange, maximum: 100), \.allowAddresses) {
                    "Ranges of addresses that are not public and may be dialled all the same."
                }
                Field("ca_file", .absolutePath, \.authorityFile) {
                    "PEM file with the only authorities to trust; without it the system's are trusted."
                }
            } else {
                Field("refresh_on_401", .boolean, \.refreshesOn401) { refreshDoc }
            }
        } check: { draft, node, reading in
            guard isShared, let url = draft.tokenURL else { return }
            let place = node.location("token_url")
            checkHost(url, allowed: draft.allowAddresses, by: "credential", at: place, &reading)
            checkPlainHTTP(url, at: place, &reading)
        }
    }

    /// The fields that say what is asked for, and when.
    @FieldList<OAuth2Draft> private static var tokenFields: [Field<OAuth2Draft>] {
        Field("client_auth", .word(), \.settings.clientAuthentication) {
            "Whether identifier and secret go in the Authorization header or in the form (RFC 6749, 2.3.1)."
        }
        Field("scopes", .list(scope, maximum: 100), \.settings.scopes) { "The scopes to ask for." }
        Field("refresh_before_expiry", .duration(.zero ... .seconds(86_400)), \.settings.refreshBeforeExpiry)
        {
            "How long before its expiry a token is replaced while the old one still serves."
        }
        Field("failure_cooldown", .duration(.zero ... .seconds(3600)), \.settings.failureCooldown) {
            "How long a failed request for a token is remembered before the next is tried."
        }
        Field("timeout", .duration(.milliseconds(1) ... .seconds(600)), \.settings.timeout) {
            "The longest one request for a token may take."
        }
        Field("token_request", tokenRequest.kind, \.settings.request) {
            "What the request for a token has besides."
        }
        Field("answer", tokenAnswer.kind, \.settings.answer) { "Where the endpoint's answer has what." }
    }

    private static var tokenRequest: Section<TokenRequestTerms> {
        Section(
            "token_request",
            "What the request for a token has besides what RFC 6749 names.",
            of: TokenRequestTerms()
        ) {
            Field("parameters", .tokenParameters, \.parameters.parameters) {
                "Parameters of the form, such as audience or resource. A value is text, written as it is meant, or a "
                    + "secret."
            }
            Field("headers", .tokenFields, \.fields.parameters) {
                "Headers of the request, each a text or a secret."
            }
        }
    }

    private static var tokenAnswer: Section<TokenAnswerTerms> {
        Section(
            "token_answer",
            "Where the endpoint's answer has what; for one that does not go by RFC 6749, 5.1.",
            of: TokenAnswerTerms()
        ) {
            Field("token", .memberPointer, \.token) { "Where the token stands." }
            Field("lifetime", .memberPointer, \.lifetime) {
                "Where it stands how long the token is good for. Without it the token is used until it is refused."
            }
            Field("lifetime_unit", .word(), \.lifetimeUnit) {
                "What that number counts: seconds or milliseconds."
            }
            Field("refresh_token", .memberPointer, \.refreshToken) {
                "Where the refresh token stands that takes the place of the last one."
            }
        }
    }

    /// One scope token (RFC 6749 §3.3).
    private static var scope: ValueKind<String> {
        .text("a scope without spaces") { text throws(Refusal) in
            let isScope = text.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            }
            guard !text.isEmpty, text.utf8.count <= 255, isScope else {
                throw Refusal("a scope has no spaces or quotes", hint: "one list entry for each scope")
            }
            return text
        }.writing { .string($0) }
    }

    /// Reports a host that is a private address or this machine and is not allowed by its `owner`.
    static func checkHost(
        _ url: UpstreamURL,
        allowed: [AddressRange],
        by owner: StaticString,
        at place: JSONNode.Location,
        _ reading: inout ReadContext
    ) {
        guard let special = SpecialAddresses.ranges(to: url) else { return }
        if let address = url.address {
            let plain = SpecialAddresses.embedded(address)
            if allowed.contains(where: { $0.contains(address) || $0.contains(plain) }) { return }
        } else if !allowed.isEmpty {
            return
        }
        let ranges = special.ranges.map { "\"\($0)\"" }.joined(separator: ", ")
        reading.error(
            "the host is \(special.what), which the relay does not dial",
            at: place,
            hint: "if it is meant, add \"allow_addresses\": [\(ranges)] to the \(owner)"
        )
    }

    /// Warns of what would cross the network in the clear.
    static func checkPlainHTTP(
        _ url: UpstreamURL,
        _ message: String = "the credential crosses the network unencrypted",
        at place: JSONNode.Location,
        _ reading: inout ReadContext
    ) {
        if url.isTLS || url.host == "localhost" || url.address.map(SpecialAddresses.isLoopback) == true {
            return
        }
        reading.warn(
            message,
            at: place,
            hint: "use https if the upstream can"
        )
    }
}
