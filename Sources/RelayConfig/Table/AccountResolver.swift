import RelayJSON

/// Looks up accounts and files of time zones; the reader itself does no input.
package struct AccountResolver: Sendable {
    package var user: @Sendable (_ name: String) -> UInt32?
    package var group: @Sendable (_ name: String) -> UInt32?
    /// The file of a zone in the tz database; nil where the machine has none that can be read.
    package var zoneFile: @Sendable (_ name: String) -> [UInt8]?

    package init(
        user: @escaping @Sendable (_ name: String) -> UInt32?,
        group: @escaping @Sendable (_ name: String) -> UInt32?,
        zoneFile: @escaping @Sendable (_ name: String) -> [UInt8]?
    ) {
        self.user = user
        self.group = group
        self.zoneFile = zoneFile
    }
}
