package import RelayBase
package import RelayJSON

extension JSONObjectWriter {
    /// The person by whom something was done.
    package mutating func principal(_ principal: Principal?, as name: String = "by") {
        guard let principal else { return }
        object(name) { by in
            by.member("uid", principal.user)
            if let name = principal.name { by.member("user", name) }
        }
    }
}
