import RelayBase
import RelayRoute

extension Connection {
    /// Looks for a pinned key in the chain that the handshake has verified, before any request is begun.
    func checkPins(wallSeconds: Int64) throws(Failure) {
        guard case .tcp(let host, _, _) = pool.key.origin, let tls, let pins = pool.key.tls.pins else {
            return
        }
        let chain = tls.verifiedKeys
        switch pins.verdict(host: host, chain: chain, wallSeconds: wallSeconds) {
        case .notPinned, .allow: return
        case .report: missedPins = true
        case .block:
            throw Failure(.tlsCertificateError, sent: .neverSent, mismatch(chain.first), exchange: exchange())
        }
    }

    private func mismatch(_ leaf: [UInt8]?) -> String {
        let shown = leaf.map { "; the certificate's own key is \(base64($0))" } ?? ""
        return """
            \(pool.key.origin.text) was refused because none of the pinned keys is in its certificate chain\(shown); \
            if its keys were changed on purpose, add a new one to the pins, else somebody may be in between
            """
    }
}
