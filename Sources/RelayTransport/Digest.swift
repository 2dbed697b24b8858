internal import COpenSSL
import RelayBase

/// Digests by OpenSSL.
package enum Digest {
    /// SHA-256 in lower-case hexadecimal.
    package static func sha256(_ bytes: [UInt8]) -> String {
        hexadecimal(hash(bytes))
    }

    /// SHA-256, 32 bytes.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        unsafe bytes.withUnsafeBytes { unsafe sha256($0) }
    }

    /// SHA-256, 32 bytes.
    static func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe relay_sha256(bytes.baseAddress, bytes.count, &digest)
        return digest
    }
}
