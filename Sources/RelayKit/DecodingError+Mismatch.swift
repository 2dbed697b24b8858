import RelayJSON

extension DecodingError {
    /// The fault and its place below `container`.
    ///
    /// For a message: the program's own names of types and members and the indices of arrays, nothing the answer holds.
    func mismatch(below container: [String]) -> String {
        switch self {
        case .typeMismatch(let type, let context): "no \(type) at \(pointer(context.codingPath, container))"
        case .valueNotFound(let type, let context):
            "null where \(type) is wanted at \(pointer(context.codingPath, container))"
        case .keyNotFound(let key, let context):
            "no member \(key.safeName) at \(pointer(context.codingPath, container))"
        // Foundation's decoder leaves the last key out of some of these paths.
        case .dataCorrupted(let context):
            "something malformed at or below \(pointer(context.codingPath, container))"
        @unknown default: "DecodingError"
        }
    }

    /// A JSON pointer, cut where it would be long: the answer decides how deep a value nests.
    private func pointer(_ path: [any CodingKey], _ container: [String]) -> String {
        let tokens = container + path.prefix(16).map(\.safeName)
        if tokens.isEmpty { return "its root" }
        return JSONPointer(tokens: tokens).text + (path.count > 16 ? "/…" : "")
    }
}

extension CodingKey {
    /// The key's name where the program's source gave it, an index of an array, or `*`: the keys of a dictionary come
    /// from the answer.
    fileprivate var safeName: String {
        if let intValue, stringValue == "Index \(intValue)" { return "\(intValue)" }
        let mirror = Mirror(reflecting: self)
        return mirror.displayStyle == .enum && mirror.children.isEmpty ? stringValue : "*"
    }
}
