import RelayBase
import RelayRoute
import RelayTransport
import Testing

@Suite("Signatures of Standard Webhooks", .timeLimit(.minutes(5)))
struct SigningTests {
    private static let published = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let message = #"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#
    private static let signed = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    /// RFC 8032, 7.1, test 2: the seed, its public key, and the signature of the one byte 0x72.
    private static let seed = "TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs="
    private static let seedAndPublic =
        "TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs9QBfD6EOJWpK3CqdNG368nJgszy7ElozAzVXxKvRmDA=="
    private static let ofOneByte =
        "v1a,kqAJqfDUyrhyDoILX2QlQKKye1QWUD+Ps3YiI+vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA=="

    private func signatures(_ message: String, _ secrets: [String?]) throws(Failure) -> String {
        let references = secrets.indices.map { SecretReference.credential("key-\($0)") }
        let kept = zip(references, secrets).reduce(into: [:]) { $0[$1.0] = $1.1.map { Secret($0) } }
        let signer = OpenSSLSigner(secrets: { kept[$0] })
        return try signer.signatures(of: Array(message.utf8), with: SigningSettings(secrets: references))
    }

    @Test(
        "The published vectors come out",
        arguments: [
            ("whsec_" + published, message, signed), (published, message, signed),
            ("whsec_" + published + "\n", message, signed), ("whsk_" + seed, "r", ofOneByte),
            ("whsk_" + seedAndPublic, "r", ofOneByte),
        ]
    )
    func vectors(secret: String, message: String, expected: String) throws {
        #expect(try signatures(message, [secret]) == expected)
    }

    @Test("Each secret signs, in the order of the settings and with a blank between")
    func rotation() throws {
        let secrets = ["whsk_" + Self.seed, "whsec_" + Self.published]
        let parts = try signatures(Self.message, secrets).split(separator: " ")
        #expect(parts.count == 2 && parts[0].hasPrefix("v1a,") && parts[1] == Self.signed)
    }

    @Test(
        "A secret that is no key is a preparation error that names where it is kept and not what is there",
        arguments: [
            (nil, "could not be read"), ("whsec_no base64", "not base64"),
            ("whsec_c2hvcnQ=", "24 to 64 bytes"),
            ("whsk_c2hvcnQ=", "32 or 64 bytes"), ("whpk_" + seed, "private one"),
            ("whsk_" + seed.dropLast() + seed, "not base64"),
            (
                "whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A9QBfD6EOJWpK3CqdNG368nJgszy7ElozAzVXxKvRmDA==",
                "second half"
            ),
        ] as [(String?, String)]
    )
    func noKey(secret: String?, why: String) {
        let failure = #expect(throws: Failure.self) {
            try signatures(Self.message, ["whsec_" + Self.published, secret])
        }
        #expect(failure?.kind == .preparation && failure?.sent == .neverSent)
        let detail = failure?.detail ?? ""
        #expect(detail.contains("credential \"key-1\"") && detail.contains(why))
        #expect(secret.map { !detail.contains($0.dropFirst(5)) } ?? true)
    }

    @Test("A route that signs and names no secret is told so")
    func noSecrets() {
        #expect(throws: Failure.self) { try signatures(Self.message, []) }
    }
}
