package import RelayBase
package import RelayRoute

/// Where a 3xx answer leads, when it stays with the origin that gave it.
package struct Redirect: Sendable, Equatable {
    /// Path and query, beginning with a slash.
    package let target: String
    package let method: Method
    /// Whether the request's content goes along.
    package private(set) var keepsBody: Bool
    /// Whether the upstream has asked for the request itself once more (307, 308), so that it was not carried out yet.
    private var repeatsRequest: Bool

    /// A question of the relay's own at that path of the origin.
    init(lookingAt target: String) {
        (self.target, method, keepsBody, repeatsRequest) = (target, .get, false, false)
    }

    /// A request of the relay's own that has what is at that path of the origin stopped.
    init(stoppingAt target: String) {
        (self.target, method, keepsBody, repeatsRequest) = (target, .delete, false, false)
    }

    /// How far a request got whose redirect ended like that.
    ///
    /// The request that led to the redirect was sent; where it was not asked to be repeated it has had its effect.
    func sent(_ sent: Sent, after method: Method) -> Sent {
        guard sent == .answered || sent == .refused, keepsBody, method == self.method else { return .unknown }
        return sent == .refused && repeatsRequest ? .refused : .answered
    }

    /// The same way behind `earlier` ones: content that was dropped once does not come back.
    func following(_ earlier: Redirect?) -> Redirect {
        var next = self
        next.keepsBody = keepsBody && earlier?.keepsBody ?? true
        next.repeatsRequest = repeatsRequest && earlier?.repeatsRequest ?? true
        return next
    }

    /// Redirects that are followed within one attempt.
    package static let limit = 5

    /// Reads an answer to a request that was sent to `target` at `origin`.
    ///
    /// 301, 302 and 303 turn a POST into a GET without content, as every client does (RFC 9110 §15.4); 307 and 308
    /// repeat the request.
    ///
    /// - Returns: nil when it is no redirect, has not exactly one `Location`, or leads to another origin.
    package init?(_ response: HTTPResponse, to method: Method, sentTo target: String, at origin: Origin) {
        repeatsRequest = response.status == 307 || response.status == 308
        switch response.status {
        case 307, 308:
            self.method = method
            keepsBody = true
        case 303 where method != .head, 301 where method == .post, 302 where method == .post:
            self.method = .get
            keepsBody = false
        case 301, 302, 303:
            self.method = method
            keepsBody = true
        default: return nil
        }
        guard response.fields.count(of: .location) == 1, let location = response.fields[.location],
            let resolved = Redirect.resolve(location, base: target, origin: origin)
        else { return nil }
        self.target = resolved
    }

    /// Resolves a URI reference against the request's target (RFC 3986 §5.2); nil when it leaves the origin or is none.
    static func resolve(_ location: String, base: String, origin: Origin) -> String? {
        guard location.utf8.count <= 8192, location.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C })
        else { return nil }
        let reference = String(location.prefix { $0 != "#" })
        let basePath = String(base.prefix { $0 != "?" })
        if let rest = pathAfterAuthority(reference, origin) {
            return rest.map { normalized($0.isEmpty ? "/" : $0.hasPrefix("?") ? "/" + $0 : $0) }
        }
        if reference.isEmpty { return base }
        if reference.hasPrefix("/") { return normalized(reference) }
        if reference.hasPrefix("?") { return basePath + reference }
        let folder = basePath.lastIndex(of: "/").map { basePath[...$0] } ?? "/"
        return normalized(folder + reference)
    }

    /// The part behind the origin in an absolute or scheme-relative reference; `.some(nil)` when the origin is another,
    /// nil when the reference is relative.
    private static func pathAfterAuthority(_ reference: String, _ origin: Origin) -> String?? {
        let scheme = reference.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        var rest = reference[...]
        if scheme.endIndex < reference.endIndex, reference[scheme.endIndex] == ":" {
            guard case .tcp(_, _, let isTLS) = origin, scheme.lowercased() == (isTLS ? "https" : "http")
            else {
                return .some(nil)
            }
            rest = reference[reference.index(after: scheme.endIndex)...]
            guard rest.hasPrefix("//") else { return .some(nil) }
        }
        guard rest.hasPrefix("//") else { return nil }
        rest = rest.dropFirst(2)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard case .tcp(let host, let port, let isTLS) = origin else { return .some(nil) }
        let name = host.contains(":") ? "[\(host)]" : host
        let named = authority.lowercased()
        guard named == "\(name):\(port)" || named == name && port == (isTLS ? 443 : 80) else {
            return .some(nil)
        }
        return .some(String(rest[authority.endIndex...]))
    }

    /// Removes dot segments from the path (RFC 3986 §5.2.4).
    private static func normalized(_ target: String) -> String {
        let path = target.prefix { $0 != "?" }
        var segments: [Substring] = []
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part.lowercased() {
            case ".", "%2e":
                if isLast { segments.append("") }
            case "..", ".%2e", "%2e.", "%2e%2e":
                if !segments.isEmpty { segments.removeLast() }
                if isLast { segments.append("") }
            default: segments.append(part)
            }
        }
        return "/" + segments.joined(separator: "/") + target[path.endIndex...]
    }
}
