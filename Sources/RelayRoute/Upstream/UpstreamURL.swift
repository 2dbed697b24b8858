package import RelayBase
import RelayJSON

/// An `http` or `https` URL, taken apart strictly: what other readers might understand differently is refused.
package struct UpstreamURL: Sendable, Equatable {
    package var isTLS: Bool
    /// A name in lower case, or an address without brackets.
    package var host: String
    package var port: UInt16
    /// Begins with a slash.
    package var path: String
    /// Without the question mark; nil when there is none.
    package var query: String?

    /// Bytes of the address when the host is one.
    package var address: [UInt8]? { AddressText.parse(host) }

    /// Visible ASCII that no URL has (RFC 3986, 2).
    private static let foreign = Array("\"<>^`{|}".utf8)

    package var origin: Origin { .tcp(host: host, port: port, isTLS: isTLS) }

    package init(parsing text: String) throws(Refusal) {
        guard text.utf8.count <= 2048,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else {
            throw Refusal(
                "not a URL: only visible ASCII, without backslashes",
                hint: "percent-encode other bytes"
            )
        }
        guard !text.utf8.contains(where: UpstreamURL.foreign.contains) else {
            throw Refusal(
                "not a URL: neither quotes nor any of <>^`{|} stand in one",
                hint: "percent-encode them"
            )
        }
        let lowered = text.lowercased()
        let scheme = lowered.hasPrefix("https://") ? "https://" : "http://"
        guard lowered.hasPrefix(scheme) else {
            throw Refusal(
                "the URL must begin with https:// or http://",
                hint: lowered.contains(text: "://") ? nil : "write https:// before it"
            )
        }
        isTLS = scheme == "https://"
        var rest = Substring(text).dropFirst(scheme.count)
        guard !rest.contains("#") else {
            throw Refusal("a fragment may not stand in the URL", hint: "remove it")
        }
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<authorityEnd]
        rest = rest[authorityEnd...]
        guard !authority.contains("@") else {
            throw Refusal("a user name or password may not stand in the URL", hint: "use \"auth\"")
        }
        let (hostText, portText) = try Self.split(authority)
        host = try Self.checkHost(hostText)
        port = try Self.checkPort(portText) ?? (isTLS ? 443 : 80)
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        path = try Self.checkPath(rest)
    }

    private static func split(_ authority: Substring) throws(Refusal) -> (host: Substring, port: Substring?) {
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else {
                throw Refusal("the bracket of the address is not closed")
            }
            let after = authority[authority.index(after: end)...]
            guard after.isEmpty || after.first == ":" else {
                throw Refusal("only a port may follow the address")
            }
            return (authority[...end], after.isEmpty ? nil : after.dropFirst())
        }
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, parts[1].contains(":") {
            throw Refusal(
                "more than one \":\" in the host",
                hint: "an IPv6 address stands in brackets: [::1]"
            )
        }
        return (parts[0], parts.count == 2 ? parts[1] : nil)
    }

    private static func checkPort(_ text: Substring?) throws(Refusal) -> UInt16? {
        guard let text else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }), text.first != "0",
            text.utf8.count <= 5, let port = UInt16(text)
        else { throw Refusal("the port must be a number from 1 to 65535") }
        return port
    }

    private static func checkHost(_ text: Substring) throws(Refusal) -> String {
        guard !text.isEmpty else { throw Refusal("the host is missing") }
        if text.first == "[" {
            let inner = text.dropFirst().dropLast()
            guard inner.contains(":"), AddressText.parse(inner) != nil else {
                throw Refusal("not an IPv6 address")
            }
            return inner.lowercased()
        }
        if AddressText.parse(text) != nil { return String(text) }
        guard !text.contains("%") else { throw Refusal("the host may not be percent-encoded") }
        guard text.utf8.count <= 253 else { throw Refusal("the host is longer than 253 bytes") }
        let labels = text.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        for label in labels {
            let isLabel = label.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
            guard isLabel, (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else {
                throw Refusal("not a valid host name")
            }
        }
        // A last label that reads as a number makes resolvers take the name for an address of another notation.
        guard let last = labels.last, !last.utf8.allSatisfy(\.isDigit), !isHexadecimal(last) else {
            throw Refusal(
                "not an address in the usual notation",
                hint: "write four numbers from 0 to 255, such as 192.0.2.1"
            )
        }
        return text.lowercased()
    }

    private static func isHexadecimal(_ label: Substring) -> Bool {
        label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit)
    }

    private static func checkPath(_ text: Substring) throws(Refusal) -> String {
        guard !text.isEmpty else { return "/" }
        var bytes = Array(text.utf8)[...]
        while let percent = bytes.firstIndex(of: UInt8(ascii: "%")) {
            let digits = bytes[percent...].dropFirst().prefix(2)
            guard digits.count == 2, digits.allSatisfy({ $0.hexadecimalValue != nil }) else {
                throw Refusal("\"%\" must be followed by two hexadecimal digits")
            }
            bytes = bytes[percent...].dropFirst(3)
        }
        guard !text.contains(text: "//") else {
            throw Refusal("empty segments may not stand in the path", hint: "write one \"/\"")
        }
        guard !text.split(separator: "/").contains(where: isDotSegment) else {
            throw Refusal("\".\" and \"..\" may not stand in the path")
        }
        return String(text)
    }

    /// Whether a segment is `.` or `..`, percent-encoded or not.
    package static func isDotSegment(_ segment: Substring) -> Bool {
        var rest = Array(segment.lowercased().utf8)[...]
        var dots = 0
        while let byte = rest.first {
            if byte == UInt8(ascii: ".") {
                rest = rest.dropFirst()
            } else if rest.starts(with: "%2e".utf8) {
                rest = rest.dropFirst(3)
            } else {
                return false
            }
            dots += 1
        }
        return dots == 1 || dots == 2
    }
}
