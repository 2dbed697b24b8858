package import RelayBase
import RelayJSON

/// Query parameters that every request of a route carries, in the place of the caller's of the same name.
///
/// They join a target only when an attempt is made from it: what is logged, kept or told never has them.
package struct RouteQuery: Sendable, Equatable {
    /// The value of a parameter.
    package enum Value: Sendable, Equatable {
        case text(String)
        /// A secret that has not been read yet.
        case reference(SecretReference)
        case secret(Secret)
    }

    /// Names and values as they are meant, not encoded; each name once.
    package var parameters: [(name: String, value: Value)]

    package init(_ parameters: [(name: String, value: Value)] = []) { self.parameters = parameters }

    package static func == (left: RouteQuery, right: RouteQuery) -> Bool {
        left.parameters.elementsEqual(right.parameters) { $0.name == $1.name && $0.value == $1.value }
    }

    /// The same with the secrets it refers to.
    package func resolved(_ secrets: [SecretReference: Secret]) -> RouteQuery {
        RouteQuery(
            parameters.map { name, value in
                guard case .reference(let reference) = value, let secret = secrets[reference] else {
                    return (name, value)
                }
                return (name, .secret(secret))
            }
        )
    }

    /// A target with the parameters behind those it keeps.
    ///
    /// - Throws: `credentials_failed` for a secret that was not read.
    package func merged(into target: String) throws(Failure) -> String {
        guard !parameters.isEmpty else { return target }
        var pairs = without(target)
        for (name, value) in parameters {
            let text: String
            switch value {
            case .text(let plain): text = percentEncoded(plain.utf8)
            case .secret(let secret): text = percentEncoded(secret.bytes)
            case .reference(let reference):
                throw .credentialsFailed(
                    "the query parameter \"\(name)\" was not set: \(reference.text) could not be read"
                )
            }
            pairs.query.append("\(percentEncoded(name.utf8))=\(text)"[...])
        }
        return "\(pairs.path)?\(pairs.query.joined(separator: "&"))"
    }

    /// A target without the parameters: what the upstream was told is no business of its caller.
    package func removed(from target: String) -> String {
        guard !parameters.isEmpty, target.contains("?") else { return target }
        let pairs = without(target)
        return pairs.query.isEmpty
            ? String(pairs.path) : "\(pairs.path)?\(pairs.query.joined(separator: "&"))"
    }

    /// A reference without the secrets among the values, wherever they stand in it and however they are encoded.
    package func withoutSecrets(_ reference: String) -> String {
        var bytes = Array(reference.utf8)
        for case (_, .secret(let secret)) in parameters where secret.bytes.count >= RouteQuery.shortestSecret
        {
            while let range = EncodedText(bytes).range(of: secret.bytes) { bytes.removeSubrange(range) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Bytes of a value from which on it is told from what stands in a reference by chance.
    private static let shortestSecret = 4

    private func without(_ target: String) -> (path: Substring, query: [Substring]) {
        guard let mark = target.firstIndex(of: "?") else { return (target[...], []) }
        let names = Set(parameters.map { Array($0.name.utf8) })
        let pairs = target[target.index(after: mark)...].split(
            separator: "&",
            omittingEmptySubsequences: false
        )
        .filter { !names.contains(formDecoded($0.prefix { $0 != "=" })) }
        // A bare question mark says nothing that the parameters' own would not.
        return (target[..<mark], pairs == [""] ? [] : pairs)
    }
}

/// Undoes `application/x-www-form-urlencoded` (WHATWG URL §5.1); an escape that is none stands for itself.
private func formDecoded(_ text: Substring) -> [UInt8] {
    var decoded: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count >= 2, let high = rest[rest.startIndex].hexadecimalValue,
            let low = rest[rest.startIndex + 1].hexadecimalValue
        {
            decoded.append(high << 4 | low)
            rest = rest.dropFirst(2)
        } else {
            decoded.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        }
    }
    return decoded
}
