import RelayBase
import Synchronization

/// The secrets of the configuration in force.
final class SecretBox: Sendable {
    private let secrets: Mutex<[SecretReference: Secret]>

    init(_ secrets: [SecretReference: Secret]) { self.secrets = Mutex(secrets) }

    subscript(reference: SecretReference) -> Secret? { secrets.withLock { $0[reference] } }

    func replace(_ new: [SecretReference: Secret]) { secrets.withLock { $0 = new } }
}
