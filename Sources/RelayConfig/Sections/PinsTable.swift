import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var pins: Section<PublicKeyPins> {
        Section(
            "pins",
            "The public keys of which the upstream's certificate chain must hold one, after ordinary verification. "
                + "Without one of them no byte of a request is sent.",
            of: PublicKeyPins(keys: [])
        ) {
            Field("spki_sha256", .list(.keyDigest, minimum: 1, maximum: 20), \.keys, isRequired: true) {
                "The SHA-256 of each key's SubjectPublicKeyInfo, in base64. Of these at least one should be "
                    + "the key of a certificate not in use: enforced pins need two. One is made with: openssl x509 "
                    + "-in cert.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 "
                    + "-binary | base64"
            }
            Field("host", .hostName, \.host) {
                "The host they are for; without it that of the route's first https upstream."
            }
            Field("subdomains", .boolean, \.includesSubdomains) {
                "Whether upstreams below the host are pinned too."
            }
            Field("enforce", .boolean, \.isEnforced) {
                "False reports a chain without one of the keys in the journal and goes on."
            }
            Field("until", .moment, \.until) {
                "When they stop to count: a forgotten pin then does not make the upstream unreachable."
            }
        } check: { pins, node, reading in
            // One that was refused has its error already.
            let isWhole = node["spki_sha256"]?.value.elements.count == pins.keys.count
            if pins.isEnforced, isWhole, Set(pins.keys).count == 1 {
                reading.error(
                    "enforced pins need a second key: with one a lost key makes the upstream unreachable",
                    at: node.location("spki_sha256"),
                    hint: "add that of a backup key, or write \"enforce\": false"
                )
            }
            if let until = pins.until, until <= reading.wallSeconds {
                reading.warn(
                    "these pins no longer count",
                    at: node.location("until"),
                    hint: "renew or remove them"
                )
            }
        }
    }
}

extension ValueKind where Value == [UInt8] {
    /// A SHA-256 in base64.
    fileprivate static var keyDigest: ValueKind {
        .text(PublicKeyPins.digestText, pattern: "^[A-Za-z0-9+/]{43}=$") { text throws(Refusal) in
            try PublicKeyPins.digest(base64: text)
        }.writing { .string(base64($0)) }
    }
}

extension ValueKind where Value == String {
    /// The name of a host, in lower case.
    fileprivate static var hostName: ValueKind {
        .text("the name of a host such as \"bank.example\"", pattern: "^[A-Za-z0-9._-]+$") {
            text throws(Refusal) in
            guard let url = try? UpstreamURL(parsing: "https://\(text)"), url.host == text.lowercased(),
                url.address == nil
            else { throw Refusal("expected the name of a host such as \"bank.example\"") }
            return url.host
        }.writing { .string($0) }
    }
}

extension ValueKind where Value == Int64 {
    /// A moment, in seconds since 1970.
    fileprivate static var moment: ValueKind {
        let what = "a moment in UTC such as \"2027-06-01T00:00:00Z\""
        let pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
        return .text(what, pattern: pattern) { text throws(Refusal) in
            guard let seconds = UTCTime.seconds(parsing: text) else { throw Refusal("expected \(what)") }
            return seconds
        }.writing { .string(UTCTime.format(seconds: $0)) }
    }
}
