import RelayBase
import RelayJSON
import RelayRoute

extension ValueKind where Value == AddressRange {
    static var addressRange: ValueKind {
        .text("a range of addresses such as \"10.0.0.0/8\"", pattern: "^[0-9a-fA-F:.]+/[0-9]{1,3}$") {
            text throws(Refusal) in try AddressRange(parsing: text)
        }
    }
}

extension ValueKind where Value == UpstreamURL {
    /// The base of an upstream: no query, and a path that ends in a slash.
    static var baseURL: ValueKind {
        url("a URL such as \"https://api.example/v1/\"") { url throws(Refusal) in
            guard url.query == nil else { throw Refusal("a query may not stand in the URL of an upstream") }
            var url = url
            if !url.path.hasSuffix("/") { url.path += "/" }
            return url
        }
    }

    /// The URL of one resource.
    static var resourceURL: ValueKind {
        url("a URL such as \"https://login.example/oauth2/token\"") { $0 }
    }

    private static func url(
        _ what: String,
        _ check: @escaping (UpstreamURL) throws(Refusal) -> UpstreamURL
    ) -> ValueKind {
        let kind = ValueKind.text(what, pattern: "^https?://") { text throws(Refusal) in
            try check(UpstreamURL(parsing: text))
        }
        return ValueKind(kind.shape) { node, current, reading in
            // A password or a key may stand before the host or in the query, though neither is allowed there.
            if let text = node.text, text.contains("@") || text.contains("?") { reading.mask(node) }
            return kind.read(node, current, &reading)
        }.writing(kind.write)
    }
}

/// Where a listener on the loopback interface listens.
package struct LoopbackEndpoint: Sendable, Equatable {
    /// `127.0.0.0/8` or `::1`, without brackets.
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }
}

extension ValueKind where Value == LoopbackEndpoint {
    static var loopback: ValueKind {
        .text(
            "a loopback address and port such as \"127.0.0.1:8311\"",
            pattern: #"^(127(\.[0-9]{1,3}){3}|\[::1\]):[0-9]+$"#
        ) { text throws(Refusal) in
            let url: UpstreamURL
            do throws(Refusal) {
                url = try UpstreamURL(parsing: "http://\(text)")
            } catch {
                throw Refusal(
                    "expected a loopback address and port such as \"127.0.0.1:8311\"",
                    hint: error.hint
                )
            }
            guard url.path == "/", url.query == nil, !text.hasSuffix("/"), let address = url.address else {
                throw Refusal("expected a loopback address and port such as \"127.0.0.1:8311\"")
            }
            guard SpecialAddresses.isLoopback(address) else {
                throw Refusal(
                    "TCP listeners are possible on loopback addresses only",
                    hint: "write \"127.0.0.1:\(url.port)\""
                )
            }
            guard text.hasSuffix(":\(url.port)") else { throw Refusal("the port is missing") }
            return LoopbackEndpoint(host: url.host, port: url.port)
        }
    }
}
