import RelayBase

/// A field that callers write for the relay; what each may say stands in one table.
enum RelayField: UInt16, CaseIterable {
    case timeout
    case attemptTimeout
    case maxAttempts
    case fallback
    case delay
    case notBefore
    case expiresAfter
    case orderingKey
    case supersedeKey
    case label

    /// The one that stands there; nil when the name is none of them.
    init?(_ entry: HeaderFields.Entry, of fields: HeaderFields) {
        for field in RelayField.allCases where fields.matches(entry, field.name) {
            self = field
            return
        }
        return nil
    }

    /// In lower case, as problems name it.
    var lowercasedName: String { name.description.lowercased() }

    /// Whether only a job that is kept can do what it asks for.
    var isForKeeping: Bool {
        switch self {
        case .delay, .notBefore, .expiresAfter, .orderingKey, .supersedeKey: true
        case .timeout, .attemptTimeout, .maxAttempts, .fallback, .label: false
        }
    }

    /// Whether it may stand more than once.
    var repeats: Bool { self == .label }

    /// Several of them, as bits.
    struct Set {
        private var bits: UInt16 = 0

        /// - Returns: whether it was not there before.
        mutating func insert(_ field: RelayField) -> Bool {
            let bit: UInt16 = 1 << field.rawValue
            defer { bits |= bit }
            return bits & bit == 0
        }
    }
}
