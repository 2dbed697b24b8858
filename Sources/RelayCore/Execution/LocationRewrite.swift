import RelayBase
import RelayRoute

/// Leads whoever follows an answer's references back through the relay.
///
/// The answered request tells the meaning of a reference (RFC 9110 §10.2.2, RFC 3986 §5). A target below the base of
/// one of the route's upstreams has a path of its own at the relay; everything else is left to the caller.
struct LocationRewrite {
    /// `/r/ROUTE/`; nil where the route leaves references as they are.
    let prefix: String?
    /// The route's.
    let upstreams: [Upstream]
    /// The one that answered.
    let upstream: Upstream
    /// Path and query the answered request was sent to, without what the route adds.
    let target: String
    let query: RouteQuery

    /// Whether an answer has a field that this is about.
    static func concerns(_ fields: HeaderFields) -> Bool {
        fields.mayContain(marks)
            && (fields.contains(.location) || fields.contains(.contentLocation) || fields.contains(.refresh)
                || fields.contains(.link))
    }

    private static let marks = FieldName.Marks([.location, .contentLocation, .refresh, .link])

    /// Changes the fields whose one value leads below a base, or repeats a parameter that the route added.
    func rewrite(_ fields: inout HeaderFields) {
        for (name, key) in [("Location", FieldName.location), ("Content-Location", .contentLocation)] {
            guard fields.count(of: key) == 1, let value = fields[key] else { continue }
            let changed = outgoing(value)
            if changed != value { fields.set(name, changed) }
        }
        let links = fields.values(.link)
        let told = links.map(query.withoutSecrets)
        if told != links {
            fields.remove(.link)
            for link in told { fields.append(.link, link) }
        }
        guard fields.count(of: .refresh) == 1, let value = fields[.refresh], let place = Self.url(in: value)
        else { return }
        let changed = outgoing(String(value[place]))
        if changed != value[place] {
            fields.set("Refresh", value[..<place.lowerBound] + changed + value[place.upperBound...])
        }
    }

    /// The reference as the caller gets it: wherever it leads, it does not tell what the route adds to a query.
    private func outgoing(_ text: String) -> String {
        let led = reference(text) ?? text
        let fragment = led.firstIndex(of: "#") ?? led.endIndex
        return query.withoutSecrets(query.removed(from: String(led[..<fragment])) + led[fragment...])
    }

    /// The reference that a caller is given in place of that one; nil leaves it as it is.
    func reference(_ text: String) -> String? {
        guard prefix != nil else { return nil }
        let fragment = text.firstIndex(of: "#").map { text[$0...] } ?? ""
        if let path = Redirect.resolve(text, base: target, origin: Self.origin(of: upstream)) {
            if let below = below(upstream, path) { return below + fragment }
            if Self.isAbsolute(text) { return otherUpstream(text, fragment) }
            // At the relay it would be a path of something else.
            let isMisread = !text.hasPrefix("/") || path.hasPrefix("/r/") || path.hasPrefix("/v1/")
            return isMisread ? Self.origin(of: upstream).text + path + fragment : nil
        }
        return Self.isAbsolute(text) ? otherUpstream(text, fragment) : nil
    }

    private func otherUpstream(_ text: String, _ fragment: Substring) -> String? {
        for other in upstreams {
            if let path = Redirect.resolve(text, base: "/", origin: Self.origin(of: other)),
                let below = below(other, path)
            {
                return below + fragment
            }
        }
        return nil
    }

    private func below(_ upstream: Upstream, _ path: String) -> String? {
        guard let prefix, path.utf8.starts(with: upstream.basePath.utf8) else { return nil }
        return prefix + query.removed(from: String(path.dropFirst(upstream.basePath.count)))
    }

    /// The origin that the upstream itself sees in `Host`.
    private static func origin(of upstream: Upstream) -> Origin {
        if case .unix = upstream.origin { return .tcp(host: "localhost", port: 80, isTLS: false) }
        return upstream.origin
    }

    /// Whether a reference names its authority.
    private static func isAbsolute(_ text: String) -> Bool {
        if text.hasPrefix("//") { return true }
        let scheme = text.prefix { $0 != ":" && $0 != "/" && $0 != "?" && $0 != "#" }
        return scheme.endIndex < text.endIndex && text[scheme.endIndex] == ":"
    }

    /// Where the URL stands in a `Refresh` (HTML, shared declarative refresh steps): `5; url=/next`.
    private static func url(in value: String) -> Range<String.Index>? {
        func skipBlanks(_ rest: inout Substring) { rest = rest.drop { $0 == " " || $0 == "\t" } }
        guard let separator = value.firstIndex(where: { $0 == ";" || $0 == "," }) else { return nil }
        var rest = value[value.index(after: separator)...]
        skipBlanks(&rest)
        var named = rest.dropFirst(3)
        skipBlanks(&named)
        if rest.prefix(3).lowercased() == "url", named.first == "=" {
            rest = named.dropFirst()
            skipBlanks(&rest)
        }
        if let quote = rest.first, quote == "'" || quote == "\"" {
            rest = rest.dropFirst().prefix { $0 != quote }
        }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest.isEmpty ? nil : rest.startIndex..<rest.endIndex
    }
}
