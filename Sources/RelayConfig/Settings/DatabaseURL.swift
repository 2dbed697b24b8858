package import RelayBase
import RelayJSON
import RelayRoute

/// Where a database is: `postgresql://USER@HOST:PORT/DATABASE`, with several hosts between commas.
package struct DatabaseURL: Sendable, Equatable {
    /// A server, by name or address, or by the directory of its socket.
    package enum Host: Sendable, Equatable {
        case tcp(name: String, port: UInt16)
        case unix(directory: String, port: UInt16)

        package var port: UInt16 {
            switch self {
            case .tcp(_, let port), .unix(_, let port): port
            }
        }

        /// The name, the address or the directory.
        package var name: String {
            switch self {
            case .tcp(let name, _), .unix(let name, _): name
            }
        }

        func onPort(_ port: UInt16) -> Host {
            switch self {
            case .tcp(let name, _): .tcp(name: name, port: port)
            case .unix(let directory, _): .unix(directory: directory, port: port)
            }
        }

        /// Whether the way to it leaves the machine nowhere.
        package var isLocal: Bool {
            switch self {
            case .unix: true
            case .tcp("localhost", _): true
            case .tcp(let name, _): AddressText.parse(name).map(SpecialAddresses.isLoopback) ?? false
            }
        }
    }

    package var hosts: [Host]
    package var user: String?
    package var database: String?

    /// Parameters that say what the relay does anyway; the directory of a socket is the one that says more.
    private static let known = ["sslmode": "verify-full", "target_session_attrs": "read-write"]
    private static let secret = ["password", "passfile", "sslpassword"]

    /// `passwordPlace` says where a password goes, which may not stand in the URL.
    ///
    /// - Throws: what is wrong with it, in words that repeat nothing of it.
    package init(parsing text: String, passwordPlace: String) throws(Refusal) {
        let scheme = ["postgresql://", "postgres://"].first { text.hasPrefix($0) }
        guard let scheme else { throw Refusal("the URL must begin with postgresql://") }
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Refusal("not a URL: only visible ASCII", hint: "percent-encode other bytes")
        }
        guard !text.contains("#") else {
            throw Refusal("a fragment may not stand in the URL", hint: "remove it")
        }
        var rest = Substring(text).dropFirst(scheme.count)
        var query: Substring?
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<end]
        database = try DatabaseURL.name(rest[end...].dropFirst(), "database")
        if let sign = authority.lastIndex(of: "@") {
            guard !authority[..<sign].contains(":") else { throw DatabaseURL.noPassword(passwordPlace) }
            user = try DatabaseURL.name(authority[..<sign], "user")
            authority = authority[authority.index(after: sign)...]
        }
        let directory = try DatabaseURL.directory(query, passwordPlace)
        if let directory {
            guard authority.isEmpty || authority.first == ":" else {
                throw Refusal("the host stands in the URL twice", hint: "remove the parameter host")
            }
            hosts = [.unix(directory: directory, port: try DatabaseURL.port(authority))]
        } else {
            hosts = try DatabaseURL.hosts(authority)
        }
    }

    /// The servers that a text names, with commas between them.
    static func hosts(_ text: Substring) throws(Refusal) -> [Host] {
        var hosts: [Host] = []
        for one in text.split(separator: ",", omittingEmptySubsequences: false) {
            hosts.append(try host(one))
        }
        guard hosts.count <= 8 else { throw Refusal("more than 8 hosts") }
        return hosts
    }

    private static func host(_ text: Substring) throws(Refusal) -> Host {
        let isEncoded = text.hasPrefix("%2F") || text.hasPrefix("%2f")
        if isEncoded || text.hasPrefix("/") {
            let colon = text.lastIndex(of: ":") ?? text.endIndex
            let directory = try absolute(try decoded(text[..<colon]))
            return .unix(directory: directory, port: try port(text[colon...]))
        }
        // A host and a port are written as they are for an upstream.
        let url = try UpstreamURL(parsing: "http://\(text)")
        guard url.path == "/", url.query == nil, !text.contains("@") else {
            throw Refusal("not a valid host name")
        }
        let hasPort = text.last != "]" && text.contains(":")
        return .tcp(name: url.host, port: hasPort ? url.port : FleetSettings.port)
    }

    /// A port behind a colon, or the usual one.
    private static func port(_ text: Substring) throws(Refusal) -> UInt16 {
        if text.isEmpty { return FleetSettings.port }
        guard let port = UInt16(text.dropFirst()), port > 0 else {
            throw Refusal("the port must be a number from 1 to 65535")
        }
        return port
    }

    private static func directory(
        _ query: Substring?,
        _ passwordPlace: String
    ) throws(Refusal) -> String? {
        var directory: String?
        for parameter in query?.split(separator: "&", omittingEmptySubsequences: false) ?? [] {
            let sign = parameter.firstIndex(of: "=") ?? parameter.endIndex
            let (name, value) = (String(parameter[..<sign]), parameter[sign...].dropFirst())
            guard !secret.contains(name) else { throw noPassword(passwordPlace) }
            if name == "host", directory == nil {
                directory = try absolute(try decoded(value))
            } else if known[name].map({ $0 != value }) ?? true {
                let taken = known.keys.sorted().compactMap { name in known[name].map { "\(name)=\($0)" } }
                throw Refusal(
                    "a parameter stands in the URL that the relay sets itself or does not have",
                    hint: "it takes host=DIRECTORY of a socket, \(taken.joined(separator: ", "))"
                )
            }
        }
        return directory
    }

    private static func noPassword(_ place: String) -> Refusal {
        Refusal("a password may not stand in the URL", hint: place)
    }

    private static func absolute(_ path: String) throws(Refusal) -> String {
        guard path.hasPrefix("/"), path.utf8.count <= 90, path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            throw Refusal("the directory of a socket is an absolute path of at most 90 bytes")
        }
        return path
    }

    /// The name of a user or database; nil where the URL has none.
    private static func name(_ text: Substring, _ what: String) throws(Refusal) -> String? {
        text.isEmpty ? nil : try checkName(try decoded(text), what)
    }

    /// - Throws: when a database server would cut the name off, or could not be told it.
    package static func checkName(_ name: String, _ what: String) throws(Refusal) -> String {
        guard (1...63).contains(name.utf8.count), name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Refusal("the name of a \(what) has 1 to 63 bytes, none of them a control")
        }
        return name
    }

    private static func decoded(_ text: Substring) throws(Refusal) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue
            else {
                throw Refusal("\"%\" must be followed by two hexadecimal digits")
            }
            bytes.append(high << 4 | low)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw Refusal("not UTF-8") }
        return decoded
    }
}
