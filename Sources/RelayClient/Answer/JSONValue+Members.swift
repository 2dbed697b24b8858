import RelayJSON

extension JSONValue {
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var int: Int64? { if case .number(let number) = self { number.int64 } else { nil } }
    var double: Double? { if case .number(let number) = self { number.double } else { nil } }
    var array: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
    var moment: WallTime? { string.flatMap(WallTime.init) }

    /// A span that is written in milliseconds; nil when there is none, clamped to what 64 bits of nanoseconds hold.
    var span: Duration? {
        double.map { .nanoseconds(Int64(min(max(0, $0), 9e12) * 1_000_000)) }
    }
}
