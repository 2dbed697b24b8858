import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var credentials: ValueKind<[(name: String, value: OAuth2Draft)]> {
        let credential = TaggedSection<OAuth2Draft>(
            "credential",
            "A credential that is fetched, and shared by the routes that name it.",
            key: "type",
            [
                .init("oauth2_client_credentials", oauth2(isRefreshToken: false, isShared: true)) { $0 },
                .init("oauth2_refresh_token", oauth2(isRefreshToken: true, isShared: true)) { $0 },
            ]
        )
        return .map(credential.kind, name: "names", pattern: ValueKind<String>.namePattern) {
            name throws(Refusal) in
            _ = try ValueKind<String>.checkName(name)
        }
    }

    static var auth: ValueKind<AuthDraft> {
        TaggedSection<AuthDraft>(
            "auth",
            "How the upstream knows the caller. What the caller sends in the same header is replaced.",
            key: "type",
            [
                .init("header", headerAuth) { draft in
                    draft.secret.map { .fixed(.header(name: draft.name), $0) }
                },
                .init("bearer", bearerAuth) { draft in
                    draft.credential.map { .shared($0, refreshesOn401: draft.refreshesOn401) }
                        ?? draft.secret.map { .fixed(.bearer, $0) }
                },
                .init("basic", basicAuth) { draft in
                    draft.secret.map { .fixed(.basic(username: draft.name), $0) }
                },
                .init("oauth2_client_credentials", oauth2(isRefreshToken: false, isShared: false)) {
                    .oauth2($0)
                },
                .init("oauth2_refresh_token", oauth2(isRefreshToken: true, isShared: false)) { .oauth2($0) },
            ]
        ).kind
    }

    private struct FixedDraft {
        var name = ""
        var secret: SecretReference?
        var credential: String?
        var refreshesOn401 = true
    }

    private static let tagDoc = "Chooses the kind."

    /// The meaning of `refresh_on_401` of a route's `auth`.
    static let refreshDoc =
        "Whether an answer 401 fetches the credential anew and sends again, once a job: the rule stale-token, in front "
        + "of the route's rules unless one of them has refresh_credentials."

    private static var headerAuth: Section<FixedDraft> {
        Section("header_auth", "A fixed value in a header of the upstream's choice.", of: FixedDraft()) {
            Field.tag("type", "header", tagDoc)
            Field("name", .fieldName(.credential), \.name, isRequired: true) {
                "The header, such as X-Api-Key."
            }
            Field("value", .secret, \.secret, isRequired: true) { "The header's value." }
        }
    }

    private static var bearerAuth: Section<FixedDraft> {
        Section(
            "bearer_auth",
            "A token in Authorization: Bearer.",
            of: FixedDraft(),
            choices: [.exactlyOne("token", "credential")]
        ) {
            Field.tag("type", "bearer", tagDoc)
            Field("token", .secret, \.secret) { "A fixed token." }
            Field("credential", .name, \.credential) { "One of \"credentials\", by name." }
            Field("refresh_on_401", .boolean, \.refreshesOn401) { refreshDoc + " A fixed token never is." }
        } check: { draft, node, reading in
            guard let name = draft.credential else { return }
            let names = reading.root["credentials"]?.value.memberNames ?? []
            if names.contains(name) { return }
            reading.error(
                "no credential named \"\(name)\"",
                at: node.location("credential"),
                hint: nearestWord(to: name, among: names).map { "did you mean \"\($0)\"?" }
                    ?? "define it under \"credentials\""
            )
        }
    }

    private static var basicAuth: Section<FixedDraft> {
        Section("basic_auth", "A user name and password (RFC 7617).", of: FixedDraft()) {
            Field.tag("type", "basic", tagDoc)
            Field("username", username, \.name, isRequired: true) { "The user name; no colon." }
            Field("password", .secret, \.secret, isRequired: true) { "The password." }
        }
    }

    private static var username: ValueKind<String> {
        .text("a user name") { text throws(Refusal) in
            guard text.utf8.count <= 255,
                text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ":") })
            else { throw Refusal("a user name has no colon and no control characters") }
            return text
        }
    }
}

extension JSONNode {
    /// The names of an object's members; none for anything else.
    var memberNames: [String] {
        if case .object(let members) = content { return members.map(\.name) }
        return []
    }
}
