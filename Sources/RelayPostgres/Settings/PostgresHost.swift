import RelayPosix

/// The kind of host that the settings name.
enum PostgresHost {
    case directory(String)
    case address(IPAddress)
    case name(String)

    init(_ text: String) {
        // Behind an at sign stands a socket without a file.
        if text.utf8.first == UInt8(ascii: "/") || text.utf8.first == UInt8(ascii: "@") {
            self = .directory(text)
        } else if let address = IPAddress(text) {
            self = .address(address)
        } else {
            self = .name(text)
        }
    }

    /// Whether nothing that is sent there leaves the machine, whatever a name server says.
    var isLocal: Bool {
        switch self {
        case .directory: true
        case .address(let address): address.isLoopback
        case .name(let name): name.lowercased() == "localhost"
        }
    }
}

extension IPAddress {
    var isLoopback: Bool { isV6 ? high == 0 && low == 1 : low >> 24 == 127 }
}

extension PostgresSettings {
    /// For messages: `db.example:5432`.
    var endpoint: String {
        switch PostgresHost(host) {
        case .directory: "the PostgreSQL server at \(host)/.s.PGSQL.\(port)"
        case .address(let address) where address.isV6: "the PostgreSQL server at [\(address)]:\(port)"
        case .address, .name: "the PostgreSQL server at \(host):\(port)"
        }
    }
}
