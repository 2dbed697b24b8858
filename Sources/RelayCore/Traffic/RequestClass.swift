package import RelayBase

/// The kind of a request, as far as the protection of upstreams tells requests apart, and the user that asks.
///
/// It is made only where an upstream is in trouble: a request to one that is well pays nothing for it.
package struct RequestClass: Hashable, Sendable {
    /// The method and the kind of its path: `POST /orders/*` (`PathKind`).
    let name: String
    /// Whether its content is larger than what is read before it is sent, or of unknown length.
    let isLarge: Bool
    /// The user that asks; nil where nobody is told apart.
    let user: UInt32?
    /// A digest of the credential that the caller sends along; 0 without one.
    let credential: Int
    /// The name with its identifiers: some upstreams limit each of their resources.
    private let exactName: String

    /// Content above that is large.
    static let largeContent: UInt64 = 65_536

    package init(
        _ method: Method,
        target: String,
        contentLength: UInt64?,
        user: UInt32?,
        credential: String? = nil
    ) {
        let names = PathKind.names(method, target)
        name = names.kind
        exactName = names.exact ?? names.kind
        isLarge = contentLength.map { $0 > RequestClass.largeContent } ?? true
        self.user = user
        self.credential = credential?.hashValue ?? 0
    }

    /// The same request of whoever asks, of any size: what an upstream's word about its limits is about.
    var asked: Asked { Asked(name: exactName, credential: credential) }

    package static func == (one: RequestClass, other: RequestClass) -> Bool {
        one.name == other.name && one.isLarge == other.isLarge && one.user == other.user
            && one.credential == other.credential
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(isLarge)
        hasher.combine(user)
        hasher.combine(credential)
    }

    /// The subject of an upstream's limit: a kind of request, with the credential it came with.
    struct Asked: Hashable, Sendable {
        let name: String
        let credential: Int
    }
}
