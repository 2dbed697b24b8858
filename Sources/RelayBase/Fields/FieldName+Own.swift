/// Fields that belong to framing, routing and the connection.
private let ownFields: Set<String> = [
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "te",
    "trailer", "upgrade", "expect", "via", "proxy-status", "server-timing",
]

extension FieldName {
    /// Whether the relay writes the field itself; settings that named it would break the framing or the routing.
    package var isOfTheRelay: Bool {
        let text = lowercasedText
        return ownFields.contains(text) || text.hasPrefix("waystation-")
    }
}
