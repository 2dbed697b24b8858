package import RelayBase
import RelayJSON

/// An event of a daemon of a fleet, as it tells the others of it.
package struct SharedEvent: Sendable {
    package var kind: EventKind
    /// Milliseconds since 1970 UTC, by the clock of the daemon that tells it.
    package var at: Int64
    package var teller = NodeName.none
    package var user: UInt32?
    /// The daemon on whose machine that is the user.
    package var node = NodeName.none
    package var route: String?
    package var job: JobID?
    /// The document of its data.
    package var data: [UInt8]

    package init(_ kind: EventKind, at: Int64, data: [UInt8]) {
        (self.kind, self.at, self.data) = (kind, at, data)
    }

    /// Bytes of data at most.
    private static let longest = 65_536

    /// Whether its data can be told as it is: an object on one line.
    ///
    /// A writer to the database may write anything.
    package var isSound: Bool {
        guard data.first == UInt8(ascii: "{"), data.count <= Self.longest, data.allSatisfy({ $0 >= 0x20 })
        else { return false }
        return (try? JSONScan.validate(data.span)) != nil
    }

    /// So many events that nobody will see.
    package static func lost(_ count: UInt64, at: Int64) -> SharedEvent {
        SharedEvent(.gap, at: at, data: Array("{\"lost\":\(count)}".utf8))
    }
}
