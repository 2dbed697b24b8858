import RelayBase
import RelayEngine
import RelayInterface

// The fields of other standards that say how a job is treated.
extension RequestTerms {
    /// Takes up the urgency of a `Priority` field (RFC 9218 §4.1).
    ///
    /// - Throws: for an urgency that is none: who names one is not to get another.
    mutating func priority(_ value: String) throws(Problem) {
        for member in value.split(separator: ",") {
            let parts = member.prefix { $0 != ";" }.split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard parts.count == 2, String(parts[0]).trimmingBlanks == "u" else { continue }
            let text = String(parts[1]).trimmingBlanks
            guard text.utf8.count == 1, let urgency = UInt8(text),
                OptionValue.urgencies.contains(Int(urgency))
            else {
                throw Problem(.badHeader, "the urgency (u) of priority must be a whole number from 0 to 7")
            }
            durable.priority = urgency
        }
    }

    /// Takes up an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header §2.1): a string in quotes; a key
    /// without them is taken as it stands.
    ///
    /// - Throws: `bad_header` when it is repeated, malformed, empty or longer than 256 bytes.
    mutating func idempotencyKey(_ value: String) throws(Problem) {
        guard durable.idempotencyKey == nil else {
            throw Problem(.badHeader, "Idempotency-Key may stand once, and stands twice")
        }
        guard let key = RequestTerms.unquoted(Array(value.trimmingBlanks.utf8)), (1...256).contains(key.count)
        else {
            throw Problem(
                .badHeader,
                "Idempotency-Key must be a string in quotes of 1 to 256 visible characters"
            )
        }
        durable.idempotencyKey = String(decoding: key, as: UTF8.self)
    }

    /// The content of a string of RFC 9651 §3.3.3, or a bare key.
    private static func unquoted(_ bytes: [UInt8]) -> [UInt8]? {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        guard bytes.first == quote else {
            let isBare = bytes.allSatisfy {
                (0x21...0x7E).contains($0) && $0 != quote && $0 != backslash && $0 != UInt8(ascii: ",")
                    && $0 != UInt8(ascii: ";")
            }
            return isBare ? bytes : nil
        }
        guard bytes.count >= 2, bytes.last == quote else { return nil }
        var key: [UInt8] = []
        var isEscaped = false
        for byte in bytes[1..<(bytes.count - 1)] {
            if isEscaped {
                guard byte == quote || byte == backslash else { return nil }
                isEscaped = false
            } else if byte == backslash {
                isEscaped = true
                continue
            } else if byte == quote || !(0x20...0x7E).contains(byte) {
                return nil
            }
            key.append(byte)
        }
        return isEscaped ? nil : key
    }
}
