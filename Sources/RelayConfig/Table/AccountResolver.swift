import RelayJSON

/// Looks up accounts; the reader itself does no input.
package struct AccountResolver: Sendable {
    package var user: @Sendable (_ name: String) -> UInt32?
    package var group: @Sendable (_ name: String) -> UInt32?

    package init(
        user: @escaping @Sendable (_ name: String) -> UInt32?,
        group: @escaping @Sendable (_ name: String) -> UInt32?
    ) {
        self.user = user
        self.group = group
    }
}
