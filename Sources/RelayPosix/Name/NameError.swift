/// Why a name has no addresses.
package enum NameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name does not exist, or has no address.
    case notFound
    /// The name servers did not say (EAI_AGAIN): another try may.
    case temporary(String)
    /// The resolver cannot work: its configuration, the network, memory.
    case failed(String)
    /// Too many names wait already.
    case overloaded
    /// The waiting task was cancelled.
    case cancelled

    package var description: String {
        switch self {
        case .notFound: "the name does not exist"
        case .temporary(let text), .failed(let text): text
        case .overloaded: "too many names are being looked up"
        case .cancelled: "the look-up was cancelled"
        }
    }
}
