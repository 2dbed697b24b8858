import COpenSSL
import RelayBase

/// A key of Standard Webhooks, as one secret holds it.
struct SigningKey {
    private enum Kind {
        case hmac
        case ed25519
    }

    private let kind: Kind
    private let bytes: [UInt8]
    /// The public half that a key of 64 bytes brings along.
    private let publicHalf: [UInt8]

    /// Reads `whsec_` and base 64 of 24 to 64 bytes, the same without its prefix, or `whsk_` and base 64 of the seed of
    /// 32 bytes or the seed with its public key.
    ///
    /// - Throws: what the secret is not.
    init(_ secret: Secret) throws(Problem) {
        guard var text = secret.validText.map({ $0[...] }) else { throw .notText }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        if text.hasPrefix("whpk_") { throw .publicKey }
        kind = text.hasPrefix("whsk_") ? .ed25519 : .hmac
        if text.hasPrefix("whsk_") || text.hasPrefix("whsec_") {
            text = text.drop { $0 != "_" }.dropFirst()
        }
        var padded = String(text)
        while !padded.utf8.count.isMultiple(of: 4) { padded += "=" }
        guard let decoded = Base64.decode(padded) else { throw .notBase64 }
        switch kind {
        case .hmac:
            guard (24...64).contains(decoded.count) else { throw .secretLength(decoded.count) }
            bytes = decoded
            publicHalf = []
        case .ed25519:
            guard decoded.count == 32 || decoded.count == 64 else { throw .privateKeyLength(decoded.count) }
            bytes = Array(decoded.prefix(32))
            publicHalf = Array(decoded.dropFirst(32))
        }
    }

    /// The version that stands before the signature.
    var version: String {
        switch kind {
        case .hmac: "v1"
        case .ed25519: "v1a"
        }
    }

    /// - Throws: when OpenSSL refuses, or the public half is not that of the key.
    func signature(of message: [UInt8]) throws(Problem) -> [UInt8] {
        let type = kind == .hmac ? EVP_PKEY_HMAC : EVP_PKEY_ED25519
        guard let key = unsafe EVP_PKEY_new_raw_private_key(type, nil, bytes, bytes.count) else {
            throw .refused
        }
        defer { unsafe EVP_PKEY_free(key) }
        if !publicHalf.isEmpty {
            var derived = [UInt8](repeating: 0, count: 32)
            var length = derived.count
            guard unsafe EVP_PKEY_get_raw_public_key(key, &derived, &length) == 1, derived == publicHalf
            else {
                throw .otherPublicKey
            }
        }
        guard let context = unsafe EVP_MD_CTX_new() else { throw .refused }
        defer { unsafe EVP_MD_CTX_free(context) }
        // Ed25519 has its own digest within.
        let digest = unsafe kind == .hmac ? EVP_sha256() : nil
        var signature = [UInt8](repeating: 0, count: 64)
        var length = signature.count
        guard unsafe EVP_DigestSignInit(context, nil, digest, nil, key) == 1,
            unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw .refused }
        return Array(signature.prefix(length))
    }
}

extension SigningKey {
    /// Why a secret does not sign; never says what it holds.
    enum Problem: Error {
        case missing
        case notText
        case notBase64
        case publicKey
        case secretLength(Int)
        case privateKeyLength(Int)
        case otherPublicKey
        case refused

        var text: String {
            switch self {
            case .missing: "it could not be read"
            case .notText: "it is not text; write whsec_ or whsk_ and the key in base64"
            case .notBase64: "what follows its prefix is not base64; copy the secret as it was given out"
            case .publicKey: "whpk_ is the receiver's public key; the private one begins with whsk_"
            case .secretLength(let count):
                "a whsec_ secret has 24 to 64 bytes and this one has \(count); give out a new one"
            case .privateKeyLength(let count):
                "a whsk_ key has 32 or 64 bytes and this one has \(count); copy it as it was given out"
            case .otherPublicKey: "the second half of the whsk_ key is not the public key of the first"
            case .refused: "OpenSSL refused the key"
            }
        }
    }
}
