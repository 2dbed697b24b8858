import RelayBase
import RelayJSON
import RelayRoute

/// The address of an operation, or of its result, as an answer names it: input of somebody else.
enum OperationAddress {
    /// Path and query at the origin that answered, and whether what stands there has a status of its own.
    case target(String, isMonitor: Bool)
    /// Why it is not followed, in a sentence.
    case refused(String)

    static let operationLocation = FieldName("Operation-Location")

    /// Reads the answer to a request that was sent to `base` at `upstream`; nil where it names no address.
    ///
    /// Only what is below the base of the upstream that answered is asked, since the route's credential goes along.
    init?(
        _ place: Following.Locator?,
        _ response: HTTPResponse,
        base: String,
        at upstream: Upstream,
        _ settings: Following
    ) {
        var (text, isMonitor): (String?, Bool) = (nil, true)
        let monitor = OperationAddress.operationLocation.flatMap { response.fields.contains($0) ? $0 : nil }
        switch place ?? .field(monitor ?? .location) {
        case .field(let name):
            guard response.fields.count(of: name) <= 1 else {
                self = .refused("it is named more than once")
                return
            }
            (text, isMonitor) = (response.fields[name], name != .location)
        case .pointer(let pointer): text = Follow.text(at: pointer, in: response)
        }
        guard let found = text else { return nil }
        guard found.utf8.count <= Following.addressLimit else {
            self = .refused("it is longer than \(Following.addressLimit) bytes")
            return
        }
        guard found.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }), !found.isEmpty else {
            self = .refused("it has characters that no address has")
            return
        }
        guard found.utf8.first != UInt8(ascii: "?"), found.utf8.first != UInt8(ascii: "#") else {
            self = .refused("it has no path, and would be that of the request itself")
            return
        }
        guard !OperationAddress.isDisguised(found.prefix { $0 != "?" && $0 != "#" }) else {
            self = .refused("its path has escapes that a server could read as another path")
            return
        }
        guard let target = Redirect.resolve(found, base: base, origin: upstream.origin),
            target.utf8.count <= 2 * Following.addressLimit
        else {
            self = .refused(
                "it leads to another origin than the one that answered, to which no look is sent; ask there by a route of its own"
            )
            return
        }
        guard settings.mayAsk(target, of: upstream) else {
            self = .refused(OperationAddress.outside(upstream))
            return
        }
        self = .target(target, isMonitor: isMonitor)
    }

    /// The words for an address out of what a route may ask.
    static func outside(_ upstream: Upstream) -> String {
        "it is not below \(upstream.basePath) of the upstream; set follow.below where operations stand elsewhere at its origin"
    }

    /// Whether an escape of the path could hide a dot segment from who compares paths.
    ///
    /// As at the relay's own door: decoded in the mind only, as often as it could be on the way, and what stands behind an
    /// encoded separator, or before a semicolon, may be a segment of its own.
    private static func isDisguised(_ path: Substring) -> Bool {
        path.utf8.split(separator: UInt8(ascii: "/")).contains { segment in
            if segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) { return false }
            guard let decoded = decoded(segment) else { return true }
            return decoded.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
                .contains { piece in
                    // Some servers cut spaces off.
                    let name = piece.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 }
                    return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
                }
        }
    }

    /// The segment's bytes; nil where an escape is broken or stands for a control, or they are not UTF-8.
    private static func decoded(_ segment: Substring.UTF8View) -> [UInt8]? {
        let bytes = Array(segment)
        var (decoded, index): ([UInt8], Int) = ([], 0)
        while index < bytes.count {
            var byte = bytes[index]
            index += 1
            var isEscape = false
            while byte == UInt8(ascii: "%"), index + 1 < bytes.count,
                let high = bytes[index].hexadecimalValue, let low = bytes[index + 1].hexadecimalValue
            {
                (byte, isEscape) = (high << 4 | low, true)
                index += 2
            }
            guard byte >= 0x20, byte != 0x7F, isEscape || byte != UInt8(ascii: "%") else { return nil }
            decoded.append(byte)
        }
        return String(validating: decoded, as: UTF8.self) == nil ? nil : decoded
    }
}

extension Following {
    /// Whether a look may be sent to that path and query of the upstream.
    func mayAsk(_ target: String, of upstream: Upstream) -> Bool {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        return [upstream.basePath, below].contains { folder in
            guard let segments = folder?.utf8, !segments.isEmpty else { return false }
            let name = segments.last == UInt8(ascii: "/") ? segments.dropLast() : segments[...]
            return path.starts(with: name)
                && (path.count == name.count || path.dropFirst(name.count).first == UInt8(ascii: "/"))
        }
    }
}
