import RelayCore
import RelayJSON

extension ValueKind where Value == [(name: String, value: RouteQuery.Value)] {
    /// Query parameters by name; no message shows a value.
    static var queryParameters: ValueKind {
        .map(parameter, name: "parameter names") { name throws(Refusal) in
            guard !name.isEmpty, name.utf8.count <= 256 else {
                throw Refusal("a query parameter has a name of 1 to 256 bytes")
            }
        }
    }

    private static var parameter: ValueKind<RouteQuery.Value> {
        let text = ValueKind<String>.string(upTo: 8192)
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
                    "the name of the parameter sounds like a secret's, and its value stands in the configuration",
                    at: node.range,
                    hint: "write {\"credential\": \"NAME\"} or {\"file\": \"PATH\"} if it is one"
                )
            }
            return text.read(node, nil, &reading).map { .text($0) }
        }
    }
}
