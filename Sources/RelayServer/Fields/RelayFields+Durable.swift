import RelayBase
import RelayEngine
import RelayInterface
import RelayJobs

// The fields that only mean something for a job that is kept.
extension RequestTerms {
    /// The attempts a caller may allow.
    static let attempts = 1...100
    /// 0 first, 7 last.
    static let urgencies = 0...7
    /// Labels of one job.
    static let mostLabels = 16
    /// The longest of all durations.
    static let longest: Duration = .seconds(365 * 86_400)

    mutating func due(
        _ field: RelayField,
        _ entry: HeaderFields.Entry,
        _ fields: HeaderFields
    ) throws(Problem) {
        guard case .now = durable.due else {
            throw Problem(.badHeader, "waystation-delay and waystation-not-before exclude each other")
        }
        if field == .delay {
            durable.due = .after(try bounded(field, entry, fields, from: .zero))
            return
        }
        guard let date = UTCTime.milliseconds(parsing: fields.valueText(entry)), date >= 0 else {
            throw Problem(
                .badHeader,
                "\(field.lowercasedName) must be a date and time of RFC 3339, such as 2027-01-31T08:00:00Z"
            )
        }
        durable.due = .date(date)
    }

    func bounded(
        _ field: RelayField,
        _ entry: HeaderFields.Entry,
        _ fields: HeaderFields,
        from least: Duration
    ) throws(Problem) -> Duration {
        guard let duration = fields.withValue(entry, { DurationText.parse($0) }), duration >= least,
            duration <= RequestTerms.longest
        else {
            let bounds = least > .zero ? "from \(DurationText.text(least)) to 365d" : "of at most 365d"
            throw Problem(
                .badHeader,
                "\(field.lowercasedName) must be a duration with a unit, such as 90s or 2h, \(bounds)"
            )
        }
        return duration
    }

    func key(_ field: RelayField, _ value: String) throws(Problem) -> String {
        guard (1...256).contains(value.utf8.count) else {
            throw Problem(.badHeader, "\(field.lowercasedName) must have 1 to 256 bytes")
        }
        return value
    }
}

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
                RequestTerms.urgencies.contains(Int(urgency))
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
