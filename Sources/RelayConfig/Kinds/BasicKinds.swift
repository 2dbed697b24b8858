import RelayBase
import RelayJSON

extension ValueKind where Value == Bool {
    static var boolean: ValueKind {
        ValueKind(.boolean) { node, _, reading in
            guard case .bool(let value) = node.content else {
                reading.refuse(node, expected: .boolean)
                return nil
            }
            return value
        }.writing { .bool($0) }
    }
}

extension ValueKind where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> ValueKind {
        ValueKind(.integer(range)) { node, _, reading in
            guard case .number(let number) = node.content, let value = number.int64,
                let value = Int(exactly: value),
                range.contains(value)
            else {
                reading.refuse(node, expected: .integer(range))
                return nil
            }
            return value
        }.writing { .number(JSONNumber($0)) }
    }

    /// A number of bytes, written with a unit.
    static func size(_ range: ClosedRange<Int>) -> ValueKind {
        amount(
            "size",
            range,
            such: "such as \"16MiB\"",
            pattern: "^[0-9]+(B|KiB|MiB|GiB)$",
            units: "the units are B, KiB, MiB and GiB",
            SizeText.parse,
            SizeText.text
        ) { $0 >= 1024 ? SizeText.text(Int($0)) : "\($0)B\" or \"\($0)MiB" }
    }
}

extension ValueKind where Value == Duration {
    /// A time, written with units.
    static func duration(_ range: ClosedRange<Duration>) -> ValueKind {
        amount(
            "duration",
            range,
            such: "such as \"250ms\" or \"1h30m\"",
            pattern: "^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$",
            units: "whole numbers with d, h, m, s and ms, in this order",
            DurationText.parse,
            DurationText.text
        ) { "\($0)s\" or \"\($0)ms" }
    }
}

extension ValueKind where Value: Comparable {
    /// A text of numbers and units; who leaves the units out is told, with `meant` in quotes.
    fileprivate static func amount(
        _ name: String,
        _ range: ClosedRange<Value>,
        such examples: String,
        pattern: String,
        units: String,
        _ parse: @escaping (String) -> Value?,
        _ write: @escaping (Value) -> String,
        meant: @escaping (Int64) -> String
    ) -> ValueKind {
        let what = "a \(name) from \(write(range.lowerBound)) to \(write(range.upperBound)), \(examples)"
        return ValueKind(.text(TextShape(what, pattern: pattern))) { node, _, reading in
            if case .number(let number) = node.content {
                let hint = number.int64.map { "write \"\(meant($0))\"" }
                reading.error("a \(name) needs a unit", at: node.range, hint: hint)
                return nil
            }
            let value = node.text.flatMap(parse)
            if let value, range.contains(value) { return value }
            reading.error("expected \(what)", at: node.range, hint: value == nil ? units : nil)
            return nil
        }.writing { .string(write($0)) }
    }
}

extension ValueKind where Value == Double {
    static func number(_ range: ClosedRange<Double>) -> ValueKind {
        ValueKind(.number(range)) { node, _, reading in
            guard case .number(let number) = node.content, let value = number.double, range.contains(value)
            else {
                reading.refuse(node, expected: .number(range))
                return nil
            }
            return value
        }.writing { .number(JSONNumber(text: "\($0)")) }
    }
}

extension ValueKind where Value == String {
    /// Any text up to a length in bytes, without controls; line breaks and tabs only where `isBody`.
    static func string(upTo limit: Int = 1024, isBody: Bool = false, mayBeEmpty: Bool = true) -> ValueKind {
        .text("a string", pattern: mayBeEmpty ? nil : ".") { text throws(Refusal) in
            guard mayBeEmpty || !text.isEmpty else { throw Refusal("the text is empty") }
            guard text.utf8.count <= limit else { throw Refusal("longer than \(limit) bytes") }
            let isPlain = text.utf8.allSatisfy { byte in
                byte >= 0x20 && byte != 0x7F || isBody && [0x09, 0x0A, 0x0D].contains(byte)
            }
            guard isPlain else {
                throw Refusal("control characters may not stand here")
            }
            return text
        }.writing { .string($0) }
    }

    /// A name that stands in pointers, logs and paths.
    static var name: ValueKind {
        .text("a name of lower-case letters, digits, \".\", \"_\" and \"-\"", pattern: namePattern) {
            text throws(Refusal) in try checkName(text)
        }
    }

    static let namePattern = "^[a-z0-9][a-z0-9._-]{0,63}$"

    /// - Throws: when `text` does not match `namePattern`.
    static func checkName(_ text: String) throws(Refusal) -> String {
        let bytes = Array(text.utf8)
        let separators: [UInt8] = [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")]
        guard bytes.allSatisfy({ $0.isSmallLetter || $0.isDigit || separators.contains($0) }),
            let first = bytes.first, !separators.contains(first)
        else {
            throw Refusal(
                "a name has only lower-case letters, digits, \".\", \"_\" and \"-\", and begins with one of the first two"
            )
        }
        guard bytes.count <= 64 else { throw Refusal("a name has at most 64 characters") }
        return text
    }
}

extension ValueKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of an enumeration's words; `reserved` ones belong to a later version.
    static func word(reserved: [String] = [], meant: [String: String] = [:]) -> ValueKind {
        let words = Value.allCases.map(\.rawValue)
        return ValueKind(.word(words)) { node, _, reading in
            guard let value = node.text.flatMap(Value.init(rawValue:)) else {
                reading.refuse(node, words: words, reserved: reserved, meant: meant)
                return nil
            }
            return value
        }.writing { .string($0.rawValue) }
    }
}

extension UInt8 {
    var isSmallLetter: Bool { self &- UInt8(ascii: "a") < 26 }
}
