import RelayBase
import RelayJSON
import RelayRoute

extension ValueKind where Value == [(name: String, value: RouteQuery.Value)] {
    /// Query parameters by name; no message shows a value.
    static var queryParameters: ValueKind {
        .map(value(.string(upTo: 8192), of: "parameter"), name: "parameter names") { name throws(Refusal) in
            guard !name.isEmpty, name.utf8.count <= 256 else {
                throw Refusal("a query parameter has a name of 1 to 256 bytes")
            }
        }
    }

    /// The same of the form of a request for a token.
    static var tokenParameters: ValueKind {
        .map(value(.string(upTo: 8192), of: "parameter"), name: "parameter names") { name throws(Refusal) in
            guard !name.isEmpty, name.utf8.count <= 256 else {
                throw Refusal("a parameter has a name of 1 to 256 bytes")
            }
            guard TokenRequestTerms.ownParameters.contains(name.lowercased()) else { return }
            throw Refusal(
                "the parameter \"\(printable(name))\" is written by the relay itself",
                hint: "use the credential's own members, such as \"client_id\" and \"scopes\""
            )
        }
    }

    /// Headers of a request for a token.
    static var tokenFields: ValueKind {
        .map(
            value(.fieldValue, of: "header"),
            name: "header names",
            pattern: ValueKind<String>.fieldNamePattern,
            ignoresCase: true
        ) {
            name throws(Refusal) in
            let field = try checkFieldName(name, for: .credential)
            guard TokenRequestTerms.ownFields.contains(field) else { return }
            throw Refusal(
                "the header \"\(printable(name))\" is written by the relay itself",
                hint: "remove it"
            )
        }
    }

    /// Such a text, or a secret.
    private static func value(_ text: ValueKind<String>, of what: String) -> ValueKind<RouteQuery.Value> {
        let secret = ValueKind<SecretReference>.secret
        return ValueKind<RouteQuery.Value>(.either(text.shape, secret.shape)) { node, _, reading in
            if case .object = node.content { return secret.read(node, nil, &reading).map { .reference($0) } }
            reading.conceal(node)
            guard case .string = node.content else {
                reading.error("expected a string or a secret", at: node.range)
                return nil
            }
            if SecretMask.isSensitive(reading.path.last ?? "") {
                reading.warn(
                    "the name of the \(what) sounds like a secret's, and its value stands in the configuration",
                    at: node.range,
                    hint: "write {\"credential\": \"NAME\"} or {\"file\": \"PATH\"} if it is one"
                )
            }
            return text.read(node, nil, &reading).map { .text($0) }
        }
    }
}
