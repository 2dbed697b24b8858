internal import COpenSSL

/// Digests by OpenSSL.
package enum Digest {
    /// SHA-256 in lower-case hexadecimal.
    package static func sha256(_ bytes: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe bytes.withUnsafeBufferPointer { input in
            _ = unsafe SHA256(input.baseAddress, input.count, &digest)
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self
        )
    }
}
