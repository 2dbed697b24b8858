public import RelayBase

/// A request's changes for a constrained network.
///
/// Method, key, content and credential are those of the request, and so is the upstream's base.
public struct LightRequest: Sendable, Equatable {
    /// The path below the base, in which `{path}` stands for the request's own; nil keeps that.
    public let path: String?
    package let query: RouteQuery
    package let fields: [(name: String, value: String)]

    /// Nothing is left as it is that is named here.
    ///
    /// - Parameters:
    ///   - path: below the upstream's base, percent-encoded, in which `{path}` stands for the request's own; nil keeps
    ///     that.
    ///   - query: parameters that take the place of those of the same name, not encoded.
    ///   - headers: fields that take the place of those of the same name.
    /// - Throws: why a part could lead elsewhere, or is another request's: a path out of the base, a field of the key, of
    ///   the credential or of the connection.
    public init(
        path: String? = nil,
        query: [String: String] = [:],
        headers: [String: String] = [:]
    ) throws(Refusal) {
        try self.init(
            path: path,
            query: RouteQuery(query.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) }),
            fields: headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        )
    }

    package init(
        path: String?,
        query: RouteQuery,
        fields: [(name: String, value: String)]
    ) throws(Refusal) {
        self.path = try path.map(LightRequest.checked)
        for (name, _) in fields {
            let field = try FieldName(setting: name)
            guard !LightRequest.kept.contains(field) else {
                throw Refusal(
                    "the light request keeps the \(printable(name)) of its request",
                    hint: "remove it"
                )
            }
        }
        (self.query, self.fields) = (query, fields)
    }

    /// Whether both change the same.
    public static func == (left: LightRequest, right: LightRequest) -> Bool {
        left.path == right.path && left.query == right.query
            && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    /// Fields that say whose request it is, or that it is the same.
    private static let kept: [FieldName] =
        [.authorization, .idempotencyKey, .webhookID]
        + ["Cookie", "Proxy-Authorization", "Content-Type", "Content-Encoding"].compactMap { FieldName($0) }

    private static let ownPath = "{path}"

    private static func checked(_ path: String) throws(Refusal) -> String {
        let text = path.hasPrefix("/") ? String(path.dropFirst()) : path
        let known = text.parts(between: ownPath)
        guard known.count <= 2 else { throw Refusal("{path} stands once", hint: nil) }
        guard
            known.allSatisfy({ part in
                part.utf8.allSatisfy { (0x21...0x7E).contains($0) && !LightRequest.others.contains($0) }
            }), !text.utf8.isEmpty
        else {
            throw Refusal(
                "a path holds visible ASCII without ? # { } and \\",
                hint: "percent-encode the rest, and write parameters as \"query\""
            )
        }
        for segment in text.split(separator: "/", omittingEmptySubsequences: false)
        where segment == ".." || segment == "." || segment.lowercased().contains(text: "%2e") {
            throw Refusal("the light request stays below the upstream's base", hint: "remove the dots")
        }
        return text
    }

    private static let others: [UInt8] = Array("?#{}\\".utf8)
}

extension LightRequest {
    /// The request in its lighter form.
    package func applied(to request: HTTPRequest) throws(Failure) -> HTTPRequest {
        var request = request
        if let path {
            let mark = request.target.firstIndex(of: "?") ?? request.target.endIndex
            let own = String(request.target[..<mark])
            request.target =
                path.parts(between: LightRequest.ownPath).joined(separator: own) + request.target[mark...]
        }
        request.target = try query.merged(into: request.target)
        for (name, value) in fields { request.fields.set(name, value) }
        return request
    }
}
