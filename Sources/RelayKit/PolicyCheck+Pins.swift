import RelayBase
import RelayRoute

extension RoutePolicy {
    /// Refuses pins that could not protect, or would make an upstream unreachable.
    func checkPins() throws(Refusal) {
        for upstream in upstreams {
            guard let pins = upstream.tls.pins else { continue }
            let owner = "the pins of upstream \"\(upstream.name)\""
            guard case .tcp(_, _, isTLS: true) = upstream.origin else {
                throw Refusal("\(owner) protect nothing: it is not https", hint: "remove them, or use https")
            }
            guard pins.keys.allSatisfy({ $0.count == 32 }) else {
                throw Refusal(
                    "\(owner) have a key that is no SHA-256, which has 32 bytes",
                    hint: "PublicKeyPins(base64:host:) takes what openssl prints"
                )
            }
            let count = Set(pins.keys).count
            guard count >= 1 else { throw Refusal("\(owner) have no key") }
            guard count >= 2 || !pins.isEnforced else {
                throw Refusal(
                    "\(owner) need a second key: with one a lost key makes the upstream unreachable",
                    hint: "add that of a backup key, or set isEnforced to false"
                )
            }
            guard let host = pins.host, !pinnedHosts.contains(where: pins.applies) else { continue }
            throw Refusal(
                "\(owner) are for \"\(host)\", and no https upstream is there",
                hint: nearestWord(to: host, among: pinnedHosts).map { "did you mean \"\($0)\"?" }
            )
        }
    }

    private var pinnedHosts: [String] {
        upstreams.compactMap { upstream in
            if case .tcp(let host, _, isTLS: true) = upstream.origin { host } else { nil }
        }
    }
}
