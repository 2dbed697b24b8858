public import RelayBase

extension PublicKeyPins {
    /// Takes digests in Base64, as the commands above print them.
    ///
    /// - Parameters:
    ///   - digests: of each key, 44 characters of Base64.
    ///   - host: the host they are for; nil means every host of the route.
    /// - Throws: which digest is none, by its place.
    public init(base64 digests: [String], host: String? = nil) throws(Refusal) {
        var keys: [[UInt8]] = []
        for (index, text) in digests.enumerated() {
            do throws(Refusal) {
                keys.append(try Self.digest(base64: text))
            } catch {
                throw Refusal("digest \(index + 1) of \(digests.count): \(error.message)", hint: error.hint)
            }
        }
        self.init(keys: keys, host: host)
    }

    /// The description of a digest in Base64.
    package static let digestText = "the SHA-256 of a public key, 44 characters of base64"

    /// Reads one digest.
    ///
    /// - Throws: when it is not the Base64 of 32 bytes.
    package static func digest(base64 text: String) throws(Refusal) -> [UInt8] {
        if let bytes = Base64.decode(text), bytes.count == 32 { return bytes }
        var hint: String?
        if text.hasPrefix("sha256/") {
            hint = "write what follows the slashes"
        } else if text.utf8.count == 64, text.allSatisfy(\.isHexDigit) {
            hint = "these are hexadecimal digits: write the same bytes in base64"
        }
        throw Refusal("expected \(digestText)", hint: hint)
    }
}
